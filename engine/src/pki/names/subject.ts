// The subject of a certificate: attributes in the order that distinguished names are written in, each a relative
// distinguished name of its own, because one that holds a type twice is none (X.501, clause 9.3).
import { textProblem } from "../../core/text.ts"
import { oids } from "../../x509/asn1/oids.ts"
import type { DistinguishedName } from "../../x509/name.ts"

export interface SubjectValues {
  readonly country: readonly string[]
  readonly organization: readonly string[]
  readonly ou: readonly string[]
  readonly locality: readonly string[]
  readonly province: readonly string[]
  readonly streetAddress: readonly string[]
  readonly postalCode: readonly string[]
  /** Empty: none. */
  readonly commonName: string
  /** Empty: none. */
  readonly serialNumber: string
  readonly userIds: readonly string[]
}

/** Each value once; what is empty is left out. */
export function subjectOf(values: SubjectValues): DistinguishedName {
  const attributes: readonly (readonly [string, readonly string[]])[] = [
    [oids.countryName, values.country],
    [oids.organizationName, values.organization],
    [oids.organizationalUnitName, values.ou],
    [oids.localityName, values.locality],
    [oids.stateOrProvinceName, values.province],
    [oids.streetAddress, values.streetAddress],
    [oids.postalCode, values.postalCode],
    [oids.commonName, [values.commonName]],
    [oids.serialNumber, [values.serialNumber]],
    [oids.userId, values.userIds],
  ]
  return attributes
    .filter(([, values]) => values.length > 0)
    .flatMap(([type, values]) => [...new Set(values)].filter((value) => value !== "").map((value) => [{ type, value }]))
}

export const valuesOf = (subject: DistinguishedName, type: string): readonly string[] =>
  subject
    .flat()
    .filter((attribute) => attribute.type === type)
    .map(({ value }) => value)

/** In characters (RFC 5280, appendix A.1; X.520 for the street and the postal code; RFC 4524 for the user id). */
export const subjectMaxima = {
  commonName: 64,
  serialNumber: 64,
  organizationalUnit: 64,
  organization: 64,
  locality: 128,
  province: 128,
  streetAddress: 128,
  postalCode: 40,
  userId: 256,
} as const

/** What is wrong with a text as a value of a subject, as the sentence about it goes on. */
export function subjectTextProblem(text: string, lengthMaximum: number): string | undefined {
  // A character is at most two units long, and counting the characters of any text would take too long.
  if (text.length > 2 * lengthMaximum || Array.from(text).length > lengthMaximum)
    return `must not be longer than ${lengthMaximum} characters`
  return textProblem(text) ?? (/\p{Cc}/u.test(text) ? "must not contain control characters" : undefined)
}

/** Two letters of ISO 3166 (RFC 5280, appendix A.1: a PrintableString of two characters). */
export const isCountryCode = (text: string): boolean => /^[A-Za-z]{2}$/.test(text)
