// Distinguished names (RFC 5280, section 4.1.2.4). Code that only copies names keeps their DER. Names are equal if their octets are,
// regardless of string types.
import { oids } from "./asn1/oids.ts"
import { isPrintableText } from "./asn1/printable.ts"
import { DerReader } from "./asn1/reader.ts"
import { tag } from "./asn1/tag.ts"
import {
  type Der,
  encode,
  ia5String,
  isAscii,
  objectIdentifier,
  printableString,
  sequence,
  setOf,
  utf8String,
} from "./asn1/writer.ts"

export interface NameAttribute {
  /** Dotted object identifier, such as `oids.commonName`. */
  readonly type: string
  readonly value: string
}

/** Attributes between two commas of a name; nearly always one. */
export type RelativeName = readonly NameAttribute[]

/** From the root downwards, in the order of the encoding: country first. */
export type DistinguishedName = readonly RelativeName[]

type ValueKind = "directory" | "printable" | "ia5"

interface AttributeType {
  readonly name: string
  /** Short name of RFC 4514 or of the registry of LDAP descriptors. */
  readonly short: string
  readonly kind: ValueKind
  /** Maximum number of characters, if there is one (RFC 5280, appendix A; X.520, annex C). */
  readonly maximum?: number
}

const attributeTypes: ReadonlyMap<string, AttributeType> = new Map([
  [oids.commonName, { name: "commonName", short: "CN", kind: "directory", maximum: 64 }],
  [oids.surname, { name: "surname", short: "sn", kind: "directory", maximum: 32_768 }],
  [oids.serialNumber, { name: "serialNumber", short: "serialNumber", kind: "printable", maximum: 64 }],
  [oids.countryName, { name: "countryName", short: "C", kind: "printable" }],
  [oids.localityName, { name: "localityName", short: "L", kind: "directory", maximum: 128 }],
  [oids.stateOrProvinceName, { name: "stateOrProvinceName", short: "ST", kind: "directory", maximum: 128 }],
  [oids.streetAddress, { name: "streetAddress", short: "STREET", kind: "directory", maximum: 128 }],
  [oids.organizationName, { name: "organizationName", short: "O", kind: "directory", maximum: 64 }],
  [oids.organizationalUnitName, { name: "organizationalUnitName", short: "OU", kind: "directory", maximum: 64 }],
  [oids.title, { name: "title", short: "title", kind: "directory", maximum: 64 }],
  [oids.postalCode, { name: "postalCode", short: "postalCode", kind: "directory", maximum: 40 }],
  [oids.name, { name: "name", short: "name", kind: "directory", maximum: 32_768 }],
  [oids.givenName, { name: "givenName", short: "givenName", kind: "directory", maximum: 32_768 }],
  [oids.initials, { name: "initials", short: "initials", kind: "directory", maximum: 32_768 }],
  [
    oids.generationQualifier,
    { name: "generationQualifier", short: "generationQualifier", kind: "directory", maximum: 32_768 },
  ],
  [oids.dnQualifier, { name: "dnQualifier", short: "dnQualifier", kind: "printable" }],
  [oids.pseudonym, { name: "pseudonym", short: "pseudonym", kind: "directory", maximum: 128 }],
  [oids.userId, { name: "userId", short: "UID", kind: "directory", maximum: 256 }],
  [oids.domainComponent, { name: "domainComponent", short: "DC", kind: "ia5" }],
  [oids.emailAddress, { name: "emailAddress", short: "emailAddress", kind: "ia5", maximum: 255 }],
] satisfies [string, AttributeType][])

/** Encodes a Name. A value that does not fit the string type of its attribute becomes a UTF8String; `nameViolations` reports it. */
export const encodeName = (name: DistinguishedName): Uint8Array => encode(sequence(name.map(encodeRelativeName)))

const encodeRelativeName = (attributes: RelativeName): Der =>
  setOf(attributes.map(({ type, value }) => sequence([objectIdentifier(type), encodeValue(type, value)])))

/** Uses PrintableString if possible, as for most names, and UTF8String otherwise (RFC 5280, section 4.1.2.4). */
function encodeValue(type: string, value: string): Uint8Array {
  if (attributeTypes.get(type)?.kind === "ia5") return isAscii(value) ? ia5String(value) : utf8String(value)
  return isPrintableText(value) ? printableString(value) : utf8String(value)
}

