// Signs certificates that a policy approved. Every way to request a certificate ends here.
import { newUuid } from "../../core/ids.ts"
import { newSerialNumber } from "../../x509/serial-number.ts"
import type { SignatureChoice } from "../../x509/signature-algorithm.ts"
import { issuerOf, type MountSnapshot } from "../mounts/mount-snapshot.ts"
import { type ApprovedContent, certify } from "./certify.ts"
import type { IssuanceResult } from "./issuance.ts"
import { certificationPaths } from "../issuers/chain.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"
import { type IssuerSigner, signerOf } from "../issuers/issuer-signer.ts"
import { leaseTtls } from "../mounts/mount.ts"
import type { MountAccess, PkiRepositories } from "../pki-context.ts"
import { auditedSigner } from "../mounts/with-mount-snapshot.ts"

/**
 * Returns the signer of an issuer. Throws `EngineError("not-found")` if there is no such issuer, `EngineError("unprocessable")` if
 * it must not issue.
 */
export function issuerSigner<Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  snapshot: MountSnapshot,
  reference: string,
): Promise<IssuerSigner> {
  return signerOf(access.context.signingKeys, snapshot, issuerOf(snapshot, reference), "issuing-certificates")
}

/** Returns the requirements of the issuer, its chain and the mount for every certificate. */
export function issuerTerms<Repositories extends PkiRepositories>(
  { context }: MountAccess<Repositories>,
  { mount, issuers }: MountSnapshot,
  { issuer }: { readonly issuer: ParsedIssuer },
) {
  const { leafNotAfterBehavior } = issuer.settings
  return {
    mountTtls: leaseTtls(mount.config),
    issuer: { notBefore: issuer.parsed.notBefore, notAfter: issuer.parsed.notAfter, leafNotAfterBehavior },
    paths: certificationPaths(issuer, issuers),
    now: context.runtime.clock.now(),
  }
}

export async function certifyApproved<Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  { mount }: MountSnapshot,
  signer: IssuerSigner,
  content: ApprovedContent,
  choice: SignatureChoice,
  facts: Pick<IssuanceResult, "commonName" | "names" | "role" | "metadata" | "warnings"> & {
    readonly leasePath: string
  },
): Promise<IssuanceResult> {
  const { caller, context } = access
  const { random, clock } = context.runtime
  const serialNumber = newSerialNumber(random)
  const certificate = await certify(content, serialNumber, auditedSigner(access, signer, serialNumber), choice)
  const { notBefore, notAfter } = content
  const { leasePath, ...rest } = facts
  const leaseId = `${mount.path}/${leasePath}/${newUuid(random)}`
  const validity = { notBefore, notAfter }
  const tokenId = caller.kind === "anonymous" ? null : (caller.tokenId ?? null)
  return { mount, signer, serialNumber, certificate, validity, leaseId, tokenId, now: clock.now(), ...rest }
}
