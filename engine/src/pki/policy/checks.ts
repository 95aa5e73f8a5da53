// Rules of a role, one named check each. `issueChecks` and `signChecks` are the policy, in order. Each check returns all its
// violations, so that the client gets them at once. One violation denies the request: no name is dropped silently.
import { memoizeByIdentity } from "../../core/memoize-by-identity.ts"
import { textProblem } from "../../core/text.ts"
import { isPrintableText } from "../../x509/asn1/printable.ts"
import { describeKeyAlgorithm, keyAlgorithm, type KeyAlgorithm } from "../../x509/key-algorithm.ts"
import { anyGlob, toDnsName } from "../names/host-names.ts"
import { toMailbox } from "../names/email.ts"
import { fillTemplate, type Identity, isTemplate } from "../names/identity-template.ts"
import { type IpRange, isInRange, isIpAddress, parseIpAddress, parseIpRange } from "../names/ip-address.ts"
import { formatOtherName, type OtherName, parseOtherName } from "../names/other-name.ts"
import { subjectMaxima, subjectOf, subjectTextProblem } from "../names/subject.ts"
import { isUri } from "../names/uri.ts"
import { anyUserId } from "../names/user-id.ts"
import type { CsrFacts, IssueRequest, Requested } from "../issuance/issue-request.ts"
import type { Role } from "../roles/role.ts"
import { nameOfCommonName, tooManyNames } from "./alternative-names.ts"
import { isKeyType, keyBitsProblem, minRsaBits, rsaExponentProblem, weakRsaMessage } from "./key-strength.ts"
import type { NamePolicy, NameProblem } from "./name-policy.ts"
import { shown, type Violation, violation } from "./violation.ts"

/** Request that the checks decide on. */
export interface Application {
  readonly role: Role
  /** Identity of the caller, which fills in templates of the role. */
  readonly identity: Identity | undefined
  readonly namePolicy: NamePolicy
  readonly request: IssueRequest
  /** Values that result from request and CSR together. */
  readonly requested: Requested
  readonly csr: CsrFacts | undefined
}

export type Check = (application: Application) => readonly Violation[]

const nameChecks: readonly Check[] = [
  commonNameIsGivenWhenRequired,
  commonNameIsAllowed,
  serialNumberIsAllowed,
  dnsNamesAreAllowed,
  emailAddressesAreAllowed,
  otherNamesAreAllowed,
  ipAddressesAreAllowed,
  urisAreAllowed,
  userIdsAreAllowed,
  subjectOrNameIsGiven,
  metadataIsKept,
]

const issueChecks: readonly Check[] = [...nameChecks, keyCanBeMade]
const signChecks: readonly Check[] = [...nameChecks, keySuitsRole]

/** Returns all violations in the order of the checks. */
export function violationsOf(application: Application): readonly Violation[] {
  const { dnsNames, emails, ips, uris, otherNames, userIds } = application.requested
  const tooMany = tooManyNames([dnsNames, emails, ips, uris, otherNames, userIds])
  if (tooMany.length > 0) return tooMany
  const checks = application.csr === undefined ? issueChecks : signChecks
  return checks.flatMap((check) => check(application))
}

export function commonNameAsName({ role, request, requested }: Application) {
  return request.excludeCnFromSans ? undefined : nameOfCommonName(requested.commonName, role)
}

function commonNameIsGivenWhenRequired({ role, requested }: Application): readonly Violation[] {
  if (!role.requireCn || requested.commonName !== "") return []
  const message =
    'the common_name field is required, or must be provided in a CSR with "use_csr_common_name" set to true, unless "require_cn" is set to false'
  return [violation("commonNameIsGivenWhenRequired", "commonName", "", message)]
}

function commonNameIsAllowed(application: Application): readonly Violation[] {
  const { commonName } = application.requested
  if (commonName === "") return []
  const field = commonName === application.request.commonName ? "commonName" : "csr"
  const problem = subjectTextProblem(commonName, subjectMaxima.commonName)
  if (problem !== undefined) {
    const message = `common name ${shown(commonName)} ${problem}`
    return [violation("commonNameIsAllowed", field, commonName, message)]
  }
  const refusal = commonNameProblem(application)
  if (refusal === undefined) return []
  const message = `common name ${commonName} not allowed by this role: ${refusal.reason}`
  return [violation(refusal.rule, field, commonName, message)]
}

