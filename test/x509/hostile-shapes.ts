// Certificates and CSRs of 64 KiB, the maximum that is parsed, each with an excessive amount of one element.
import { oids } from "../../engine/src/x509/asn1/oids.ts"
import { tag } from "../../engine/src/x509/asn1/tag.ts"
import {
  type Der,
  context,
  derNull,
  encode,
  integer,
  objectIdentifier,
  octetString,
  primitive,
  sequence,
  setOf,
  time,
  tree,
  utf8String,
} from "../../engine/src/x509/asn1/writer.ts"
import { encodeExtensions } from "../../engine/src/x509/extension.ts"
import { encodeName } from "../../engine/src/x509/name.ts"

const maxOctets = 65_536

/** Leaves room for the rest of the document. */
const room = maxOctets - 400

const algorithm = encode(sequence([objectIdentifier(oids.ed25519)]))
const key: Der = sequence([algorithm, primitive(3, new Uint8Array(33))])
const name = encodeName([[{ type: oids.commonName, value: "a" }]])

interface Parts {
  readonly serialNumber?: Der
  readonly name?: Der
  readonly algorithm?: Der
  readonly key?: Der
  readonly extensions?: Der
}

const defaultExtensions = encodeExtensions([{ oid: "1.2.3", critical: false, value: derNull }])

function certificate({ serialNumber = integer(1), extensions = defaultExtensions, ...rest }: Parts): Uint8Array {
  const names = rest.name ?? name
  const alg = rest.algorithm ?? algorithm
  const validity = sequence([time(0), time(0)])
  const parts = [context(0, [integer(2)]), serialNumber, alg, names, validity, name, rest.key ?? key]
  return encode(sequence([sequence([...parts, context(3, [extensions])]), alg, primitive(3, [0, 1])]))
}

function request({ extensions = defaultExtensions, ...rest }: Parts): Uint8Array {
  const attribute = sequence([objectIdentifier(oids.extensionRequest), setOf([extensions])])
  const info = sequence([integer(0), rest.name ?? name, rest.key ?? key, context(0, [attribute])])
  return encode(sequence([info, rest.algorithm ?? algorithm, primitive(3, [0, 1])]))
}

const extension = (oid: string, value: Der): Der => encodeExtensions([{ oid, critical: false, value: encode(value) }])

/** Returns as many elements as fit. */
function many(one: (at: number) => Der, limit = room): Der[] {
  const list: Der[] = []
  for (let length = 0, at = 0; ; at += 1) {
    const next = encode(one(at))
    length += next.length
    if (length > limit) return list
    list.push(next)
  }
}

/** Returns values nested thousands deep, with correct headers. */
function nested(identifier: number, limit: number): Uint8Array {
  let inner = encode(derNull)
  while (inner.length + 4 <= limit) inner = encode(tree(identifier, [inner]))
  return inner
}

type Document = "certificate" | "request"

export interface HostileShape {
  /** The element of which there is too much. */
  readonly what: string
  readonly document: Document
  readonly der: Uint8Array
  readonly isRefused: boolean
}

const both: readonly Document[] = ["certificate", "request"]

