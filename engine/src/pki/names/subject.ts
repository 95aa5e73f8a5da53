// Subject of a certificate. Attributes are in the usual order of distinguished names. Each is a relative distinguished name of its
// own, because one must not contain a type twice (X.501, clause 9.3).
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
  /** Empty: no common name. */
  readonly commonName: string
  /** Empty: no serial number. */
  readonly serialNumber: string
  readonly userIds: readonly string[]
}

/** Returns the subject without empty values and duplicates. */
export function subjectOf(values: SubjectValues): DistinguishedName {
  const subject: DistinguishedName[number][] = []
  const add = (type: string, texts: readonly string[]) => {
    for (const value of texts.length > 1 ? new Set(texts) : texts) if (value !== "") subject.push([{ type, value }])
  }
  add(oids.countryName, values.country)
  add(oids.organizationName, values.organization)
  add(oids.organizationalUnitName, values.ou)
  add(oids.localityName, values.locality)
  add(oids.stateOrProvinceName, values.province)
  add(oids.streetAddress, values.streetAddress)
  add(oids.postalCode, values.postalCode)
  add(oids.commonName, [values.commonName])
  add(oids.serialNumber, [values.serialNumber])
  add(oids.userId, values.userIds)
  return subject
}

export function valuesOf(subject: DistinguishedName, type: string): readonly string[] {
  const values: string[] = []
  for (const name of subject) for (const attribute of name) if (attribute.type === type) values.push(attribute.value)
  return values
}

/** Maximum lengths in characters (RFC 5280, appendix A.1; X.520 for the street and the postal code; RFC 4524 for the user id). */
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

/** Returns the problem of a value of a subject, as the end of a sentence about it. */
export function subjectTextProblem(text: string, maxLength: number): string | undefined {
  // A character has at most two UTF-16 code units. Counting the characters of long texts would take too long.
  if (text.length > 2 * maxLength || Array.from(text).length > maxLength)
    return `must not be longer than ${maxLength} characters`
  return textProblem(text) ?? invisibleProblem(text)
}

/**
 * Returns the problem of a text with characters that are invisible, and make a name look like another one (Unicode Technical Report
 * 36, section 2.10).
 */
export function invisibleProblem(text: string): string | undefined {
  if (/\p{Cc}/u.test(text)) return "must not contain control characters"
  return /[\p{Cf}\p{Zl}\p{Zp}]/u.test(text)
    ? "must not contain format characters, such as those that change the direction of text"
    : undefined
}

/** Returns true for two letters, as in ISO 3166 (RFC 5280, appendix A.1: a PrintableString of two characters). */
export const isCountryCode = (text: string): boolean => /^[A-Za-z]{2}$/.test(text)