/**
 * Returns the IP addresses to check. A common name that is an address is one of them, unless it is neither checked nor an
 * alternative name.
 */
function addressesOf(application: Application): readonly { readonly ip: string; readonly field: string }[] {
  const { role, request, requested } = application
  const { commonName, ips } = requested
  const isValidated = isIpAddress(commonName) && !(isFree(role) && request.excludeCnFromSans)
  const field = commonName === request.commonName ? "commonName" : "csr"
  return [
    ...(isValidated ? [{ ip: commonName, field }] : []),
    ...ips.map((ip) => ({ ip, field: fieldOf(requested, "ipSans") })),
  ]
}

function commonNameProblem({ role, namePolicy, requested }: Application): NameProblem | undefined {
  if (isFree(role)) return undefined
  const refusal = namePolicy(requested.commonName)
  if (refusal !== undefined) return refusal
  const kind = requested.commonName.includes("@") ? "email" : "hostname"
  return role.cnValidations.includes(kind)
    ? undefined
    : { rule: "commonNameIsAllowed", reason: `"cn_validations" does not list "${kind}"` }
}

const isFree = (role: Role): boolean => role.cnValidations.includes("disabled")

function serialNumberIsAllowed({ role, request, requested }: Application): readonly Violation[] {
  const { serialNumber } = requested
  if (serialNumber === "") return []
  const problem =
    subjectTextProblem(serialNumber, subjectMaxima.serialNumber) ??
    (isPrintableText(serialNumber) ? undefined : "must contain only characters of a PrintableString") ??
    (allowedSerialNumbers(role)(serialNumber) ? undefined : "not allowed by this role")
  const field = serialNumber === request.serialNumber ? "serialNumber" : "csr"
  const message = `serial_number ${shown(serialNumber)} ${problem}`
  return problem === undefined ? [] : [violation("serialNumberIsAllowed", field, serialNumber, message)]
}

const allowedSerialNumbers = memoizeByIdentity(({ allowedSerialNumbers }: Role) => anyGlob(allowedSerialNumbers))

function dnsNamesAreAllowed(application: Application): readonly Violation[] {
  const { role, namePolicy, requested } = application
  return namesOf(application, "dns", requested.dnsNames).flatMap((name) => {
    const isDnsName = toDnsName(name, role) !== undefined
    const refusal =
      namePolicy(name) ?? (isDnsName ? undefined : { rule: "dnsNamesAreAllowed", reason: "it is not a valid DNS name" })
    if (refusal === undefined) return []
    const message = `subject alternate name ${shown(name)} not allowed by this role: ${refusal.reason}`
    return [violation(refusal.rule, fieldOf(requested, "altNames"), name, message)]
  })
}

function emailAddressesAreAllowed(application: Application): readonly Violation[] {
  const { namePolicy, requested } = application
  return namesOf(application, "email", requested.emails).flatMap((name) => {
    const isMailbox = toMailbox(name) !== undefined
    const refusal =
      namePolicy(name) ??
      (isMailbox ? undefined : { rule: "emailAddressesAreAllowed", reason: "it is not a valid e-mail address" })
    if (refusal === undefined) return []
    const message = `email address ${shown(name)} not allowed by this role: ${refusal.reason}`
    return [violation(refusal.rule, fieldOf(requested, "altNames"), name, message)]
  })
}

/**
 * Returns the names of a kind to check. If the role does not check common names, a common name that becomes an alternative name is
 * checked here.
 */
function namesOf(application: Application, kind: "dns" | "email", names: readonly string[]): readonly string[] {
  const ofCommonName = isFree(application.role) ? commonNameAsName(application) : undefined
  const isOfKind = ofCommonName?.kind === kind && "value" in ofCommonName
  return [...new Set([...(isOfKind ? [ofCommonName.value] : []), ...names])]
}

const fieldOf = ({ source }: Requested, field: keyof IssueRequest): string => (source === "CSR" ? "csr" : field)

