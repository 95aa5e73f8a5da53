// The attributes of a subject, and how long each may be.

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

/** Two letters of ISO 3166 (RFC 5280, appendix A.1: a PrintableString of two characters). */
export const isCountryCode = (text: string): boolean => /^[A-Za-z]{2}$/.test(text)

/** As the maxima count: characters, not halves of surrogate pairs. */
export const characterCount = (text: string): number => Array.from(text).length
