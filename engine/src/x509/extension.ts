// Encoding common to all extensions (RFC 5280, section 4.1.2.9).
import type { DerReader } from "./asn1/reader.ts"
import { type Der, derTrue, objectIdentifier, octetString, sequence } from "./asn1/writer.ts"

export interface Extension {
  /** Dotted object identifier. */
  readonly oid: string
  readonly critical: boolean
  /** DER inside the OCTET STRING. */
  readonly value: Uint8Array
}

export const findExtension = (extensions: readonly Extension[], oid: string): Extension | undefined =>
  extensions.find((extension) => extension.oid === oid)

export const encodeExtensions = (extensions: readonly Extension[]): Der => sequence(extensions.map(encodeExtension))

const encodeExtension = ({ oid, critical, value }: Extension): Der =>
  sequence(
    critical ? [objectIdentifier(oid), derTrue, octetString(value)] : [objectIdentifier(oid), octetString(value)],
  )

/** Reads at least one extension. Throws if one occurs twice (RFC 5280, section 4.2). Does not parse the values. */
export function readExtensions(reader: DerReader, field: string): readonly Extension[] {
  const list = reader.sequence(field)
  if (list.done) list.refuse(field, "is empty")
  const extensions: Extension[] = []
  const seen = new Set<string>()
  while (!list.done) {
    const extension = list.sequence("extension")
    const oid = extension.oid("extnID")
    if (seen.has(oid)) extension.refuse(`extension ${oid}`, "occurs twice")
    seen.add(oid)
    const critical = extension.flag("critical")
    const value = extension.octetString("extnValue")
    extension.finish("extension")
    extensions.push({ oid, critical, value })
  }
  return extensions
}
