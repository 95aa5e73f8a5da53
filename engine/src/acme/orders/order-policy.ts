// Policy of orders: checks the requested names by the role's rules, and approves the certificate of a finalized order. Names come from
// the proved identifiers; only the key comes from the CSR (docs/compatibility.md, "ACME clients").
import { memoizeByIdentity } from "../../core/memoize-by-identity.ts"
import { type EngineError, isEngineError } from "../../core/errors.ts"
import { oids } from "../../x509/asn1/oids.ts"
import type { CertificationRequest } from "../../x509/certification-request.ts"
import type { GeneralName } from "../../x509/general-name.ts"
import type { DistinguishedName } from "../../x509/name.ts"
import type { KeyAlgorithm } from "../../x509/key-algorithm.ts"
import { type PublicKey, rsaExponentOf } from "../../x509/public-key.ts"
import { formatIpAddress } from "../../pki/names/ip-address.ts"
import { subjectMaxima, valuesOf } from "../../pki/names/subject.ts"
import type { MountSnapshot } from "../../pki/mounts/mount-snapshot.ts"
import type { CertificationPaths } from "../../pki/issuers/chain.ts"
import type { CsrFacts } from "../../pki/issuance/issue-request.ts"
import { approve, type ApprovedRequest } from "../../pki/policy/approve.ts"
import { issuerField } from "../../pki/policy/path-validation.ts"
import type { Role } from "../../pki/roles/role.ts"
import type { AcmeSettings } from "../../pki/mounts/acme-settings.ts"
import { type Identifier, isWildcard } from "./identifier.ts"
import {
  type RequestedValidity,
  issuerBoundFor,
  isValidityFault,
  orderValidityRules,
  type OrderValidityTerms,
  rejectOtherValidity,
} from "./order.ts"
import { AcmeProblem, type Subproblem } from "../problem.ts"

export interface OrderTerms extends OrderValidityTerms {
  readonly paths: CertificationPaths
  readonly settings: Pick<AcmeSettings, "maxTtlMs" | "allowRoleExtKeyUsage">
}

export interface RequestedOrder extends RequestedValidity {
  readonly identifiers: readonly Identifier[]
}

/**
 * Checks an order before anything is proved. Throws `rejectedIdentifier` with a subproblem for each name, and `malformed` for requested
 * instants. Throws `serverInternal` if the issuer or its chain cannot issue.
 */
export function rejectUnissuable(requested: RequestedOrder, terms: OrderTerms): void {
  const key = suitableKey(terms.role)
  const refusal = refusalOf(() => approveNames(requested, key, terms))
  if (refusal !== undefined) throw problemOf(refusal, requested, terms, key)
}

function problemOf(refusal: EngineError, requested: RequestedOrder, terms: OrderTerms, key: KeyAlgorithm): AcmeProblem {
  const ofIssuer = refusal.faults.filter(({ field }) => field?.[0] === issuerField)
  if (ofIssuer.length > 0) return new AcmeProblem("serverInternal", ofIssuer.map(({ detail }) => detail).join("; "))
  const subproblems = requested.identifiers.flatMap((identifier): Subproblem[] => {
    const ofIt = refusalOf(() => approveNames({ ...requested, identifiers: [identifier] }, key, terms))
    const details = (ofIt?.faults ?? []).filter((fault) => !isValidityFault(fault)).map((fault) => fault.detail)
    return details.length === 0
      ? []
      : [{ type: "rejectedIdentifier", detail: details.join("; "), identifier: { ...identifier } }]
  })
  const [first] = subproblems
  if (first === undefined) return validityProblem(refusal, requested) ?? new AcmeProblem("malformed", refusal.message)
  return new AcmeProblem(
    "rejectedIdentifier",
    subproblems.length === 1
      ? first.detail
      : `${subproblems.length} of the identifiers are rejected; see "subproblems".`,
    { subproblems },
  )
}

/** Returns the problem if only instants are rejected; undefined otherwise. */
function validityProblem({ faults, message }: EngineError, { notBefore, notAfter }: RequestedValidity) {
  if (!faults.every(isValidityFault)) return undefined
  return new AcmeProblem(notBefore === null && notAfter === null ? "serverInternal" : "malformed", message)
}

/** Approval of a CSR. It is valid only for the same snapshot of the mount. */
export interface Approval {
  readonly under: MountSnapshot
  readonly approved: ApprovedRequest
}

/** Approves a CSR whose signature is verified. Throws `badCSR`, or the problems of `rejectUnissuable` if no CSR could be signed. */
export function approveCsr(
  requested: RequestedOrder,
  { parsed: request, key }: { readonly parsed: CertificationRequest; readonly key: PublicKey },
  terms: OrderTerms,
): ApprovedRequest {
  rejectOtherCsr(requested.identifiers, request)
  const [commonName = ""] = valuesOf(request.subjectName, oids.commonName)
  try {
    const name = commonName.toLowerCase()
    return approveNames({ ...requested, commonName: name }, key.algorithm, terms, rsaExponentOf(key))
  } catch (error) {
    if (!isEngineError(error, "invalid")) throw error
    const ofInstants = validityProblem(error, requested)
    if (ofInstants !== undefined) throw ofInstants
    const { problem } = problemOf(error, requested, terms, suitableKey(terms.role))
    // A fault of neither a name nor the issuer is one of the CSR.
    throw new AcmeProblem(
      problem.type === "malformed" ? "badCSR" : problem.type,
      problem.type === "malformed" ? error.message : problem.detail,
      problem.subproblems === undefined ? {} : { subproblems: problem.subproblems },
    )
  }
}

