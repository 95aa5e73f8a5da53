// What a mount knows about a serial number. Without a record of it the setting `ocsp_unknown_serials` decides between `good` and
// `unknown`: a certificate of a role with `no_store` is not recorded before it is revoked.
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

/** Issuers with one name and one key: to a client they are one. */
export type IssuerGroup = readonly ParsedIssuer[]

/** Whose certificate is asked about; undefined for an issuer that is not in the mount. */
export function issuersMeant(snapshot: MountSnapshot, id: CertificateId): IssuerGroup | undefined {
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

/** Each digest has groups of its own, but none divides the issuers in another way. */
export const isSameGroup = (one: IssuerGroup, other: IssuerGroup | undefined): boolean => one[0] === other?.[0]

/** Of a certificate of these issuers, from a snapshot. */
export async function statusOf(
  snapshot: MountSnapshot,
  stores: PkiRepositories,
  issuers: IssuerGroup,
  magnitude: Uint8Array,
): Promise<CertificateStatus> {
  const serialNumber = serialNumberOf(magnitude)
  if (serialNumber === undefined) return unknown
  const { id: mountId } = snapshot.mount
  const revocation = await stores.revocations.find(mountId, serialNumber)
  const issuerId = revocation?.issuerId ?? (await stores.certificates.issuerIdOf(mountId, serialNumber))
  const held = heldAs(snapshot, issuers, serialNumber)
  const isTheirs = held !== undefined || (await isIssuedBy(snapshot, stores, issuers, { serialNumber, issuerId }))
  const isUnrecorded = revocation === undefined && issuerId === undefined
  if (!isTheirs) return isUnrecorded && snapshot.settings.crl.ocspUnknownSerials === "good" ? good : unknown
  if (revocation !== undefined) return { kind: "revoked", at: revocation.revokedAt, reason: revocation.reason }
  // An issuer that was revoked in the mount is revoked to whoever asks its own issuer.
  if (held !== undefined && held.revokedAt !== null)
    return { kind: "revoked", at: held.revokedAt, reason: "unspecified" }
  return good
}

const unknown: CertificateStatus = { kind: "unknown" }
const good: CertificateStatus = { kind: "good" }

/** The issuer in the mount whose certificate it is. */
const heldAs = (snapshot: MountSnapshot, issuers: IssuerGroup, serialNumber: SerialNumber): ParsedIssuer | undefined =>
  issuersBySerialNumber(snapshot)
    .get(serialNumber)
    ?.find((one) => issuers.some((issuer) => one.isIssuedBy(issuer)))

const issuersBySerialNumber = memoizeByIdentity(({ issuers }: MountSnapshot) =>
  Map.groupBy(issuers, ({ parsed }) => serialNumberOf(parsed.serialNumber)),
)

interface Asked {
  readonly serialNumber: SerialNumber
  /** Undefined where nothing is on record, null where no issuer of the mount is. */
  readonly issuerId: IssuerId | null | undefined
}

async function isIssuedBy(
  { issuers: all, mount }: MountSnapshot,
  { certificates }: PkiRepositories,
  issuers: IssuerGroup,
  { serialNumber, issuerId }: Asked,
): Promise<boolean> {
  if (issuers.some(({ id }) => id === issuerId)) return true
  if (issuerId === undefined || all.some(({ id }) => id === issuerId)) return false
  // Issuers are deleted and imported again, and what they signed is theirs all the same.
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
    // Another kind of key, or an algorithm that proves nothing.
    if (!(error instanceof UnacceptableInput)) throw error
    return false
  }
}
