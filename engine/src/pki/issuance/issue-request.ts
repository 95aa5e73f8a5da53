// Requested contents of a certificate, from the fields of the request and from its CSR. Nothing is checked here; the role determines
// which of them count.
import { invalid } from "../../core/errors.ts"
import { oids } from "../../x509/asn1/oids.ts"
import { type CertificationRequest, parseCertificationRequest } from "../../x509/certification-request.ts"
import type { KeyAlgorithm } from "../../x509/key-algorithm.ts"
import type { DistinguishedName } from "../../x509/name.ts"
import { readPem } from "../../x509/pem.ts"
import { type PublicKey, readPublicKey } from "../../x509/public-key.ts"
import { isSignedBy } from "../../x509/signature.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import { assertStrongKey } from "../../x509/weak-rsa.ts"
import { formatOtherName, type OtherName, parseOtherName } from "../names/other-name.ts"
import { valuesOf } from "../names/subject.ts"
import { isSerialNumberName, withoutRootDot } from "../policy/alternative-names.ts"
import type { Violation } from "../policy/violation.ts"
import type { Role } from "../roles/role.ts"
import type { ValidityRequest } from "./validity.ts"

/** Fields of requests to issue and to sign. */
export interface IssueRequest extends ValidityRequest {
  /** Empty: no common name. */
  readonly commonName: string
  /** Host names, email addresses, and `2.5.4.5;UTF8:<value>`. */
  readonly altNames: readonly string[]
  readonly ipSans: readonly string[]
  readonly uriSans: readonly string[]
  /** `<oid>;UTF8:<value>`. */
  readonly otherSans: readonly string[]
  readonly userIds: readonly string[]
  /** Serial number in the subject, which is unrelated to that of the certificate. */
  readonly serialNumber: string
  readonly excludeCnFromSans: boolean
  /** Base64. Empty: no metadata. */
  readonly certMetadata: string
  /** Type of the key to generate, if the role leaves it open. */
  readonly keyType: string
  readonly keyBits: number
}

/** Fields as clients send them. Absent ones have their default. */
export type IssueRequestInput = Partial<IssueRequest>

const requestDefaults: IssueRequest = {
  commonName: "",
  altNames: [],
  ipSans: [],
  uriSans: [],
  otherSans: [],
  userIds: [],
  serialNumber: "",
  ttlMs: 0,
  notBefore: null,
  notAfter: null,
  excludeCnFromSans: false,
  certMetadata: "",
  keyType: "",
  keyBits: 0,
}

export const issueRequest = (input: IssueRequestInput): IssueRequest => ({ ...requestDefaults, ...input })

/** Values of a CSR that roles have rules for. Its signature was verified. */
export interface CsrFacts {
  /** Subject in the order of the CSR. */
  readonly subject: DistinguishedName
  readonly dnsNames: readonly string[]
  readonly emails: readonly string[]
  /** Addresses as `formatIpAddress` formats them. */
  readonly ips: readonly string[]
  readonly uris: readonly string[]
  readonly otherNames: readonly OtherName[]
  /** Other kinds of alternative names, as RFC 5280 calls them. */
  readonly otherKinds: readonly string[]
  readonly hasBasicConstraints: boolean
  readonly key: KeyAlgorithm
  /** Present for an RSA key. */
  readonly rsaExponent?: bigint | undefined
}

export type NameSource = "the API" | "CSR"

/** Names for the certificate, before the checks. */
export interface Requested {
  readonly commonName: string
  readonly serialNumber: string
  readonly userIds: readonly string[]
  /** Alternative names without the common name, which is added to them unless the request excludes it. */
  readonly dnsNames: readonly string[]
  readonly emails: readonly string[]
  readonly ips: readonly string[]
  readonly uris: readonly string[]
  /** Source of the alternative names, except `otherNames`. */
  readonly source: NameSource
  /** Names from both request and CSR, each with the field that contained it. */
  readonly otherNames: readonly RequestedOtherName[]
}

export interface RequestedOtherName extends OtherName {
  readonly field: "otherSans" | "altNames" | "csr"
}

