// NameConstraints (RFC 5280, section 4.2.1.10).
import { oids } from "./asn1/oids.ts"
import { DerReader } from "./asn1/reader.ts"
import { contextPrimitive } from "./asn1/tag.ts"
import { type Der, context, encode, primitive, sequence } from "./asn1/writer.ts"
import type { Extension } from "./extension.ts"
import { type GeneralName, encodeGeneralName, readGeneralName } from "./general-name.ts"

export type Subtree =
  /** Written as in the certificate: `.example.com` for subdomains of the host of a URI or mailbox, `example.com` for a domain. */
  | Exclude<GeneralName, { readonly kind: "ip" }>
  /** 4 or 16 octets, of which the first `prefixBits` bits count. */
  | { readonly kind: "ip"; readonly octets: Uint8Array; readonly prefixBits: number }

export interface NameConstraints {
  readonly permitted: readonly Subtree[]
  readonly excluded: readonly Subtree[]
}

/** Critical extension. At least one of the lists must not be empty. */
export const nameConstraints = ({ permitted, excluded }: NameConstraints): Extension => ({
  oid: oids.nameConstraints,
  critical: true,
  value: encode(
    sequence([
      ...(permitted.length === 0 ? [] : [context(0, permitted.map(encodeSubtree))]),
      ...(excluded.length === 0 ? [] : [context(1, excluded.map(encodeSubtree))]),
    ]),
  ),
})

export function parseNameConstraints(value: Uint8Array): NameConstraints {
  const reader = new DerReader(value, "nameConstraints")
  const constraints = reader.sequence("nameConstraints")
  reader.finish("nameConstraints")
  if (constraints.done) constraints.refuse("nameConstraints", "has neither permitted nor excluded subtrees")
  const permitted = readSubtrees(constraints.optional(0, "permittedSubtrees"), "permittedSubtrees")
  const excluded = readSubtrees(constraints.optional(1, "excludedSubtrees"), "excludedSubtrees")
  constraints.finish("nameConstraints")
  return { permitted, excluded }
}

/** The minimum is its default, zero, and the maximum is absent, as the profile requires. */
const encodeSubtree = (subtree: Subtree): Der =>
  sequence([
    subtree.kind === "ip"
      ? primitive(contextPrimitive(7), encodeRange(subtree.octets, subtree.prefixBits))
      : encodeGeneralName(subtree),
  ])

function readSubtrees(list: DerReader | undefined, field: string): readonly Subtree[] {
  if (list === undefined) return []
  if (list.done) list.refuse(field, "is empty")
  const subtrees: Subtree[] = []
  while (!list.done) {
    const subtree = list.sequence(field)
    subtrees.push(readSubtree(subtree, field))
    // Further elements would be a minimum or a maximum, which the profile does not allow.
    subtree.finish(field)
  }
  return subtrees
}

function readSubtree(reader: DerReader, field: string): Subtree {
  if (reader.next !== contextPrimitive(7)) {
    const name = readGeneralName(reader, field)
    return name.kind === "ip" ? reader.refuse(field, "has an IP address instead of a range") : name
  }
  const content = reader.content(contextPrimitive(7), field)
  const half = content.length / 2
  if (half !== 4 && half !== 16) reader.refuse(field, `has an IP range of ${content.length} octets`)
  const prefixBits = maskBits(content.subarray(half))
  if (prefixBits === undefined) reader.refuse(field, "has an IP range whose mask is not contiguous")
  return { kind: "ip", octets: content.subarray(0, half), prefixBits }
}

/** Encodes address and mask in the style of RFC 4632. Bits beyond the prefix are zero. */
function encodeRange(octets: Uint8Array, prefixBits: number): Uint8Array {
  const content = new Uint8Array(octets.length * 2)
  for (const [at, octet] of octets.entries()) {
    const bits = Math.min(8, Math.max(0, prefixBits - at * 8))
    const mask = 0xff & ~(0xff >> bits)
    content[at] = octet & mask
    content[octets.length + at] = mask
  }
  return content
}

function maskBits(mask: Uint8Array): number | undefined {
  const bits = mask.reduce((text, octet) => text + octet.toString(2).padStart(8, "0"), "")
  const ones = bits.indexOf("0")
  return bits.includes("01") ? undefined : ones === -1 ? bits.length : ones
}
