// Status of a serial number in a mount. If there is no record of it, the setting `ocsp_unknown_serials` decides between `good` and
// `unknown`: certificates of a role with `no_store` are not recorded before they are revoked.
import { memoizeByIdentity } from "../../core/memoize-by-identity.ts"
import type { IssuerId } from "../../core/ids.ts"
import { type CertificateId, type CertificateIdDigest, type CertificateStatus, issuerHashes } from "../../x509/ocsp.ts"
import { parseCertificate } from "../../x509/certificate.ts"
import { type SerialNumber, serialNumberOf } from "../../x509/serial-number.ts"
import { isSignedBy } from "../../x509/signature.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import type { MountSnapshot } from "../mounts/mount-snapshot.ts"
import type { PkiRepositories } from "../pki-context.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"

/** Issuers with the same name and key, which are one issuer to OCSP clients. */
export type IssuerGroup = readonly ParsedIssuer[]

/** Returns the issuers of the certificate in a request; undefined if they are not in the mount. */
export function issuersOf(snapshot: MountSnapshot, id: CertificateId): IssuerGroup | undefined {
  if (id.digest === undefined) return undefined
  return groupsBy[id.digest](snapshot).get(hashesText(id.issuerNameHash, id.issuerKeyHash))
}

const groupsOf = (digest: CertificateIdDigest) =>
  memoizeByIdentity(({ issuers }: MountSnapshot): ReadonlyMap<string, IssuerGroup> =>
    Map.groupBy(issuers, ({ parsed, publicKey }) => {
      const { nameHash, keyHash } = issuerHashes(digest, { name: parsed.subject, publicKeyBits: publicKey.octets })
      return hashesText(nameHash, keyHash)
    }),
  )

const groupsBy: Readonly<Record<CertificateIdDigest, (snapshot: MountSnapshot) => ReadonlyMap<string, IssuerGroup>>> = {
  sha1: groupsOf("sha1"),
  sha256: groupsOf("sha256"),
  sha384: groupsOf("sha384"),
  sha512: groupsOf("sha512"),
}

const hashesText = (nameHash: Uint8Array, keyHash: Uint8Array): string => `${text(nameHash)} ${text(keyHash)}`
const text = (octets: Uint8Array): string =>
  Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength).toString("base64")

/** Compares groups by their first member. Groups of different digests are different objects, but contain the same issuers. */
export const isSameGroup = (one: IssuerGroup, other: IssuerGroup | undefined): boolean => one[0] === other?.[0]

/** Returns the status of a certificate of these issuers, read in one transaction. */
export async function statusOf(
  snapshot: MountSnapshot,
  repositories: PkiRepositories,
  issuers: IssuerGroup,
  magnitude: Uint8Array,
): Promise<CertificateStatus> {
  const serialNumber = serialNumberOf(magnitude)
  if (serialNumber === undefined) return unknown
  const { id: mountId } = snapshot.mount
  const revocation = await repositories.revocations.find(mountId, serialNumber)
  const issuerId = revocation?.issuerId ?? (await repositories.certificates.issuerIdOf(mountId, serialNumber))
  const listedIssuer = issuerWithSerialNumber(snapshot, issuers, serialNumber)
  const isTheirs =
    listedIssuer !== undefined || (await isIssuedBy(snapshot, repositories, issuers, { serialNumber, issuerId }))
  const isUnrecorded = revocation === undefined && issuerId === undefined
  if (!isTheirs) return isUnrecorded && snapshot.settings.crl.ocspUnknownSerials === "good" ? good : unknown
  if (revocation !== undefined) return { kind: "revoked", at: revocation.revokedAt, reason: revocation.reason }
  // An issuer that was revoked in the mount is reported as revoked to clients that query its own issuer.
  if (listedIssuer !== undefined && listedIssuer.revokedAt !== null)
    return { kind: "revoked", at: listedIssuer.revokedAt, reason: "unspecified" }
  return good
}

const unknown: CertificateStatus = { kind: "unknown" }
const good: CertificateStatus = { kind: "good" }

/** Returns the issuer of the mount whose certificate has this serial number. */
const issuerWithSerialNumber = (
  snapshot: MountSnapshot,
  issuers: IssuerGroup,
  serialNumber: SerialNumber,
): ParsedIssuer | undefined =>
  issuersBySerialNumber(snapshot)
    .get(serialNumber)
    ?.find((one) => issuers.some((issuer) => one.isIssuedBy(issuer)))

const issuersBySerialNumber = memoizeByIdentity(({ issuers }: MountSnapshot) =>
  Map.groupBy(issuers, ({ parsed }) => serialNumberOf(parsed.serialNumber)),
)

interface StatusRequest {
  readonly serialNumber: SerialNumber
  /** Undefined if there is no record, null if the recorded issuer is not in the mount. */
  readonly issuerId: IssuerId | null | undefined
}

async function isIssuedBy(
  { issuers: all, mount }: MountSnapshot,
  { certificates }: PkiRepositories,
  issuers: IssuerGroup,
  { serialNumber, issuerId }: StatusRequest,
): Promise<boolean> {
  if (issuers.some(({ id }) => id === issuerId)) return true
  if (issuerId === undefined || all.some(({ id }) => id === issuerId)) return false
  // The recorded issuer may have been deleted and imported again. Its certificates still belong to it.
  const record = await certificates.find(mount.id, serialNumber)
  const [issuer] = issuers
  return record !== undefined && issuer !== undefined && isSignedByIssuer(record.certificate, issuer)
}

function isSignedByIssuer(der: Uint8Array, issuer: ParsedIssuer): boolean {
  const { issuer: name, tbsCertificate: data, signatureAlgorithm: algorithm, signature } = parseCertificate(der)
  if (Buffer.compare(name, issuer.parsed.subject) !== 0) return false
  try {
    return isSignedBy(issuer.publicKey, { data, algorithm, signature })
  } catch (error) {
    // The key is of another type, or the algorithm is not accepted.
    if (!(error instanceof UnacceptableInput)) throw error
    return false
  }
}
