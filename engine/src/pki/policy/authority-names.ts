// Subject and names of a CA. Callers that may create a CA may name it freely, so the checks only cover what a certificate can hold.
import { oids } from "../../x509/asn1/oids.ts"
import type { GeneralName } from "../../x509/general-name.ts"
import { type DistinguishedName, nameViolations } from "../../x509/name.ts"
import type { Subtree } from "../../x509/name-constraints.ts"
import type { AuthorityRequest, NameConstraintLists } from "../issuance/authority-request.ts"
import { isPartialWildcard, toAsciiHostName, toDnsName } from "../names/host-names.ts"
import { toMailbox } from "../names/email.ts"
import { parseIpAddress, parseIpRange } from "../names/ip-address.ts"
import { parseOtherName } from "../names/other-name.ts"
import { invisibleProblem, subjectOf } from "../names/subject.ts"
import { isUri } from "../names/uri.ts"
import {
  distinctNames,
  isSerialNumberName,
  nameOfCommonName,
  tooManyNames,
  withoutRootDot,
} from "./alternative-names.ts"
import type { CsrContent } from "./csr-extensions.ts"
import type { ConstrainedName } from "./name-constraints.ts"
import { shown, type Violation, violation } from "./violation.ts"

/** Names that were parsed, and the violations of the others. */
export interface AuthorityNames {
  readonly subject: DistinguishedName
  readonly subjectAltName: readonly GeneralName[]
  readonly violations: readonly Violation[]
}

export function authorityNames(authorityRequest: AuthorityRequest): AuthorityNames {
  const request = { ...authorityRequest, commonName: withoutRootDot(authorityRequest.commonName, enforced) }
  const { altNames, ipSans, uriSans, otherSans, userIds, commonName, excludeCnFromSans } = request
  const tooMany = tooManyNames([altNames, ipSans, uriSans, otherSans, userIds])
  if (tooMany.length > 0) return { subject: [], subjectAltName: [], violations: tooMany }
  const subject = subjectOf(request)
  const ofCommonName = excludeCnFromSans ? undefined : nameOfCommonName(commonName, enforced)
  const names = [
    ...altNames.map((text) => readName("altNames", text, isSerialNumberName(text) ? readOther : readAltName)),
    ...ipSans.map((text) => readName("ipSans", text, readIp)),
    ...uriSans.map((text) => readName("uriSans", text, readUri)),
    ...otherSans.map((text) => readName("otherSans", text, readOther)),
  ]
  return {
    subject,
    subjectAltName: distinctNames([
      ...(ofCommonName === undefined ? [] : [ofCommonName]),
      ...names.flatMap((read) => ("name" in read ? [read.name] : [])),
    ]),
    violations: [
      ...subjectViolations(subject),
      ...names.flatMap((read) => ("violation" in read ? [read.violation] : [])),
    ],
  }
}

const enforced = { enforceHostnames: true, allowPartialWildcards: false }

/** Returns the names as the CSR has them. */
export function namesOfCsr({ subjectName, extensionValues }: CsrContent): AuthorityNames {
  const { subjectAltName = [] } = extensionValues
  return {
    subject: subjectName,
    subjectAltName,
    violations: [
      ...subjectViolations(subjectName),
      ...subjectAltName.flatMap((name) => {
        const problem = nameProblem(name)
        return problem === undefined ? [] : [violation("alternativeNamesAreWellFormed", "csr", problem, problem)]
      }),
    ],
  }
}

function nameProblem(name: GeneralName): string | undefined {
  if (!("value" in name) || name.kind === "other") return undefined
  const read = name.kind === "uri" ? readUri(name.value) : readAltName(name.value)
  if (typeof read === "string") return read
  return read.kind === name.kind ? undefined : `subject alternate name ${shown(name.value)} does not match its type`
}

/** Checks the values of a subject (RFC 5280, section 4.1.2.6 and appendix A.1). */
const subjectViolations = (subject: DistinguishedName): readonly Violation[] =>
  subject.flat().flatMap((attribute) => {
    const { type, value } = attribute
    const unseen = invisibleProblem(value)
    const problems = unseen === undefined ? [] : [`value ${shown(value)} ${unseen}`]
    return [...nameViolations([[attribute]]), ...problems].map((problem) =>
      violation("subjectIsWellFormed", subjectFields.get(type) ?? "csr", value, `the subject's ${problem}`),
    )
  })

const subjectFields: ReadonlyMap<string, keyof AuthorityRequest> = new Map([
  [oids.countryName, "country"],
  [oids.organizationName, "organization"],
  [oids.organizationalUnitName, "ou"],
  [oids.localityName, "locality"],
  [oids.stateOrProvinceName, "province"],
  [oids.streetAddress, "streetAddress"],
  [oids.postalCode, "postalCode"],
  [oids.commonName, "commonName"],
  [oids.serialNumber, "serialNumber"],
  [oids.userId, "userIds"],
])

