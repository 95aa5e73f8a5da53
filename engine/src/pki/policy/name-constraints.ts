// Matches names against name constraints (RFC 5280, section 4.2.1.10), as strictly as the strictest common verifier. OpenSSL checks
// common names if there is no dNSName. Go checks wildcards against excluded domains, and rejects URIs without a host name.
import { oids } from "../../x509/asn1/oids.ts"
import type { GeneralName } from "../../x509/general-name.ts"
import { type DistinguishedName, formatName, type NameAttribute, parseName } from "../../x509/name.ts"
import type { NameConstraints, Subtree } from "../../x509/name-constraints.ts"
import { formatIpAddress, isInRange, parseIpAddress } from "../names/ip-address.ts"
import { valuesOf } from "../names/subject.ts"

export interface ConstrainedNames {
  readonly subject: DistinguishedName
  /** Name, DER. */
  readonly subjectDer: Uint8Array
  readonly subjectAltName: readonly GeneralName[]
  readonly isCa: boolean
}

export interface ConstrainedName {
  readonly name: GeneralName
  readonly source: "subject" | "common-name" | "subject-alternative-name"
}

export interface ConstraintProblem extends ConstrainedName {
  /** Problem as the end of a sentence that begins with the name. */
  readonly problem: string
}

/** Returns every name that a verifier compares with name constraints. */
export function constrainedNames(names: ConstrainedNames): readonly ConstrainedName[] {
  const { subject, subjectDer, subjectAltName, isCa } = names
  const hasDnsName = subjectAltName.some(({ kind }) => kind === "dns")
  const found: ConstrainedName[] = subjectAltName.map((name) => ({ name, source: "subject-alternative-name" }))
  if (!isCa && !hasDnsName)
    for (const value of valuesOf(subject, oids.commonName))
      if (isDnsLike(value)) found.push({ name: { kind: "dns", value }, source: "common-name" })
  for (const value of valuesOf(subject, oids.emailAddress))
    found.push({ name: { kind: "email", value }, source: "subject" })
  if (subject.length > 0) found.push({ name: { kind: "directory", name: subjectDer }, source: "subject" })
  return found
}

/** Returns true for a common name that OpenSSL treats as a host name: labels with a dot between them, without wildcard. */
const isDnsLike = (text: string): boolean => text.includes(".") && text.split(".").every(isDnsLikeLabel)

const isDnsLikeLabel = (label: string): boolean =>
  /^[\w-]+$/.test(label) && !label.startsWith("-") && !label.endsWith("-")

/** Returns the names that violate the constraints, each with the reason. */
export function constraintProblems(
  names: readonly ConstrainedName[],
  { permitted, excluded }: NameConstraints,
): readonly ConstraintProblem[] {
  return names.flatMap(({ name, source }) => {
    const ofForm = (subtrees: readonly Subtree[]) => subtrees.filter((subtree) => isSameForm(subtree, name))
    const problem = problemOf(name, ofForm(permitted), ofForm(excluded))
    return problem === undefined ? [] : [{ name, source, problem }]
  })
}

function problemOf(name: GeneralName, permitted: readonly Subtree[], excluded: readonly Subtree[]): string | undefined {
  if (permitted.length + excluded.length === 0) return undefined
  if (!isComparable(name)) return "cannot be compared with the name constraints"
  const excluding = excluded.find((subtree) => contains(subtree, name) || isCoveredByWildcard(subtree, name))
  if (excluding !== undefined) return `is excluded (${formatSubtree(excluding)}) by the name constraints`
  if (permitted.length === 0 || permitted.some((subtree) => contains(subtree, name))) return undefined
  return `is not permitted (only ${formatSubtrees(permitted)}) by the name constraints`
}

function isSameForm(subtree: Subtree, name: GeneralName): boolean {
  if (subtree.kind === "other" && name.kind === "other") return subtree.oid === name.oid
  return subtree.kind === name.kind
}

/** Returns true if constraints can apply to the name. A URI is compared by its host, which must be a host name (section 4.2.1.10). */
function isComparable(name: GeneralName): boolean {
  switch (name.kind) {
    case "uri": {
      const host = hostOf(name.value)
      return host !== "" && parseIpAddress(host) === undefined && !host.includes(":")
    }
    case "email":
      return /^[^@]+@[^@]+$/.test(name.value)
    case "dns":
    case "ip":
    case "directory":
      return true
    default:
      return false
  }
}

