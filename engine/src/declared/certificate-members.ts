// What is asked of a certificate, as it is declared: the members of the certificate API's requests in the words of programs.
import { type Fault, invalid, isEngineError } from "../core/errors.ts"
import { parseDuration, parseInstant } from "../core/time.ts"
import type { Values } from "./declared-resource.ts"
import { declaredFaults, durationFaults, instantFaults, mountMemberFaults, sameMountPath } from "./pki-words.ts"
import { sameDuration, sameInstant, sameSet, sameText, type SameValue } from "./same-value.ts"
import * as shapes from "./spec-shape.ts"

export const text = shapes.text().optional()
export const texts = shapes.list(shapes.text().filled()).optional()
export const flag = shapes.flag().optional()
export const integer = shapes.integer().optional()

/** When it begins and ends. */
export const validityMembers = { ttl: text, notBefore: text, notAfter: text }

/** Whom it names. */
export const nameMembers = {
  commonName: text,
  altNames: texts,
  ipSans: texts,
  uriSans: texts,
  otherSans: texts,
  excludeCnFromSans: flag,
  /** Of the subject; the certificate's own is nobody's to say. */
  subjectSerialNumber: text,
}

/** Further members of a CA certificate. */
export const authorityMembers = {
  ...nameMembers,
  ...validityMembers,
  organizationalUnits: texts,
  organizations: texts,
  countries: texts,
  localities: texts,
  provinces: texts,
  streetAddresses: texts,
  postalCodes: texts,
  notBeforeDuration: text,
  maxPathLength: integer,
  permittedDnsDomains: texts,
  excludedDnsDomains: texts,
  permittedEmailAddresses: texts,
  excludedEmailAddresses: texts,
  permittedIpRanges: texts,
  excludedIpRanges: texts,
  permittedUriDomains: texts,
  excludedUriDomains: texts,
  keyUsages: texts,
  signatureBits: integer,
  usePss: flag,
  skid: text,
}

const durations: readonly string[] = ["ttl", "notBeforeDuration", "renewBefore"]
const instants: readonly string[] = ["notBefore", "notAfter"]

const fieldsOfMembers: Readonly<Record<string, string>> = {
  ttl: "ttlMs",
  notBeforeDuration: "notBeforeDurationMs",
  subjectSerialNumber: "serialNumber",
  keyUsages: "keyUsage",
  extKeyUsages: "extKeyUsage",
  organizationalUnits: "ou",
  organizations: "organization",
  countries: "country",
  localities: "locality",
  provinces: "province",
  streetAddresses: "streetAddress",
  postalCodes: "postalCode",
}
const membersOfFields = new Map(Object.entries(fieldsOfMembers).map(([member, field]) => [field, member]))

/** The engine's fields for those of the members that are given. */
export const requestOf = <Input extends object>(spec: object, members: readonly string[]): Input =>
  Object.fromEntries(
    Object.entries(spec)
      .filter(([name, value]) => value !== undefined && members.includes(name))
      .map(([name, value]) => [fieldsOfMembers[name] ?? name, fieldValue(name, value)]),
  ) as Input

function fieldValue(name: string, value: unknown): unknown {
  if (typeof value !== "string") return value
  if (durations.includes(name)) return parseDuration(value)
  return instants.includes(name) ? parseInstant(value) : value
}

/** The subject's lists are the exception: their order is that in the certificate. */
export const requestRules: Readonly<Record<string, SameValue>> = {
  mount: sameMountPath,
  ttl: sameDuration,
  notBeforeDuration: sameDuration,
  renewBefore: sameDuration,
  notBefore: sameInstant,
  notAfter: sameInstant,
  commonName: sameText,
  altNames: sameSet,
  ipSans: sameSet,
  uriSans: sameSet,
  otherSans: sameSet,
  userIds: sameSet,
  keyUsages: sameSet,
  extKeyUsages: sameSet,
  extKeyUsageOids: sameSet,
  permittedDnsDomains: sameSet,
  excludedDnsDomains: sameSet,
  permittedEmailAddresses: sameSet,
  excludedEmailAddresses: sameSet,
  permittedIpRanges: sameSet,
  excludedIpRanges: sameSet,
  permittedUriDomains: sameSet,
  excludedUriDomains: sameSet,
  csr: (a, b) => blankless(a) === blankless(b),
}

/** Of PEM, in which white space says nothing. */
const blankless = (value: unknown): string => (typeof value === "string" ? value.replaceAll(/\s/g, "") : "")

/** What is wrong with a spec before anything is asked: its shape, and then what `rules` refuse of members that are known. */
export function requestFaults<Spec extends object>(
  shape: shapes.SpecShape,
  spec: Values,
  open: ReadonlySet<string>,
  rules: (known: Partial<Spec>, unsaid: ReadonlySet<string>) => readonly Fault[],
): readonly Fault[] {
  const faults = [
    ...shapes.faultsOf(shape, spec, open),
    ...durations.flatMap((member) => durationFaults(member, spec[member])),
    ...instants.flatMap((member) => instantFaults(member, spec[member])),
  ]
  const unsaid = new Set([...open, ...faults.map(({ field }) => String(field?.[0]))])
  // A member of the wrong type is refused already, and no rule can read it.
  const known = Object.fromEntries(Object.entries(spec).filter(([name]) => !unsaid.has(name)))
  const { mount } = known
  return [
    ...faults,
    ...(typeof mount === "string" ? mountMemberFaults("mount", mount) : []),
    ...rules(known as Partial<Spec>, unsaid).filter(({ field }) => !unsaid.has(String(field?.[0]))),
  ]
}

/** What a rule of the engine refuses, in declared words. */
export function refusedBy(shape: shapes.SpecShape, rule: () => void): readonly Fault[] {
  try {
    rule()
    return []
  } catch (error) {
    if (isEngineError(error, "invalid")) return inDeclaredWords(shape, error.faults)
    throw error
  }
}

/** What the engine refuses of a request. */
export async function declaredRefusals<T>(shape: shapes.SpecShape, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isEngineError(error, "invalid")) throw error
    throw invalid(inDeclaredWords(shape, error.faults))
  }
}

const inDeclaredWords = (shape: shapes.SpecShape, faults: readonly Fault[]): readonly Fault[] =>
  declaredFaults(faults, (field) => {
    const member = membersOfFields.get(field) ?? field
    return member in shape.members ? member : undefined
  })
