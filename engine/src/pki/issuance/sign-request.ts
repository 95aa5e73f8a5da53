// Signs a CSR by a role, or as it is. These functions check no permission: the service of each protocol has its own paths.
import { invalid, unprocessable } from "../../core/errors.ts"
import { identityOf } from "../../access/service-tokens/caller-identity.ts"
import { type PublicKey, rsaExponentOf } from "../../x509/public-key.ts"
import type { SignatureChoice } from "../../x509/signature-algorithm.ts"
import type { IssuerSigner } from "../issuers/issuer-signer.ts"
import { assertRsaExponent, type PresentedKey, presentedKey } from "../keys/key-check.ts"
import type { MountSnapshot } from "../mounts/mount-snapshot.ts"
import { recordIssued } from "../mounts/with-mount-snapshot.ts"
import type { MountAccess, PkiRepositories } from "../pki-context.ts"
import { approve } from "../policy/approve.ts"
import { approveVerbatim } from "../policy/approve-verbatim.ts"
import { leafContent, wholeContent } from "../policy/content.ts"
import type { Role } from "../roles/role.ts"
import type { IssueInput, IssueOptions, IssuerChoice, ServedCertificate, SignVerbatimInput } from "./certificate-api.ts"
import { certifyApproved, issuerSigner, issuerTerms } from "./certify-approved.ts"
import { csrFacts } from "./csr.ts"
import { issuanceOf, issuedCertificate } from "./issuance.ts"
import type { SigningRequest } from "./issue-request.ts"
import { namesOf } from "./leaf.ts"

/** Options of a protocol that signs requests. */
export interface SignOptions<Repositories extends PkiRepositories> {
  /** Runs in the transaction that records the certificate. */
  readonly settle?: (repositories: Repositories, issued: ServedCertificate) => Promise<void>
  /** The server has generated the key, so that it needs no checks. */
  readonly isKeyOwn?: boolean
}

/** Issues a certificate for the key of a request, with the contents that a role decides. */
export function signByRole<Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  roleName: string,
  { request, key }: SigningRequest,
  input: IssueInput & IssueOptions & Partial<Record<keyof IssuerChoice, string | undefined>>,
  { settle, isKeyOwn = false }: SignOptions<Repositories> = {},
): Promise<ServedCertificate> {
  const csr = { ...csrFacts(request, key.algorithm), rsaExponent: rsaExponentOf(key) }
  return recordIssued(access, async (snapshot) => {
    const role = roleOf(snapshot, roleName)
    if (role.requireCn && (input.commonName ?? "") === "" && !input.isCommonNameOptional)
      throw invalid([{ field: ["commonName"], detail: "the common_name field is required" }])
    const signer = await issuerSigner(access, snapshot, input.issuerRef ?? role.issuerRef)
    const approved = approve(input, csr, await roleTerms(access, snapshot, role, signer))
    const outcome = await certifyApproved(access, snapshot, signer, leafContent(approved, key), role, {
      ...namesOf(approved),
      role: { ...role, name: roleName },
      metadata: input.certMetadata ?? "",
      leasePath: `sign/${roleName}`,
      warnings: approved.warnings,
    })
    const value = issuedCertificate(outcome, input)
    return {
      issuance: issuanceOf(outcome),
      value,
      presented: isKeyOwn ? undefined : inCsr(key),
      settle: settle && ((repositories) => settle(repositories, value)),
    }
  })
}

/** Issues a certificate with the names and extensions of a request. A role supplies defaults only. */
export function signVerbatim<Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  roleName: string | undefined,
  { request, key }: SigningRequest,
  input: Omit<SignVerbatimInput, "csr"> & Partial<Record<keyof IssuerChoice, string | undefined>>,
  { settle, isKeyOwn = false }: SignOptions<Repositories> = {},
): Promise<ServedCertificate> {
  const { enforceLeafNotAfterBehavior = false, certMetadata = "", issuerRef } = input
  return recordIssued(access, async (snapshot) => {
    const role = roleName === undefined ? undefined : roleOf(snapshot, roleName)
    assertRsaExponent(inCsr(key), role?.allowedRsaExponents)
    const signer = await issuerSigner(access, snapshot, issuerRef ?? role?.issuerRef ?? "default")
    const approved = approveVerbatim(input, request, {
      ...issuerTerms(access, snapshot, signer),
      role,
      keyType: key.algorithm.type,
      enforceLeafNotAfterBehavior,
    })
    const outcome = await certifyApproved(access, snapshot, signer, wholeContent(approved, key), choiceOf(input), {
      ...namesOf(approved),
      role: role && roleName !== undefined ? { ...role, name: roleName } : undefined,
      metadata: certMetadata,
      leasePath: roleName === undefined ? "sign-verbatim" : `sign-verbatim/${roleName}`,
      warnings: approved.warnings,
    })
    const value = issuedCertificate(outcome, input)
    return {
      issuance: issuanceOf(outcome),
      value,
      presented: isKeyOwn ? undefined : inCsr(key),
      settle: settle && ((repositories) => settle(repositories, value)),
    }
  })
}

/** Returns the terms of a role. The caller's identity is read only if the role has templates. */
export async function roleTerms<Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  snapshot: MountSnapshot,
  role: Role,
  signer: IssuerSigner,
) {
  const hasTemplates = role.allowedDomainsTemplate || role.allowedUriSansTemplate
  const identity = hasTemplates ? await identityOf(access.caller, access.context.storage) : undefined
  return { role, identity, ...issuerTerms(access, snapshot, signer) }
}

export function roleOf({ roles }: MountSnapshot, name: string): Role {
  const role = roles.get(name)
  if (role === undefined) throw unprocessable(`unknown role: ${name}`)
  return role
}

export const inCsr = (key: PublicKey): PresentedKey => presentedKey(key, "csr")

export const choiceOf = ({ signatureBits = 0, usePss = false }: Partial<SignatureChoice>): SignatureChoice => ({
  signatureBits,
  usePss,
})