export interface MergedRequest {
  readonly requested: Requested
  /** Violations of values that could not be parsed. */
  readonly violations: readonly Violation[]
  readonly warnings: readonly string[]
}

/**
 * Merges a request with its CSR. A role uses either all or none of the CSR's subject alternative names. Values of the CSR's subject
 * are used as the role allows.
 */
export function mergeRequest(request: IssueRequest, csr: CsrFacts | undefined, role: Role): MergedRequest {
  const { commonName, serialNumber, userIds } = request
  const own = namesOfRequest(request)
  if (csr === undefined)
    return {
      requested: { commonName, serialNumber, userIds, ...own.names, source: "the API" },
      violations: own.violations,
      warnings: [],
    }
  const subject = subjectOfCsr(csr, request, role)
  const warnings = csrWarnings(request, csr, role)
  if (!role.useCsrSans)
    return {
      requested: { ...subject.values, ...own.names, source: "the API" },
      violations: [...own.violations, ...subject.violations],
      warnings,
    }
  const { names, violations } = namesOfCsr(csr)
  return {
    // Other names of the CSR are added to those of the request. All other kinds replace them.
    requested: {
      ...subject.values,
      ...names,
      otherNames: unique([...own.names.otherNames, ...names.otherNames]),
      source: "CSR",
    },
    violations: [...own.violations, ...subject.violations, ...violations],
    warnings,
  }
}

type Names = Pick<Requested, "dnsNames" | "emails" | "ips" | "uris" | "otherNames">
type SubjectOwn = Pick<Requested, "commonName" | "serialNumber" | "userIds">

interface ReadNames {
  readonly names: Names
  readonly violations: readonly Violation[]
}

function namesOfRequest({ altNames, ipSans, uriSans, otherSans }: IssueRequest): ReadNames {
  const others = [
    ...otherSans.map((text) => ({ field: "otherSans", text, parsed: parseOtherName(text) }) as const),
    ...altNames
      .filter(isSerialNumberName)
      .map((text) => ({ field: "altNames", text, parsed: parseOtherName(text) }) as const),
  ]
  const names = altNames.filter((name) => !isSerialNumberName(name))
  return {
    names: {
      dnsNames: names.filter((name) => !name.includes("@")),
      emails: names.filter((name) => name.includes("@")),
      ips: ipSans,
      uris: uriSans,
      otherNames: unique(others.flatMap(({ field, parsed }) => ("name" in parsed ? [{ ...parsed.name, field }] : []))),
    },
    violations: others.flatMap(({ field, text, parsed }) =>
      "problem" in parsed ? [{ rule: "otherNamesCanBeRead", name: text, field: [field], message: parsed.problem }] : [],
    ),
  }
}

function namesOfCsr({ dnsNames, emails, ips, uris, otherNames, otherKinds }: CsrFacts): ReadNames {
  return {
    names: { dnsNames, emails, ips, uris, otherNames: otherNames.map((name) => ({ ...name, field: "csr" })) },
    violations: [...new Set(otherKinds)].map((kind) => ({
      rule: "kindsOfNamesAreKnown",
      name: kind,
      field: ["csr"],
      message: `subject alternate names of type ${kind}, which were provided via CSR, are not allowed by this role`,
    })),
  }
}

function subjectOfCsr(csr: CsrFacts, request: IssueRequest, role: Role) {
  const commonNames = role.useCsrCommonName ? valuesOf(csr.subject, oids.commonName) : []
  const serialNumbers =
    role.serialNumberSource === "json-csr" && request.serialNumber === ""
      ? valuesOf(csr.subject, oids.serialNumber)
      : []
  const values: SubjectOwn = {
    // An empty attribute counts as absent.
    commonName: withoutRootDot(commonNames[0] || request.commonName, role),
    serialNumber: request.serialNumber || (serialNumbers[0] ?? ""),
    userIds: request.userIds.length > 0 ? request.userIds : valuesOf(csr.subject, oids.userId),
  }
  const violations: readonly Violation[] = [
    ...onlyOne("common name", commonNames),
    ...onlyOne("serial number in its subject", serialNumbers),
  ]
  return { values, violations }
}