/** Parses strictly. Throws for attributes that are not character strings. */
export function parseName(der: Uint8Array, document = "name"): DistinguishedName {
  const reader = new DerReader(der, document)
  const name = readName(reader, document)
  reader.finish(document)
  return name
}

export function readName(reader: DerReader, field: string): DistinguishedName {
  const relativeNames = reader.sequence(field)
  const name: RelativeName[] = []
  while (!relativeNames.done) name.push(readRelativeName(relativeNames, field))
  return name
}

/** `identifier` replaces the tag of an implicitly tagged name. */
export function readRelativeName(reader: DerReader, field: string, identifier?: number): RelativeName {
  const set = reader.setOf(field, identifier)
  if (set.done) set.refuse(field, "has a relative name without attributes")
  const attributes: NameAttribute[] = []
  while (!set.done) {
    const attribute = set.sequence(field)
    const type = attribute.oid(field)
    attributes.push({ type, value: readValue(attribute, attributeTypes.get(type)?.name ?? type) })
    attribute.finish(field)
  }
  return attributes
}

/**
 * Reads a DirectoryString, IA5String or PrintableString (RFC 5280, appendix A.1). VisibleString is for the text of policies. OpenSSL
 * cannot read a certificate that has one in a name.
 */
function readValue(attribute: DerReader, field: string): string {
  if (attribute.next === tag.visibleString) attribute.refuse(field, "is a VisibleString, which is not allowed in names")
  return attribute.string(field)
}

/** Compares octets. Other implementations may fold case differently, and a chain must not depend on that. */
export const sameName = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0

/** Returns one sentence for each rule of RFC 5280 or X.520 that a value of the name breaks. */
export function nameViolations(name: DistinguishedName): readonly string[] {
  return name.flat().flatMap(({ type, value }) => {
    const known = attributeTypes.get(type)
    const called = `${known?.name ?? type} "${value.length > 80 ? `${value.slice(0, 80)}…` : value}"`
    const broken: string[] = []
    if (value === "") broken.push(`${called} is empty`)
    if (known?.maximum !== undefined && characterCount(value) > known.maximum)
      broken.push(`${called} is longer than ${known.maximum} characters`)
    if (type === oids.countryName && !/^[A-Za-z]{2}$/.test(value)) broken.push(`${called} is not two letters`)
    else if (known?.kind === "printable" && !isPrintableText(value))
      broken.push(`${called} has characters other than letters, digits, space and '()+,-./:=?`)
    else if (known?.kind === "ia5" && !isAscii(value)) broken.push(`${called} has characters outside ASCII`)
    if (value.includes("\0") || !value.isWellFormed())
      broken.push(`${called} contains characters that are not allowed in certificates`)
    return broken
  })
}

function characterCount(text: string): number {
  let count = 0
  for (const _character of text) count += 1
  return count
}

/** Formats as RFC 4514: `CN=example.com,O=Example,C=CH`, the most specific part first. */
export const formatName = (name: DistinguishedName): string =>
  name
    .toReversed()
    .map((attributes) => attributes.map(formatAttribute).join("+"))
    .join(",")

function formatAttribute({ type, value }: NameAttribute): string {
  const known = attributeTypes.get(type)
  // A type without a registered name has a value without a known syntax (RFC 4514, section 2.4).
  if (known === undefined) return `${type}=#${Buffer.from(encodeValue(type, value)).toString("hex")}`
  return `${known.short}=${escapeValue(value)}`
}

const escapeValue = (value: string): string =>
  value
    .replaceAll(/["+,;<>\\]|^[ #]| $/g, String.raw`\$&`)
    // Prevents names from breaking a log line.
    .replaceAll(/\p{Cc}/gu, escapeControl)

/** Escapes U+0000 to U+001F and U+007F to U+009F. From U+0080 on, UTF-8 has a leading octet 0xC2. */
const escapeControl = (control: string): string => {
  const point = control.charCodeAt(0)
  return `${point < 0x80 ? "" : String.raw`\c2`}\\${point.toString(16).padStart(2, "0")}`
}