/** Returns true if the subtree contains the name. Both have the same form. */
function contains(subtree: Subtree, name: GeneralName): boolean {
  if (subtree.kind === "ip") return name.kind === "ip" && isInRange(name.octets, subtree)
  if (subtree.kind === "directory") return name.kind === "directory" && isBelow(name.name, subtree.name)
  if (!("value" in subtree) || !("value" in name)) return false
  const base = subtree.value
  switch (subtree.kind) {
    case "dns":
      return isInDomain(base, name.value)
    case "uri":
      return isOfHost(base, hostOf(name.value))
    case "email":
      return isMailboxOf(base, name.value)
    default:
      return false
  }
}

const lower = (text: string): string => text.toLowerCase()

/** Returns true for the domain and names below it; with a leading dot, only for names below it. An empty base contains every name. */
function isInDomain(base: string, name: string): boolean {
  if (base === "") return true
  const [domain, whole] = [lower(base), lower(name)]
  return domain.startsWith(".")
    ? whole.endsWith(domain) && whole !== domain
    : whole === domain || whole.endsWith(`.${domain}`)
}

/** Returns true for the host itself; with a leading dot, only for hosts below it. An empty base contains every host. */
function isOfHost(base: string, host: string): boolean {
  if (base === "") return true
  const [domain, whole] = [lower(base), lower(host)]
  return domain.startsWith(".") ? whole.endsWith(domain) && whole !== domain : whole === domain
}

/** Compares local parts with case and hosts without (section 7.5). */
function isMailboxOf(base: string, mailbox: string): boolean {
  const at = mailbox.lastIndexOf("@")
  const [localPart, host] = [mailbox.slice(0, at), mailbox.slice(at + 1)]
  const baseAt = base.lastIndexOf("@")
  if (baseAt < 0) return isOfHost(base, host)
  const baseLocalPart = base.slice(0, baseAt)
  return (baseLocalPart === "" || baseLocalPart === localPart) && lower(base.slice(baseAt + 1)) === lower(host)
}

/** `*.example.com` covers `www.example.com`, so it is excluded if that is (CVE-2025-61727 in Go). */
function isCoveredByWildcard(subtree: Subtree, name: GeneralName): boolean {
  if (subtree.kind !== "dns" || name.kind !== "dns") return false
  const [label = "", ...rest] = name.value.split(".")
  if (!label.includes("*")) return false
  const [, ...base] = subtree.value.replace(/^\./, "").split(".")
  return base.length > 0 && lower(base.join(".")) === lower(rest.join("."))
}

/** Returns the host of a URI without user and port; empty if it has none. */
function hostOf(uri: string): string {
  const [, authority = ""] = /^[^:]+:\/\/([^/?#]*)/.exec(uri) ?? []
  const host = authority.slice(authority.lastIndexOf("@") + 1)
  const [, literal] = /^\[([^\]]*)\]/.exec(host) ?? []
  return literal ?? host.replace(/:\d*$/, "")
}

function isBelow(name: Uint8Array, base: Uint8Array): boolean {
  const [below, above] = [parseName(name), parseName(base)]
  if (above.length > below.length) return false
  return above.every((attributes, at) => foldedAttributes(attributes) === foldedAttributes(below[at] ?? []))
}

/** Case and runs of spaces are ignored (section 7.1). */
const foldedAttributes = (attributes: readonly NameAttribute[]): string =>
  JSON.stringify(
    attributes.map(({ type, value }) => `${type}=${lower(value.trim().replaceAll(/\s+/g, " "))}`).toSorted(),
  )

export function formatGeneralName(name: GeneralName): string {
  switch (name.kind) {
    case "ip":
      return formatIpAddress(name.octets)
    case "directory":
      return formatName(parseName(name.name))
    case "registered-id":
      return name.oid
    case "other":
      return `${name.oid};UTF8:${name.value}`
    case "unsupported":
      return "otherName"
    default:
      return name.value
  }
}

const formatSubtree = (subtree: Subtree): string =>
  subtree.kind === "ip"
    ? `${formatIpAddress(subtree.octets)}/${subtree.prefixBits}`
    : formatGeneralName(subtree) || "any name of that kind"

/** Maximum number of subtrees in an error message. */
const maxShown = 3

function formatSubtrees(subtrees: readonly Subtree[]): string {
  const texts = subtrees.slice(0, maxShown).map(formatSubtree)
  return [...texts, ...(subtrees.length > maxShown ? [`${subtrees.length - maxShown} more`] : [])].join(", ")
}
