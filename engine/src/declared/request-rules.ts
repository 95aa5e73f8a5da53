// Checks of a request that need no access to its mount. They are the engine's own rules, applied with a role that allows everything and
// with time 0. The mount alone knows its roles and the current time.
import { hourMs } from "../core/time.ts"
import { csrFacts } from "../pki/issuance/csr.ts"
import { type IssueRequestInput, readSigningRequest } from "../pki/issuance/issue-request.ts"
import type { SignIntermediateInput, SignVerbatimInput } from "../pki/issuance/certificate-api.ts"
import type { RootInput } from "../pki/issuers/issuer-api.ts"
import { readKeyRequest } from "../pki/keys/key-request.ts"
import { approve } from "../pki/policy/approve.ts"
import { approveAuthority } from "../pki/policy/approve-authority.ts"
import { approveVerbatim } from "../pki/policy/approve-verbatim.ts"
import { type Role, roleDefaults } from "../pki/roles/role.ts"

const anything: Role = {
  ...roleDefaults,
  notBeforeBound: "permit",
  notAfterBound: "permit",
  allowAnyName: true,
  enforceHostnames: false,
  allowedUriSans: ["*"],
  allowedOtherSans: ["*"],
  allowedSerialNumbers: ["*"],
  allowedUserIds: ["*"],
  requireCn: false,
  cnValidations: ["disabled"],
  keyType: "any",
  keyBits: 0,
}

const terms = {
  mountTtls: { defaultMs: hourMs, maximumMs: Number.MAX_SAFE_INTEGER },
  issuer: undefined,
  paths: undefined,
  now: 0,
} as const

/** Drops `notBefore` without `notAfter`: the end is then counted from the current time, which is unknown here. */
const timeless = <Input extends { readonly notBefore?: number | null; readonly notAfter?: number | null }>(
  input: Input,
): Input => ((input.notAfter ?? null) === null ? { ...input, notBefore: null } : input)

/** Throws `invalid`, as all functions of this file do. */
export function judgeIssue(input: IssueRequestInput): void {
  // The role decides the type unless one is declared, and the size depends on the type.
  const key = input.keyType === undefined ? { keyType: "rsa", keyBits: 0 } : {}
  const isNameless = [
    input.commonName,
    input.altNames,
    input.ipSans,
    input.uriSans,
    input.otherSans,
    input.userIds,
  ].every((names) => (names ?? "").length === 0)
  // The role decides whether names are missing, and may add some.
  approve({ ...timeless(input), ...key, ...(isNameless ? { commonName: "x" } : {}) }, undefined, {
    ...terms,
    role: anything,
    identity: undefined,
  })
}

/** Checks a request to sign a CSR. `csr` is undefined while unknown. */
export function judgeSign(input: IssueRequestInput, csr: string | undefined): void {
  judgeIssue({ ...input, keyType: "rsa" })
  if (csr !== undefined) readFacts(csr)
}

export function judgeVerbatim(
  { csr, ...input }: Partial<SignVerbatimInput>,
  { hasRole }: { readonly hasRole: boolean },
): void {
  if (csr === undefined) return
  const { request, key } = readSigningRequest(csr)
  approveVerbatim(timeless(input), request, {
    ...terms,
    role: hasRole ? anything : undefined,
    keyType: key.algorithm.type,
    enforceLeafNotAfterBehavior: false,
  })
}

export function judgeIntermediate({ csr, ...input }: Partial<SignIntermediateInput>, isNameKnown: boolean): void {
  const read = csr === undefined ? undefined : readSigningRequest(csr)
  approveAuthority(
    { ...timeless(input), ...(isNameKnown ? {} : { commonName: "x" }) },
    read?.request,
    authorityTerms(input.useCsrValues === true || !isNameKnown),
  )
}

/** Checks an issuer that is generated in the mount, and its key. Returns its subject as DER. */
export const judgeAuthority = (input: RootInput, mayBeNameless: boolean): Uint8Array =>
  approveAuthority(timeless(input), undefined, {
    ...authorityTerms(mayBeNameless),
    violations: readKeyRequest(input).violations,
  }).subjectDer

const authorityTerms = (mayBeNameless: boolean) =>
  ({
    ...terms,
    keyType: "rsa",
    enforceLeafNotAfterBehavior: false,
    mayBeNameless,
  }) as const

function readFacts(csr: string): void {
  const { request, key } = readSigningRequest(csr)
  csrFacts(request, key.algorithm)
}
