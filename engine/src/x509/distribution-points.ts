// Locations of CRLs, OCSP servers and issuer certificates: CRLDistributionPoints, FreshestCRL and AuthorityInfoAccess (RFC 5280, sections
// 4.2.1.13, 4.2.1.15 and 4.2.2.1).
import { oids } from "./asn1/oids.ts"
import { DerReader } from "./asn1/reader.ts"
import { contextConstructed, contextPrimitive } from "./asn1/tag.ts"
import { type Der, context, encode, objectIdentifier, sequence } from "./asn1/writer.ts"
import type { Extension } from "./extension.ts"
import { type GeneralName, encodeGeneralName, readGeneralName, readGeneralNames } from "./general-name.ts"
import { readRelativeName } from "./name.ts"

/** URLs of one distribution point. All of them return the same CRL. */
export type DistributionPointUrls = readonly string[]

export const crlDistributionPoints = (points: readonly DistributionPointUrls[]): Extension => ({
  oid: oids.crlDistributionPoints,
  critical: false,
  value: encodePoints(points),
})

/** Location of the delta CRL, for certificates and for complete CRLs. */
export const freshestCrl = (points: readonly DistributionPointUrls[]): Extension => ({
  oid: oids.freshestCrl,
  critical: false,
  value: encodePoints(points),
})

const encodePoints = (points: readonly DistributionPointUrls[]): Uint8Array =>
  encode(sequence(points.map((urls) => sequence([distributionPointName(urls)]))))

/** `[0] EXPLICIT` around the CHOICE's `[0] fullName`, as in an IssuingDistributionPoint. */
const distributionPointName = (urls: DistributionPointUrls): Der =>
  context(0, [
    context(
      0,
      urls.map((value) => encodeGeneralName({ kind: "uri", value })),
    ),
  ])

/** Parses distribution points. A point without a URL is an empty list. Reasons and other issuers are ignored. */
export function parseCrlDistributionPoints(value: Uint8Array, document: string): readonly DistributionPointUrls[] {
  const reader = new DerReader(value, document)
  const list = reader.sequence(document)
  reader.finish(document)
  if (list.done) list.refuse(document, "is empty")
  const points: DistributionPointUrls[] = []
  while (!list.done) points.push(readPoint(list.sequence("distributionPoint")))
  return points
}

function readPoint(reader: DerReader): DistributionPointUrls {
  const name = reader.optional(0, "distributionPointName")
  const urls = name === undefined ? [] : readPointName(name)
  if (reader.next === contextPrimitive(1)) reader.namedBits("reasons", 9, contextPrimitive(1))
  const issuer = reader.optional(2, "cRLIssuer")
  if (issuer !== undefined) readGeneralNames(issuer, "cRLIssuer")
  if (name === undefined && issuer === undefined)
    reader.refuse("distributionPoint", "has neither a name nor a CRL issuer")
  reader.finish("distributionPoint")
  return urls
}

function readPointName(reader: DerReader): DistributionPointUrls {
  const fullName = reader.optional(0, "fullName")
  const names = fullName === undefined ? [] : readGeneralNames(fullName, "fullName")
  if (fullName === undefined) readRelativeName(reader, "nameRelativeToCRLIssuer", contextConstructed(1))
  reader.finish("distributionPointName")
  return urlsOf(names)
}

const urlsOf = (names: readonly GeneralName[]): readonly string[] =>
  names.flatMap((name) => (name.kind === "uri" ? [name.value] : []))

export interface AuthorityInfoAccess {
  readonly ocspServers: readonly string[]
  readonly issuingCertificates: readonly string[]
}

/** At least one of the lists must not be empty. */
export const authorityInfoAccess = ({ ocspServers, issuingCertificates }: AuthorityInfoAccess): Extension => ({
  oid: oids.authorityInfoAccess,
  critical: false,
  value: encode(
    sequence([
      ...ocspServers.map((url) => encodeAccess(oids.ocspAccess, url)),
      ...issuingCertificates.map((url) => encodeAccess(oids.caIssuersAccess, url)),
    ]),
  ),
})

const encodeAccess = (method: string, value: string): Der =>
  sequence([objectIdentifier(method), encodeGeneralName({ kind: "uri", value })])

/** Ignores other access methods, and locations that are not URLs. */
export function parseAuthorityInfoAccess(value: Uint8Array): AuthorityInfoAccess {
  const reader = new DerReader(value, "authorityInfoAccess")
  const list = reader.sequence("authorityInfoAccess")
  reader.finish("authorityInfoAccess")
  if (list.done) list.refuse("authorityInfoAccess", "is empty")
  const ocspServers: string[] = []
  const issuingCertificates: string[] = []
  while (!list.done) {
    const access = list.sequence("accessDescription")
    const method = access.oid("accessMethod")
    const urls = urlsOf([readGeneralName(access, "accessLocation")])
    access.finish("accessDescription")
    if (method === oids.ocspAccess) ocspServers.push(...urls)
    else if (method === oids.caIssuersAccess) issuingCertificates.push(...urls)
  }
  return { ocspServers, issuingCertificates }
}
