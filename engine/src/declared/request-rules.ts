// What can be judged of a request without the mount that it goes to: the rules of the engine itself, for a role that allows
// whatever can be said, at the beginning of time. Only the mount knows what its roles allow, and when now is.
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

/** A beginning is judged by its end, and without one that is counted from now. */
const timeless = <Input extends { readonly notBefore?: number | null; readonly notAfter?: number | null }>(
  input: Input,
): Input => ((input.notAfter ?? null) === null ? { ...input, notBefore: null } : input)

/** Throws `invalid`, like all of these. */
export function judgeIssue(input: IssueRequestInput): void {
  // Where it names no type, the role has one, and a size is for that.
  const key = input.keyType === undefined ? { keyType: "rsa", keyBits: 0 } : {}
  const isNameless = [
    input.commonName,
    input.altNames,
    input.ipSans,
    input.uriSans,
    input.otherSans,
    input.userIds,
  ].every((names) => (names ?? "").length === 0)
  // Whether names are missing is the role's to say, which may add some.
  approve({ ...timeless(input), ...key, ...(isNameless ? { commonName: "x" } : {}) }, undefined, {
    ...terms,
    role: anything,
    identity: undefined,
  })
}

/** Undefined: not known yet. */
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

/** Of an authority that is made in the mount, and of its key. The answer is its subject, DER. */
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
