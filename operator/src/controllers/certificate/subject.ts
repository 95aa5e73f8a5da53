// Fields of a certificate's subject other than the common name and the user ids: from the spec to a request, and compared with a role and
// with an issued certificate.
import type { IssueInput, Role } from "@chancery/engine"
import { type DistinguishedName, oids } from "@chancery/engine/x509"
import type { CertificateSpec } from "../../api/certificate.ts"
import type { Difference } from "./difference.ts"

export type SubjectSpec = NonNullable<CertificateSpec["subject"]>
type ListField = Exclude<keyof SubjectSpec, "serialNumber">

interface ListAttribute {
  readonly type: string
  readonly ofRole: (role: Role) => readonly string[]
}

/** In the order in which the engine writes a subject. */
const lists: Readonly<Record<ListField, ListAttribute>> = {
  countries: { type: oids.countryName, ofRole: ({ country }) => country },
  organizations: { type: oids.organizationName, ofRole: ({ organization }) => organization },
  organizationalUnits: { type: oids.organizationalUnitName, ofRole: ({ ou }) => ou },
  localities: { type: oids.localityName, ofRole: ({ locality }) => locality },
  provinces: { type: oids.stateOrProvinceName, ofRole: ({ province }) => province },
  streetAddresses: { type: oids.streetAddress, ofRole: ({ streetAddress }) => streetAddress },
  postalCodes: { type: oids.postalCode, ofRole: ({ postalCode }) => postalCode },
}
const listEntries = Object.entries(lists) as readonly [ListField, ListAttribute][]

/** Returns the attributes before the common name. */
export const attributesBeforeName = (subject: SubjectSpec = {}): DistinguishedName =>
  listEntries.flatMap(([field, { type }]) => (subject[field] ?? []).map((value) => [{ type, value }]))

/** Returns the attributes after the common name. */
export const attributesAfterName = ({ serialNumber }: SubjectSpec = {}): DistinguishedName =>
  serialNumber === undefined ? [] : [[{ type: oids.serialNumber, value: serialNumber }]]

/** Returns the only field that a request under a role can set. The role sets the others. */
export const subjectInput = ({ serialNumber }: SubjectSpec = {}): Pick<IssueInput, "serialNumber"> =>
  serialNumber === undefined ? {} : { serialNumber }

/** Returns the fields that differ from an issued certificate. Fields that the spec omits may have any value. */
export const subjectDifferences = (subject: SubjectSpec | undefined, found: DistinguishedName): readonly Difference[] =>
  differing(subject, (type) => found.flat().flatMap((attribute) => (attribute.type === type ? [attribute.value] : [])))

/** Returns the fields that no certificate under the role can have. The engine checks an allowed serial number. */
export function subjectDifferencesToRole(subject: SubjectSpec | undefined, role: Role): readonly Difference[] {
  const serialNumbers = role.allowedSerialNumbers.length === 0 ? [] : [subject?.serialNumber ?? ""]
  const ofRole = new Map(listEntries.map(([, { type, ofRole: valuesOf }]) => [type, valuesOf(role)]))
  return differing(subject, (type) => (type === oids.serialNumber ? serialNumbers : (ofRole.get(type) ?? [])))
}

function differing(
  subject: SubjectSpec | undefined,
  valuesOf: (type: string) => readonly string[],
): readonly Difference[] {
  if (subject === undefined) return []
  const { serialNumber } = subject
  const compared = [
    ...listEntries.map(([field, { type }]) => ({ field, type, wanted: subject[field] })),
    { field: "serialNumber", type: oids.serialNumber, wanted: serialNumber === undefined ? undefined : [serialNumber] },
  ]
  return compared.flatMap(({ field, type, wanted }) => {
    if (wanted === undefined) return []
    const found = valuesOf(type)
    const isSame = wanted.every((value) => found.includes(value)) && found.every((value) => wanted.includes(value))
    return isSame ? [] : [{ field: `subject.${field}`, wanted, found }]
  })
}