export function hostileShapes(): readonly HostileShape[] {
  const wholes: Readonly<Record<string, Uint8Array>> = {
    zeros: new Uint8Array(maxOctets),
    ones: new Uint8Array(maxOctets).fill(0xff),
    "SEQUENCEs in each other": nested(0x30, room),
    "indefinite lengths": Uint8Array.from({ length: maxOctets }, (_, at) => (at % 2 === 0 ? 0x30 : 0x80)),
  }
  const parts: readonly (readonly [what: string, refusedIn: readonly Document[], parts: Parts])[] = [
    ["serial number", [], { serialNumber: integer((1n << BigInt(room * 8 - 8)) - 1n) }],
    ["relative names", [], { name: sequence(many(() => setOf([emptyAttribute]))) }],
    ["attributes of one relative name", [], { name: sequence([setOf(many(() => emptyAttribute))]) }],
    ["letters of a name", [], { name: encodeName([[{ type: oids.commonName, value: "é".repeat(room / 2) }]]) }],
    [
      "characters of a BMPString",
      [],
      { name: sequence([setOf([sequence([oid, primitive(tag.bmpString, new Uint8Array(room).fill(0x41))])])]) },
    ],
    [
      "octets of an identifier",
      both,
      { algorithm: sequence([primitive(tag.objectIdentifier, new Uint8Array(room / 2).fill(0xff))]) },
    ],
    ["arcs of identifiers", [], { extensions: extension(oids.extendedKeyUsage, sequence(many(() => longIdentifier))) }],
    ["parameters in each other", both, { algorithm: sequence([oid, nested(tag.sequence, room / 2)]) }],
    ["parameters", [], { algorithm: sequence([oid, sequence(many(() => derNull, room / 2))]) }],
    ["octets of a key", [], { key: sequence([algorithm, primitive(tag.bitString, new Uint8Array(room))]) }],
    [
      "extensions",
      [],
      { extensions: sequence(many((at) => sequence([objectIdentifier(`1.2.${at}`), octetString(derNull)]))) },
    ],
    ["one extension", both, { extensions: sequence(many(() => sequence([oid, octetString(derNull)]))) }],
    ["names", [], { extensions: altName(many(() => primitive(0x82, [0x61]))) }],
    ["directory names", [], { extensions: altName(many(() => context(4, [name]))) }],
    ["otherNames", [], { extensions: altName(many(() => context(0, [oid, context(0, [utf8String("é")])]))) }],
    [
      "values in each other",
      both,
      { extensions: altName([context(0, [oid, context(0, [nested(tag.sequence, room)])])]) },
    ],
    [
      "subtrees",
      [],
      {
        extensions: extension(
          oids.nameConstraints,
          sequence([
            context(
              0,
              many(() => sequence([tenSlashEight])),
            ),
          ]),
        ),
      },
    ],
    [
      "policies",
      [],
      {
        extensions: extension(
          oids.certificatePolicies,
          sequence(many((at) => sequence([objectIdentifier(`1.2.${at}`)]))),
        ),
      },
    ],
    ["distribution points", [], { extensions: extension(oids.crlDistributionPoints, sequence(many(() => point))) }],
    [
      "key usages",
      both,
      { extensions: extension(oids.keyUsage, primitive(tag.bitString, new Uint8Array(room).fill(1))) },
    ],
    [
      "path length",
      both,
      { extensions: extension(oids.basicConstraints, sequence([integer(1n << BigInt(room * 8 - 8))])) },
    ],
    // The contents of unknown extensions are checked in CSRs, but not in certificates, which another CA signed.
    ["depth of an extension nobody knows", ["request"], { extensions: extension("1.2.3", nested(0xa0, room)) }],
    ["width of an extension nobody knows", [], { extensions: extension("1.2.3", sequence(many(() => sequence([])))) }],
  ]
  return [
    ...Object.entries(wholes).flatMap(([what, der]) =>
      both.map((document) => ({ what, document, der, isRefused: true })),
    ),
    ...parts.flatMap(([what, refusedIn, rest]) =>
      documentsOf(rest).map((document) => {
        const der = document === "certificate" ? certificate(rest) : request(rest)
        return { what, document, der, isRefused: refusedIn.includes(document) }
      }),
    ),
  ]
}

const documentsOf = (parts: Parts): readonly Document[] => (parts.serialNumber === undefined ? both : ["certificate"])

const oid = objectIdentifier("1.2.3")
const emptyAttribute = encode(sequence([objectIdentifier("0.0"), utf8String("")]))
const longIdentifier = primitive(tag.objectIdentifier, [0x2a, ...Array.from({ length: 100 }, () => 0xff), 0x7f])
const tenSlashEight = primitive(0x87, [10, 0, 0, 0, 255, 0, 0, 0])
const point = encode(sequence([context(0, [context(0, [primitive(0x86, [0x61])])])]))
const altName = (names: readonly Der[]): Der => extension(oids.subjectAltName, sequence(names))