/** Returns the member of the request that contained a name of a CA. */
export function fieldOfName(name: GeneralName, source: ConstrainedName["source"]): keyof AuthorityRequest {
  if (source !== "subject-alternative-name") return "commonName"
  switch (name.kind) {
    case "ip":
      return "ipSans"
    case "uri":
      return "uriSans"
    case "dns":
    case "email":
      return "altNames"
    default:
      return "otherSans"
  }
}

type ReadName = { readonly name: GeneralName } | { readonly violation: Violation }

function readName(field: keyof AuthorityRequest, text: string, read: (text: string) => GeneralName | string): ReadName {
  const name = read(text)
  return typeof name === "string"
    ? { violation: violation("alternativeNamesAreWellFormed", field, text, name) }
    : { name }
}

function readAltName(text: string): GeneralName | string {
  if (isPartialWildcard(text))
    return `subject alternate name ${shown(text)} has a "*" that is only a part of a label, which clients do not match`
  const name = text.includes("@")
    ? { kind: "email" as const, value: toMailbox(text) }
    : { kind: "dns" as const, value: toDnsName(text, enforced) }
  const { kind, value } = name
  if (value !== undefined) return { kind, value }
  return `subject alternate name ${shown(text)} is not a valid ${kind === "dns" ? "DNS name" : "e-mail address"}`
}

function readIp(text: string): GeneralName | string {
  const octets = parseIpAddress(text)
  return octets === undefined ? `the value "${shown(text)}" is not a valid IP address` : { kind: "ip", octets }
}

const readUri = (text: string): GeneralName | string =>
  isUri(text)
    ? { kind: "uri", value: text }
    : `the provided URI Subject Alternative Name is not a valid URI: ${shown(text)}`

function readOther(text: string): GeneralName | string {
  const parsed = parseOtherName(text)
  return "problem" in parsed ? shown(parsed.problem) : { kind: "other", ...parsed.name }
}

export interface ReadConstraints {
  readonly permitted: readonly Subtree[]
  readonly excluded: readonly Subtree[]
  readonly violations: readonly Violation[]
}

export function nameConstraintsOf(request: NameConstraintLists): ReadConstraints {
  const tooMany = tooManyNames(constraintLists.map(({ field }) => request[field]))
  if (tooMany.length > 0) return { permitted: [], excluded: [], violations: tooMany }
  const read = constraintLists.flatMap(({ field, wire, isPermitted, subtreeOf }) =>
    request[field].map((text) => {
      const subtree = subtreeOf(text)
      const message = `"${wire}" entry "${shown(text)}" is not well-formed`
      return { isPermitted, subtree, violation: violation("nameConstraintsAreWellFormed", field, text, message) }
    }),
  )
  const subtrees = (permitted: boolean) =>
    read.flatMap(({ isPermitted, subtree }) => (isPermitted === permitted && subtree !== undefined ? [subtree] : []))
  return {
    permitted: subtrees(true),
    excluded: subtrees(false),
    violations: read.flatMap(({ subtree, violation }) => (subtree === undefined ? [violation] : [])),
  }
}

interface ConstraintList {
  readonly field: keyof NameConstraintLists
  /** Name of the field on the wire. */
  readonly wire: string
  readonly isPermitted: boolean
  readonly subtreeOf: (text: string) => Subtree | undefined
}

const constraintLists: readonly ConstraintList[] = [
  { field: "permittedDnsDomains", wire: "permitted_dns_domains", isPermitted: true, subtreeOf: domainTree("dns") },
  { field: "excludedDnsDomains", wire: "excluded_dns_domains", isPermitted: false, subtreeOf: domainTree("dns") },
  { field: "permittedEmailAddresses", wire: "permitted_email_addresses", isPermitted: true, subtreeOf: emailTree },
  { field: "excludedEmailAddresses", wire: "excluded_email_addresses", isPermitted: false, subtreeOf: emailTree },
  { field: "permittedIpRanges", wire: "permitted_ip_ranges", isPermitted: true, subtreeOf: ipTree },
  { field: "excludedIpRanges", wire: "excluded_ip_ranges", isPermitted: false, subtreeOf: ipTree },
  { field: "permittedUriDomains", wire: "permitted_uri_domains", isPermitted: true, subtreeOf: domainTree("uri") },
  { field: "excludedUriDomains", wire: "excluded_uri_domains", isPermitted: false, subtreeOf: domainTree("uri") },
]

function domainTree(kind: "dns" | "email" | "uri"): ConstraintList["subtreeOf"] {
  return (text) => {
    const dot = text.startsWith(".") ? "." : ""
    const domain = toAsciiHostName(text.slice(dot.length))
    return domain === undefined ? undefined : { kind, value: dot + domain }
  }
}

/** Parses a constraint on one mailbox, on all mailboxes of a host, or on all hosts of a domain. */
function emailTree(text: string): Subtree | undefined {
  const mailbox = toMailbox(text)
  return mailbox === undefined ? domainTree("email")(text) : { kind: "email", value: mailbox }
}

function ipTree(text: string): Subtree | undefined {
  const range = parseIpRange(text)
  return range && { kind: "ip", ...range }
}