function otherNamesAreAllowed({ role, requested }: Application): readonly Violation[] {
  const allowed = allowedOtherNames(role)
  return requested.otherNames.flatMap(({ field, oid, value }) => {
    const message = otherNameProblem({ oid, value }, allowed)
    return message === undefined
      ? []
      : [violation("otherNamesAreAllowed", field, formatOtherName({ oid, value }), message)]
  })
}

/** Checks of values by object identifier. */
type AllowedOtherNames = "any" | ReadonlyMap<string, (value: string) => boolean>

const allowedOtherNames = memoizeByIdentity(({ allowedOtherSans }: Role): AllowedOtherNames => {
  if (allowedOtherSans.includes("*")) return "any"
  const allowed = allowedOtherSans.flatMap((entry) => {
    const parsed = parseOtherName(entry)
    return "name" in parsed ? [parsed.name] : []
  })
  const byOid = Map.groupBy(allowed, ({ oid }) => oid)
  return new Map([...byOid].map(([oid, names]) => [oid, anyGlob(names.map(({ value }) => value))]))
})

function otherNameProblem({ oid, value }: OtherName, allowed: AllowedOtherNames): string | undefined {
  const problem = textProblem(value)
  if (problem !== undefined) return `other SAN for OID ${oid} ${problem}`
  if (allowed === "any") return undefined
  const isAllowed = allowed.get(oid)
  if (isAllowed === undefined) return `other SAN OID ${oid} not allowed by this role`
  return isAllowed(value) ? undefined : `other SAN ${shown(value)} not allowed for OID ${oid} by this role`
}

function ipAddressesAreAllowed(application: Application): readonly Violation[] {
  const { role, requested } = application
  const addresses = addressesOf(application)
  const refuse = (field: string, ip: string, message: string) => violation("ipAddressesAreAllowed", field, ip, message)
  if (!role.allowIpSans)
    return [...Map.groupBy(addresses, ({ field }) => field)].map(([field, ofField]) => {
      const ips = ofField.map(({ ip }) => ip).join(", ")
      const source = field === "csr" ? "CSR" : field === "commonName" ? "the common name" : requested.source
      const message = `IP Subject Alternative Names are not allowed in this role, but was provided via ${source}: `
      return refuse(field, ips, message + shown(ips))
    })
  const ranges = allowedRanges(role)
  return addresses.flatMap(({ ip, field }) => {
    const octets = parseIpAddress(ip)
    if (octets === undefined) return [refuse(field, ip, `the value "${shown(ip)}" is not a valid IP address`)]
    return ranges.length === 0 || ranges.some((range) => isInRange(octets, range))
      ? []
      : [refuse(field, ip, `the IP address "${ip}" is not allowed in this role`)]
  })
}

const allowedRanges = memoizeByIdentity(({ allowedIpSansCidr }: Role): readonly IpRange[] =>
  allowedIpSansCidr.map(parseIpRange).filter((range) => range !== undefined),
)

function urisAreAllowed({ role, identity, requested }: Application): readonly Violation[] {
  const { uris, source } = requested
  const refuse = (uri: string, message: string) =>
    violation("urisAreAllowed", fieldOf(requested, "uriSans"), uri, `${message}: ${shown(uri)}`)
  if (uris.length > 0 && role.allowedUriSans.length === 0) {
    const message = `URI Subject Alternative Names are not allowed in this role, but were provided via ${source}`
    return [refuse(uris.join(", "), message)]
  }
  const isAllowed = uris.length === 0 ? () => false : allowedUris(role, identity)
  return uris.flatMap((uri) => {
    if (!isUri(uri)) return [refuse(uri, "the provided URI Subject Alternative Name is not a valid URI")]
    return isAllowed(uri)
      ? []
      : [refuse(uri, `URI Subject Alternative Names were provided via ${source} which are not valid for this role`)]
  })
}

/** Returns the check of URIs. Templates that the identity cannot fill in allow nothing. */
function allowedUris(role: Role, identity: Identity | undefined): (uri: string) => boolean {
  const fixed = fixedUris(role)
  if (!role.allowedUriSansTemplate || identity === undefined) return fixed
  const globsAllowed = role.allowGlobsInIdentityTemplates
  const filled = anyGlob(
    role.allowedUriSans.filter(isTemplate).flatMap((entry) => fillTemplate(entry, identity, { globsAllowed }) ?? []),
  )
  return (uri) => fixed(uri) || filled(uri)
}