function onlyOne(what: string, values: readonly string[]): readonly Violation[] {
  const [, second] = values
  if (second === undefined) return []
  return [
    { rule: "subjectIsUnambiguous", name: second, field: ["csr"], message: `the CSR contains more than one ${what}` },
  ]
}

function csrWarnings(request: IssueRequest, csr: CsrFacts, role: Role): readonly string[] {
  const warnings: string[] = []
  const ignored = (field: string, setting: string) =>
    warnings.push(`the ${field} field was provided but the role is set with "${setting}" set to true`)
  if (role.useCsrCommonName && request.commonName !== "" && valuesOf(csr.subject, oids.commonName).length > 0)
    ignored("common_name", "use_csr_common_name")
  if (role.useCsrSans) {
    if (request.altNames.some((name) => !isSerialNumberName(name))) ignored("alt_names", "use_csr_sans")
    if (request.ipSans.length > 0) ignored("ip_sans", "use_csr_sans")
    if (request.uriSans.length > 0) ignored("uri_sans", "use_csr_sans")
  } else if (hasNames(csr))
    warnings.push(
      'the subject alternative names in the CSR were ignored, because the role is set with "use_csr_sans" set to false',
    )
  if (csr.hasBasicConstraints && !role.basicConstraintsValidForNonCa)
    warnings.push("specified CSR contained a Basic Constraints extension that was ignored during issuance")
  return warnings
}

const hasNames = (csr: CsrFacts): boolean =>
  [csr.dnsNames, csr.emails, csr.ips, csr.uris, csr.otherNames, csr.otherKinds].some((names) => names.length > 0)

const unique = (names: readonly RequestedOtherName[]): readonly RequestedOtherName[] => [
  ...new Map(names.map((name) => [formatOtherName(name), name])).values(),
]

/** CSR with a verified signature, which proves possession of the private key, and with a sufficiently strong key. */
export interface SigningRequest {
  readonly request: CertificationRequest
  readonly key: PublicKey
}

/** Maximum length of a CSR in characters. A CSR with an RSA key of 16,384 bits takes 6 KiB. */
const maxCsrLength = 64 * 1024
/** Tools write the first one. */
const labels: readonly string[] = ["CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"]

/** Parses a CSR in PEM. Throws `invalid` with a fault on `csr`; the texts are those that Vault clients know. */
export function readSigningRequest(csr: string): SigningRequest {
  if (csr.trim() === "") throw refused('"csr" is empty')
  const { request, key } = read(csr)
  if (!isProven(request, key)) throw refused("request signature invalid")
  return { request, key }
}

/** Parses a CSR in DER. Throws `invalid` like `readSigningRequest`. */
export function readSigningRequestDer(der: Uint8Array): SigningRequest {
  const request = readUnprovenRequest(der)
  const key = parsed(() => assertStrongKey(readPublicKey(request.subjectPublicKeyInfo)))
  if (!isProven(request, key)) throw refused("request signature invalid")
  return { request, key }
}

/** Parses a CSR in DER whose key and signature do not matter, because the server generates the key. */
export const readUnprovenRequest = (der: Uint8Array): CertificationRequest =>
  parsed(() => parseCertificationRequest(der))

const read = (csr: string): SigningRequest =>
  parsed(() => {
    const [block, ...others] = readPem(csr, maxCsrLength)
    if (block === undefined) throw refused("csr contains no data")
    if (!labels.includes(block.label) || others.length > 0)
      throw new UnacceptableInput("expected one PEM block with the label CERTIFICATE REQUEST")
    const request = parseCertificationRequest(block.bytes)
    return { request, key: assertStrongKey(readPublicKey(request.subjectPublicKeyInfo)) }
  })

function parsed<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    throw refused(`certificate request could not be parsed: ${error.message}`)
  }
}

function isProven(
  { certificationRequestInfo: data, signatureAlgorithm: algorithm, signature }: CertificationRequest,
  key: PublicKey,
): boolean {
  try {
    return isSignedBy(key, { data, algorithm, signature })
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    throw refused(`request signature invalid: ${error.message}`)
  }
}

const refused = (detail: string) => invalid([{ field: ["csr"], detail }])
