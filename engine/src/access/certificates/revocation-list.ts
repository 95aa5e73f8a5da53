// Lists of revoked certificates that an operator stored for an auth method, and how they apply to a path.
import type { Instant } from "../../core/time.ts"
import { oids } from "../../x509/asn1/oids.ts"
import { DerReader } from "../../x509/asn1/reader.ts"
import { contextConstructed, contextPrimitive } from "../../x509/asn1/tag.ts"
import { type CertificateList, parseCertificateList } from "../../x509/certificate-list.ts"
import { findExtension } from "../../x509/extension.ts"
import { sameName } from "../../x509/name.ts"
import { readPem } from "../../x509/pem.ts"
import { isSignedBy } from "../../x509/signature.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import type { CertificationPath, PathCertificate } from "./certification-path.ts"

/** About 80,000 entries in PEM. */
export const maxRevocationListBytes = 4 * 1_024 * 1_024

export interface RevocationList {
  readonly name: string
  readonly list: CertificateList
  /** Serial numbers in hex, without leading zeros. */
  readonly serialNumbers: ReadonlySet<string>
}

/** Parses PEM, or DER. Throws `UnacceptableInput` for anything but a complete list of one issuer. */
export function readRevocationList(name: string, bytes: Uint8Array): RevocationList {
  const list = parseCertificateList(derIn(bytes))
  if (findExtension(list.extensions, oids.deltaCrlIndicator) !== undefined)
    throw new UnacceptableInput("it is a delta CRL; a complete one is required")
  const scope = findExtension(list.extensions, oids.issuingDistributionPoint)
  if (scope !== undefined && isIndirect(scope.value))
    throw new UnacceptableInput("it is an indirect CRL, or one of only some reasons")
  const unknown = list.extensions.find(
    ({ oid, critical }) => critical && oid !== oids.issuingDistributionPoint && oid !== oids.authorityKeyIdentifier,
  )
  if (unknown !== undefined) throw new UnacceptableInput(`its critical extension ${unknown.oid} is not supported`)
  const strange = list.entries
    .flatMap(({ extensions }) => extensions)
    .find(({ oid, critical }) => critical && oid !== oids.crlReason)
  if (strange !== undefined)
    throw new UnacceptableInput(`the critical extension ${strange.oid} of an entry is not supported`)
  return { name, list, serialNumbers: new Set(list.entries.map(({ serialNumber }) => serialKey(serialNumber))) }
}

function derIn(bytes: Uint8Array): Uint8Array {
  if (bytes[0] === 0x30) return bytes
  const [block, ...others] = readPem(Buffer.from(bytes).toString("latin1"), maxRevocationListBytes)
  if (block?.label !== "X509 CRL" || others.length > 0)
    throw new UnacceptableInput("one PEM block with the label X509 CRL is required")
  return block.bytes
}

/** Returns true for a list of other issuers (4), of attribute certificates (5), or of some reasons (3). RFC 5280, section 5.2.5. */
function isIndirect(value: Uint8Array): boolean {
  const reader = new DerReader(value, "issuingDistributionPoint").sequence("issuingDistributionPoint")
  while (!reader.done) {
    if ([contextPrimitive(3), contextPrimitive(4), contextPrimitive(5)].includes(reader.next ?? 0)) return true
    if (reader.next === contextConstructed(0)) reader.enter(contextConstructed(0), "distributionPoint")
    else reader.value("issuingDistributionPoint")
  }
  return false
}

const serialKey = (serialNumber: Uint8Array): string => Buffer.from(serialNumber).toString("hex").replace(/^0+/, "")

/** Serial numbers in decimal, as Vault lists them. */
export const decimalSerials = ({ serialNumbers }: RevocationList): readonly string[] =>
  [...serialNumbers].map((hex) => BigInt(`0x0${hex}`).toString())

/** Returns true if one of the certificates of a path is of the issuer of the list. */
export const concerns = (issuer: Uint8Array, path: CertificationPath): boolean =>
  path.some(({ certificate }) => sameName(certificate.issuer, issuer))

/**
 * Returns why the lists do not allow a path. Lists apply to the certificates of their issuer. If none of these lists is signed by the
 * issuer of the path, the path is not allowed: the status is unknown. The issuer of a leaf that is trusted itself is not known.
 */
export function revocationProblem(path: CertificationPath, lists: readonly RevocationList[]): string | undefined {
  for (const [at, one] of path.entries()) {
    const issuer = path[at + 1]
    const isAnchor = issuer === undefined && path.length > 1
    const ofIssuer = isAnchor ? [] : lists.filter(({ list }) => sameName(list.issuer, one.certificate.issuer))
    const applying = issuer === undefined ? ofIssuer : ofIssuer.filter((list) => isSigned(list, issuer))
    if (applying.length === 0 && ofIssuer.length > 0)
      return `no CRL of its issuer is signed by it (${ofIssuer.map(({ name }) => name).join(", ")})`
    const serial = serialKey(one.certificate.serialNumber)
    const revoking = applying.find(({ serialNumbers }) => serialNumbers.has(serial))
    if (revoking !== undefined) return `certificate ${serial} is revoked by the CRL ${revoking.name}`
  }
  return undefined
}

function isSigned({ list }: RevocationList, issuer: PathCertificate): boolean {
  const { tbs: data, signatureAlgorithm: algorithm, signature } = list
  const { keyUsage } = issuer.values
  if (keyUsage !== undefined && !keyUsage.includes("cRLSign")) return false
  try {
    return isSignedBy(issuer.publicKey, { data, algorithm, signature })
  } catch (error) {
    if (error instanceof UnacceptableInput) return false
    throw error
  }
}

/** A list without nextUpdate is fetched again after an hour. */
const defaultValidityMs = 60 * 60_000

/** Returns the time at which a list that was fetched from a URL must be fetched again. */
export const refreshTimeOf = (nextUpdate: Instant | null, fetchedAt: Instant): Instant =>
  nextUpdate ?? fetchedAt + defaultValidityMs
