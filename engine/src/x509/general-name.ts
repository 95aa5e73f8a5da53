// GeneralName (RFC 5280, section 4.2.1.6).
import { DerReader } from "./asn1/reader.ts"
import { contextConstructed, contextPrimitive, tag } from "./asn1/tag.ts"
import { type Der, asciiText, context, objectIdentifier, primitive, utf8String } from "./asn1/writer.ts"
import { parseName } from "./name.ts"

export type GeneralName =
  /** ASCII: domain names as A-labels, mailboxes with such a domain, URIs percent-encoded. */
  | { readonly kind: "dns" | "email" | "uri"; readonly value: string }
  /** 4 or 16 octets. */
  | { readonly kind: "ip"; readonly octets: Uint8Array }
  /** Name, DER. */
  | { readonly kind: "directory"; readonly name: Uint8Array }
  | { readonly kind: "registered-id"; readonly oid: string }
  /** An otherName whose value is a UTF8String. */
  | { readonly kind: "other"; readonly oid: string; readonly value: string }
  /** Any other otherName. It is well-formed and is not interpreted. */
  | { readonly kind: "unsupported"; readonly der: Uint8Array }

const tags = {
  other: contextConstructed(0),
  email: contextPrimitive(1),
  dns: contextPrimitive(2),
  directory: contextConstructed(4),
  uri: contextPrimitive(6),
  ip: contextPrimitive(7),
  registeredId: contextPrimitive(8),
} as const

/** Throws `RangeError` for non-ASCII text in a DNS name, mailbox or URI. */
export function encodeGeneralName(name: GeneralName): Der {
  switch (name.kind) {
    case "dns":
    case "email":
    case "uri":
      return asciiText(tags[name.kind], name.value)
    case "ip":
      return primitive(tags.ip, name.octets)
    case "directory":
      return context(4, [name.name])
    case "registered-id":
      return primitive(tags.registeredId, objectIdentifier(name.oid).subarray(2))
    case "other":
      return context(0, [objectIdentifier(name.oid), context(0, [utf8String(name.value)])])
    default:
      return name.der
  }
}

export function readGeneralName(reader: DerReader, field: string): GeneralName {
  switch (reader.next) {
    case tags.dns:
      return { kind: "dns", value: reader.ia5(field, tags.dns) }
    case tags.email:
      return { kind: "email", value: reader.ia5(field, tags.email) }
    case tags.uri:
      return { kind: "uri", value: reader.ia5(field, tags.uri) }
    case tags.ip:
      return { kind: "ip", octets: readAddress(reader, field) }
    case tags.registeredId:
      return { kind: "registered-id", oid: reader.oid(field, tags.registeredId) }
    case tags.directory:
      return { kind: "directory", name: readDirectoryName(reader, field) }
    case tags.other:
      return readOtherName(reader, field)
    default:
      // An x400Address or an ediPartyName, which certificates have not had for decades, or not a GeneralName.
      return reader.refuse(field, "is not a supported GeneralName")
  }
}

/** Reads at least one name, as every extension with such a list requires. */
export function readGeneralNames(reader: DerReader, field: string): readonly GeneralName[] {
  if (reader.done) reader.refuse(field, "has no names")
  const names: GeneralName[] = []
  while (!reader.done) names.push(readGeneralName(reader, field))
  return names
}

function readAddress(reader: DerReader, field: string): Uint8Array {
  const octets = reader.content(tags.ip, field)
  return octets.length === 4 || octets.length === 16
    ? octets
    : reader.refuse(field, `has an IP address of ${octets.length} octets`)
}

/** The tag is explicit, because a Name is a CHOICE. */
function readDirectoryName(reader: DerReader, field: string): Uint8Array {
  const explicit = reader.enter(tags.directory, field)
  const name = explicit.whole(field, tag.sequence)
  explicit.finish(field)
  parseName(name, field)
  return name
}

function readOtherName(reader: DerReader, field: string): GeneralName {
  const der = reader.value(field, tags.other)
  const other = new DerReader(der, field).enter(tags.other, field)
  const oid = other.oid(field)
  const explicit = other.enter(contextConstructed(0), field)
  other.finish(field)
  if (explicit.next !== tag.utf8String) return { kind: "unsupported", der }
  const value = explicit.utf8(field)
  explicit.finish(field)
  return { kind: "other", oid, value }
}