const fixedUris = memoizeByIdentity(({ allowedUriSans, allowedUriSansTemplate }: Role) =>
  anyGlob(allowedUriSansTemplate ? allowedUriSans.filter((entry) => !isTemplate(entry)) : allowedUriSans),
)

function userIdsAreAllowed({ role, request, requested }: Application): readonly Violation[] {
  const field = request.userIds.length > 0 ? "userIds" : "csr"
  return requested.userIds.flatMap((userId) => {
    const problem =
      subjectTextProblem(userId, subjectMaxima.userId) ??
      (allowedUserIds(role)(userId) ? undefined : "is not allowed by this role")
    return problem === undefined
      ? []
      : [violation("userIdsAreAllowed", field, userId, `user_id ${shown(userId)} ${problem}`)]
  })
}

const allowedUserIds = memoizeByIdentity(({ allowedUserIds }: Role) => anyUserId(allowedUserIds))

/** A certificate with an empty subject needs an alternative name (RFC 5280, section 4.1.2.6). */
function subjectOrNameIsGiven({ role, requested }: Application): readonly Violation[] {
  const { dnsNames, emails, ips, uris, otherNames } = requested
  const isGiven =
    role.requireCn ||
    subjectOf({ ...role, ...requested }).length > 0 ||
    [dnsNames, emails, ips, uris, otherNames].some((names) => names.length > 0)
  const message = "neither a subject nor a subject alternative name is given; a certificate requires one of them"
  return isGiven ? [] : [violation("subjectOrNameIsGiven", "commonName", "", message)]
}

function metadataIsKept({ role, request }: Application): readonly Violation[] {
  const { certMetadata } = request
  const problem = certMetadata === "" ? undefined : metadataProblem(certMetadata, role)
  if (problem === undefined) return []
  return [violation("metadataIsKept", "certMetadata", shown(certMetadata), `"cert_metadata" ${problem}`)]
}

/** Returns the problem as the end of a sentence. */
export function metadataProblem(certMetadata: string, role: Role): string | undefined {
  if (role.noStoreMetadata) return 'must not be given, because the role is set with "no_store_metadata" set to true'
  return isBase64(certMetadata) ? undefined : "must be base64"
}

const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)

/** Returns the algorithm of the key to generate. The request selects it only if the key type of the role is `any`. */
export function keyToMake({ keyType, keyBits }: Role, request: IssueRequest): KeyAlgorithm | undefined {
  if (keyType !== "any") return keyAlgorithm(keyType, keyBits)
  return isKeyType(request.keyType) ? keyAlgorithm(request.keyType, request.keyBits) : undefined
}

function keyCanBeMade({ role, request }: Application): readonly Violation[] {
  if (keyToMake(role, request) !== undefined) return []
  const { keyType, keyBits } = request
  const refuse = (field: "keyType" | "keyBits", message: string) => [
    violation("keyCanBeMade", field, shown(`${keyType} ${keyBits}`), message),
  ]
  if (keyType === "")
    return refuse(
      "keyType",
      'role key type "any" not allowed for issuing certificates, unless the request has a "key_type"',
    )
  return isKeyType(keyType)
    ? refuse("keyBits", keyBitsProblem(keyType, keyBits) ?? "")
    : refuse("keyType", `unknown key type ${shown(keyType)}`)
}

/** Keys larger than the role requires are accepted. */
function keySuitsRole({ role, csr }: Application): readonly Violation[] {
  if (csr === undefined) return []
  const { key } = csr
  const refuse = (message: string) => [violation("keySuitsRole", "csr", describeKeyAlgorithm(key), message)]
  if (role.keyType !== "any" && role.keyType !== key.type) return refuse(`role requires keys of type ${role.keyType}`)
  if (key.type === "ed25519") return []
  if (key.type === "rsa" && key.bits < minRsaBits) return refuse(weakRsaMessage(key.bits))
  const exponentProblem = rsaExponentProblem(csr.rsaExponent, role.allowedRsaExponents)
  if (exponentProblem !== undefined) return refuse(exponentProblem)
  return role.keyType !== "any" && key.bits < role.keyBits
    ? refuse(`role requires a minimum of a ${role.keyBits}-bit key, but CSR's key is ${key.bits} bits`)
    : []
}