/** Throws `badCSR` if the CSR is for a CA, or its names differ from the order's. */
export function rejectOtherCsr(
  identifiers: readonly Identifier[],
  { subjectName, extensionValues }: CertificationRequest,
): void {
  const { subjectAltName = [], basicConstraints } = extensionValues
  const problem =
    basicConstraints?.isCa === true
      ? "requests a CA certificate"
      : namesProblem(identifiers, { subject: subjectName, subjectAltName })
  if (problem !== undefined) throw new AcmeProblem("badCSR", `The CSR ${problem}.`)
}

function approveNames(
  { identifiers, commonName = "", ...requested }: RequestedOrder & { readonly commonName?: string },
  key: KeyAlgorithm,
  terms: OrderTerms,
  rsaExponent?: bigint,
): ApprovedRequest {
  const { role, settings, mountTtls, paths, now } = terms
  const { notBefore, notAfter } = requested
  const values = (type: Identifier["type"]) => identifiers.filter((one) => one.type === type).map(({ value }) => value)
  const name = commonName || (role.requireCn ? commonNameFor(identifiers) : "")
  const request = { commonName: name, altNames: values("dns"), ipSans: values("ip"), notBefore, notAfter }
  const by = settings.allowRoleExtKeyUsage ? roleForAcme(role) : roleForServers(role)
  const approved = approve(
    request,
    { ...keyAlone(key), rsaExponent },
    {
      role: by,
      rules: orderValidityRules(requested, terms),
      identity: undefined,
      issuer: issuerBoundFor(requested, terms),
      mountTtls,
      paths,
      now,
    },
  )
  rejectOtherValidity(requested, approved.validity)
  return approved
}

/** Selects a common name, which RFC 8555 leaves to the CA: a wildcard before other names, and never an address. */
function commonNameFor(identifiers: readonly Identifier[]): string {
  const names = identifiers.filter(({ type, value }) => type === "dns" && value.length <= subjectMaxima.commonName)
  return (names.find(isWildcard) ?? names[0])?.value ?? ""
}

const roleForAcme = memoizeByIdentity((role: Role): Role => ({
  ...role,
  // Names come from the order alone.
  useCsrCommonName: false,
  useCsrSans: false,
  requireCn: false,
  cnValidations: ["hostname"],
  generateLease: false,
}))

const roleForServers = memoizeByIdentity((role: Role): Role => ({
  ...roleForAcme(role),
  serverFlag: true,
  clientFlag: false,
  codeSigningFlag: false,
  emailProtectionFlag: false,
  extKeyUsage: [],
  extKeyUsageOids: [],
}))

const keyAlone = (key: KeyAlgorithm): CsrFacts => ({
  subject: [],
  dnsNames: [],
  emails: [],
  ips: [],
  uris: [],
  otherNames: [],
  otherKinds: [],
  hasBasicConstraints: false,
  key,
})

/** Returns a key that the role allows, for checks before there is a CSR. */
function suitableKey({ keyType, keyBits }: Role): KeyAlgorithm {
  switch (keyType) {
    case "rsa":
      return { type: "rsa", bits: Math.max(2_048, keyBits) }
    case "ed25519":
      return { type: "ed25519" }
    default:
      return { type: "ec", bits: keyBits === 384 || keyBits === 521 ? keyBits : 256 }
  }
}

interface Names {
  readonly subject: DistinguishedName
  readonly subjectAltName: readonly GeneralName[]
}

/**
 * Returns the problem with the names of a CSR or certificate, as the predicate of a sentence, or undefined. The names must be exactly
 * those of the order, in the common name or the subject alternative names (RFC 8555, section 7.4).
 */
export function namesProblem(
  identifiers: readonly Identifier[],
  { subject, subjectAltName }: Names,
): string | undefined {
  const odd = subjectAltName.find(({ kind }) => kind !== "dns" && kind !== "ip")
  if (odd !== undefined)
    return `contains a subject alternative name of the type ${odd.kind}; orders contain only DNS names and IP addresses`
  const named = subjectAltName.flatMap((name): Identifier[] => {
    if (name.kind === "dns") return [{ type: "dns", value: name.value.toLowerCase() }]
    return name.kind === "ip" ? [{ type: "ip", value: formatIpAddress(name.octets) }] : []
  })
  const [commonName = "", ...others] = valuesOf(subject, oids.commonName).map((name) => name.toLowerCase())
  if (others.length > 0) return "contains more than one common name"
  const ofCommonName = identifiers.find(({ value }) => value === commonName)
  if (commonName !== "" && ofCommonName === undefined)
    return `has the common name ${JSON.stringify(commonName)}, which is not an identifier of the order`
  const has = new Set([...named, ...(ofCommonName === undefined ? [] : [ofCommonName])].map(textOf))
  const missing = identifiers.find((one) => !has.has(textOf(one)))
  if (missing !== undefined) return `lacks the order's identifier ${JSON.stringify(missing.value)}`
  const wants = new Set(identifiers.map(textOf))
  const other = named.find((one) => !wants.has(textOf(one)))
  return other && `has the name ${JSON.stringify(other.value)}, which is not an identifier of the order`
}

const textOf = ({ type, value }: Identifier): string => `${type}:${value}`

function refusalOf(work: () => unknown): EngineError | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (isEngineError(error, "invalid")) return error
    throw error
  }
}
