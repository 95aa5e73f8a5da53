// Imported certificates and private keys in PEM, in any order. All of them are checked before any is stored, because an unreadable
// issuer would make its whole mount unusable.
import { type Fault, invalid } from "../../core/errors.ts"
import type { IssuerId, KeyId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import { type Certificate, parseCertificate } from "../../x509/certificate.ts"
import { readCertificatesOnly } from "../../x509/certificates-only.ts"
import { type ExtensionValues, parseExtensionValues } from "../../x509/extensions.ts"
import { formatName, sameName } from "../../x509/name.ts"
import { type PemBlock, readPem } from "../../x509/pem.ts"
import { isPrivateKeyLabel, type PrivateKey, readPrivateKeyBlock } from "../../x509/private-key.ts"
import { type PublicKey, readPublicKey } from "../../x509/public-key.ts"
import { serialNumberOf } from "../../x509/serial-number.ts"
import { readSignatureAlgorithm } from "../../x509/signature-algorithm.ts"
import { isSignedBy } from "../../x509/signature.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import { assertStrongKey } from "../../x509/weak-rsa.ts"
import type { CertificateRecord } from "../issuance/certificate.ts"
import { namesOf } from "../issuance/leaf.ts"
import type { CaKey } from "../keys/key.ts"
import type { MountSnapshot } from "../mounts/mount-snapshot.ts"
import { createdAfter } from "../mounts/mount.ts"
import { afterKeyImported, saveChanged } from "../ocsp/unknown-serials.ts"
import type { PkiRepositories } from "../pki-context.ts"
import { shown } from "../policy/violation.ts"
import { listRevokedIssuer } from "../revocation/record-revocation.ts"
import { type DefaultsAfter, defaultsAfter, saveDefaults } from "./default-issuer.ts"
import type { ImportedBundle } from "./issuer-api.ts"
import { asRevoked, knownRevocation } from "./issuer-settings.ts"
import { certifiableUsages, defaultIssuerSettings, type Issuer } from "./issuer.ts"
import { issuerValues, type ParsedIssuer, parseIssuer } from "./parsed-issuer.ts"

export interface Bundle {
  /** Certificates without duplicates, in the order of the text. */
  readonly certificates: readonly BundledCertificate[]
  readonly keys: readonly PrivateKey[]
}

export interface BundledCertificate {
  /** DER. */
  readonly der: Uint8Array
  readonly parsed: Certificate
  readonly publicKey: PublicKey
  readonly values: ExtensionValues
}

const maxLength = 1_024 * 1_024
/** Minimum length of the text. A certificate in PEM is never shorter, but a file path passed by mistake usually is. */
const minLength = 75
/** Maximum number of certificates. A chain has a few; checking a certificate or a key on P-521 takes two milliseconds. */
const maxCertificates = 32
const maxKeys = 16

/** Parses a bundle. Throws `invalid` with one fault for each block that is not acceptable. */
export function readBundle(pem: string, { keysAllowed }: { readonly keysAllowed: boolean }): Bundle {
  if (pem.trim() === "") throw refused("'pem_bundle' and 'certificate' parameters were empty")
  if (pem.length < minLength)
    throw refused(
      "provided data for import was too short; perhaps a path was passed to the API rather than the contents of a PEM file",
    )
  const blocks = blocksOf(pem)
  const keyCount = blocks.filter(isKey).length
  if (!keysAllowed && keyCount > 0)
    throw refused("private keys found in the PEM bundle but not allowed by the path; use /issuers/import/bundle")
  rejectMany("private keys", keyCount, maxKeys)
  rejectMany("certificates", blocks.length - keyCount, maxCertificates)
  rejectMany("PKCS #7 blocks", blocks.filter(({ label }) => bundleLabels.includes(label)).length, 1)
  const certificates = new Map<string, BundledCertificate>()
  const keys = new Map<string, PrivateKey>()
  const faults: Fault[] = []
  for (const [index, block] of blocks.entries()) {
    try {
      if (isKey(block)) {
        const key = readStrongKey(block)
        keys.set(hex(key.publicKey.spki), key)
      } else for (const der of certificatesIn(block)) certificates.set(hex(der), readAuthority(der))
    } catch (error) {
      if (!(error instanceof UnacceptableInput)) throw error
      faults.push(faultOf(`PEM block ${index + 1} (${block.label}): ${error.message}`))
    }
  }
  if (faults.length > 0) throw invalid(faults)
  return { certificates: [...certificates.values()], keys: [...keys.values()] }
}

/** Reads a text that contains exactly one private key and nothing else. Throws `invalid` otherwise. */
export function readKeyAlone(pem: string): PrivateKey {
  if (pem.trim() === "") throw refused("'pem_bundle' parameter was empty")
  const [block, ...others] = blocksOf(pem)
  if (block === undefined || !isKey(block) || others.length > 0)
    throw refused("pem_bundle must contain exactly one private key and nothing else")
  try {
    return readStrongKey(block)
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    throw refused(error.message)
  }
}

function readStrongKey(block: PemBlock): PrivateKey {
  const key = readPrivateKeyBlock(block)
  assertStrongKey(key.publicKey)
  return key
}

const isKey = ({ label }: PemBlock): boolean => isPrivateKeyLabel(label)

function rejectMany(what: string, count: number, maxCount: number): void {
  if (count > maxCount) throw refused(`the bundle has ${count} ${what}; at most ${maxCount} can be imported at once`)
}

const faultOf = (detail: string): Fault => ({ field: ["pemBundle"], detail })
const refused = (detail: string) => invalid([faultOf(detail)])
const hex = (octets: Uint8Array): string => Buffer.from(octets).toString("hex")

const certificateLabels: readonly string[] = ["CERTIFICATE", "X509 CERTIFICATE"]
const bundleLabels: readonly string[] = ["PKCS7", "CMS", "PKCS #7 SIGNED DATA"]

function blocksOf(pem: string): readonly PemBlock[] {
  let blocks: readonly PemBlock[]
  try {
    blocks = readPem(pem, maxLength)
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    throw refused(error.message)
  }
  // OpenSSL writes EC parameters before keys. They are redundant, because the keys name their curve.
  const relevant = blocks.filter(({ label }) => label !== "EC PARAMETERS")
  if (relevant.length === 0) throw refused("no PEM block was found in the data for import")
  return relevant
}

/** Returns the certificate of a block, or the certificates of a PKCS #7 bundle, which other CAs deliver. */
function certificatesIn({ label, bytes }: PemBlock): readonly Uint8Array[] {
  if (certificateLabels.includes(label)) return [bytes]
  if (!bundleLabels.includes(label)) throw new UnacceptableInput("only certificates and private keys can be imported")
  const found = readCertificatesOnly(bytes)
  if (found.length === 0) throw new UnacceptableInput("it contains no certificates")
  return found
}

function readAuthority(bytes: Uint8Array): BundledCertificate {
  const certificate = parseCertificate(bytes)
  const named = `the certificate of "${shown(formatName(certificate.subjectName))}"`
  const values = parseExtensionValues(certificate.extensions)
  if (certificate.version !== 3 || values.basicConstraints?.isCa !== true)
    throw new UnacceptableInput(`${named} is not a CA certificate`)
  if (certificate.subjectName.length === 0) throw new UnacceptableInput("a CA certificate must have a subject")
  const publicKey = assertStrongKey(readPublicKey(certificate.subjectPublicKeyInfo))
  // A certificate with a broken signature algorithm may be forged, even if its issuer is trusted.
  const { signatureAlgorithm: algorithm, tbsCertificate: data, signature } = certificate
  readSignatureAlgorithm(algorithm)
  const claimsItself =
    sameName(certificate.issuer, certificate.subject) &&
    hasOwnIdentifier(values) &&
    isOwnAlgorithm(publicKey, algorithm)
  if (claimsItself && !isSignedBy(publicKey, { data, algorithm, signature }))
    throw new UnacceptableInput(`${named} is self-signed, but its signature does not verify`)
  return { der: bytes, parsed: certificate, publicKey, values }
}

/**
 * Returns true if the two key identifiers are equal. A certificate without them that names itself as issuer may be signed by an
 * older key of that name.
 */
function hasOwnIdentifier({ subjectKeyIdentifier: own, authorityKeyIdentifier }: ExtensionValues): boolean {
  const issuers = authorityKeyIdentifier?.keyIdentifier
  return own !== undefined && issuers !== undefined && Buffer.compare(own, issuers) === 0
}

const isOwnAlgorithm = ({ algorithm }: PublicKey, identifier: Uint8Array): boolean =>
  readSignatureAlgorithm(identifier).scheme.keyType === algorithm.type

// Plan of an import. It is a pure function of mount and bundle, so that the transaction that stores it can run again.

export interface ImportPlan {
  readonly newKeys: readonly NewKey[]
  readonly newIssuers: readonly Issuer[]
  /** Issuers of the mount whose key was imported. */
  readonly completedIssuers: readonly Issuer[]
  /** Certificates of the new issuers, recorded like those that the mount issues. */
  readonly records: readonly CertificateRecord[]
  readonly defaults: DefaultsAfter
  readonly result: ImportedBundle
}

export interface NewKey {
  readonly key: CaKey
  readonly privateKey: PrivateKey
}

export interface ImportTerms {
  readonly now: Instant
  readonly newIssuerId: () => IssuerId
  readonly newKeyId: () => KeyId
  /** Name of the imported key if it is a single one. Null: no name. */
  readonly keyName?: string | null
}

export function planImport(snapshot: MountSnapshot, { certificates, keys }: Bundle, terms: ImportTerms): ImportPlan {
  const { now, newIssuerId, newKeyId, keyName = null } = terms
  const mountId = snapshot.mount.id
  const known = new Map([...snapshot.keys.values()].map((key) => [toHex(key.publicKey), key]))
  const newKeys: NewKey[] = []
  const existingKeys: KeyId[] = []
  for (const privateKey of keys) {
    const publicKey = privateKey.publicKey.spki
    const key = known.get(toHex(publicKey))
    if (key === undefined) {
      const createdAt = createdAfter(known.values(), now)
      const added = { id: newKeyId(), mountId, name: keyName, publicKey, createdAt }
      known.set(toHex(publicKey), added)
      newKeys.push({ key: added, privateKey })
    } else existingKeys.push(key.id)
  }
  const keyFor = (publicKey: Uint8Array): KeyId | null => known.get(toHex(publicKey))?.id ?? null

  const newIssuers: Issuer[] = []
  const existingIssuers: IssuerId[] = []
  for (const certificate of certificates) {
    const found = snapshot.issuers.find((issuer) => Buffer.compare(issuer.certificate, certificate.der) === 0)
    if (found === undefined) {
      const createdAt = createdAfter([...snapshot.issuers, ...newIssuers], now)
      newIssuers.push(issuerOf(certificate, { id: newIssuerId(), mountId, createdAt, keyFor }))
    } else existingIssuers.push(found.id)
  }
  const completedIssuers: Issuer[] = snapshot.issuers
    .filter(({ keyId }) => keyId === null)
    .map((issuer) => ({ ...issuerValues(issuer), keyId: keyFor(issuer.parsed.subjectPublicKeyInfo) }))
    .filter(({ keyId }) => keyId !== null)

  const added = [...newIssuers, ...completedIssuers]
  const defaults = defaultsAfter(
    snapshot.settings,
    added,
    newKeys.map(({ key }) => key.id),
  )
  const all = new Map<IssuerId, KeyId | null>([
    ...snapshot.issuers.map(({ id, keyId }) => [id, keyId] as const),
    ...added.map(({ id, keyId }) => [id, keyId] as const),
  ])
  const allIssuers = [...snapshot.issuers, ...newIssuers.map(parseIssuer)]
  const mentioned = [...newIssuers.map(({ id }) => id), ...existingIssuers]
  return {
    newKeys,
    newIssuers,
    completedIssuers,
    records: allIssuers.slice(snapshot.issuers.length).flatMap((issuer) => recordOf(issuer, allIssuers)),
    defaults,
    result: {
      importedIssuers: newIssuers.map(({ id }) => id),
      importedKeys: newKeys.map(({ key }) => key.id),
      existingIssuers,
      existingKeys,
      mapping: new Map(mentioned.map((id) => [id, all.get(id) ?? null])),
      warnings: [...newIssuers.flatMap((issuer) => warningsAbout(issuer, certificates, now)), ...defaults.warnings],
    },
  }
}

const toHex = (octets: Uint8Array): string => Buffer.from(octets).toString("hex")

interface NewIssuer extends Pick<Issuer, "id" | "mountId" | "createdAt"> {
  readonly keyFor: (publicKey: Uint8Array) => KeyId | null
}

const issuerOf = ({ der, publicKey, values }: BundledCertificate, { keyFor, ...identity }: NewIssuer): Issuer => ({
  ...identity,
  name: null,
  keyId: keyFor(publicKey.spki),
  certificate: der,
  settings: { ...defaultIssuerSettings, usage: certifiableUsages(values) },
  revokedAt: null,
})

/**
 * Returns the record of the certificate. Returns none for a serial number that a CA must not use, such as zero: clients could not
 * query it either.
 */
function recordOf(issuer: ParsedIssuer, allIssuers: readonly ParsedIssuer[]): readonly CertificateRecord[] {
  const { mountId, certificate, parsed, values } = issuer
  const serialNumber = serialNumberOf(parsed.serialNumber)
  if (serialNumber === undefined) return []
  const parent = allIssuers.find((other) => issuer.isIssuedBy(other))
  const record: CertificateRecord = {
    mountId,
    serialNumber,
    certificate,
    issuerId: parent?.id ?? null,
    role: null,
    ...namesOf({ subject: parsed.subjectName, subjectAltName: values.subjectAltName ?? [] }),
    notBefore: parsed.notBefore,
    notAfter: parsed.notAfter,
  }
  return [record]
}

function warningsAbout(
  { id, keyId, certificate, settings }: Issuer,
  certificates: readonly BundledCertificate[],
  now: Instant,
): string[] {
  const warnings: string[] = []
  if (keyId === null) warnings.push(`issuer ${id} has no key in this mount, so it cannot sign`)
  const missing = defaultIssuerSettings.usage.filter((usage) => !settings.usage.includes(usage))
  if (missing.length > 0)
    warnings.push(`the key usage of issuer ${id} does not allow ${missing.join(" and ")}, so its usage omits them`)
  const found = certificates.find(({ der }) => der === certificate)
  if (found !== undefined && found.parsed.notAfter < now) warnings.push(`the certificate of issuer ${id} has expired`)
  return warnings
}

type UsedRepositories = Pick<PkiRepositories, "caKeys" | "issuers" | "certificates" | "revocations" | "mountSettings">

/** Stores a plan, in the transaction that made it. Returns additional warnings. */
export async function storeImport(
  snapshot: MountSnapshot,
  plan: ImportPlan,
  repositories: UsedRepositories,
): Promise<readonly string[]> {
  const { mount, issuers: known } = snapshot
  const { caKeys, issuers, certificates, mountSettings } = repositories
  for (const { key, privateKey } of plan.newKeys) await caKeys.insert(key, privateKey.der("pkcs8"))
  const added: ParsedIssuer[] = []
  for (const planned of plan.newIssuers) {
    const parsed = parseIssuer(planned)
    const revokedAt = await knownRevocation(parsed, repositories)
    const issuer = revokedAt === undefined ? parsed : parseIssuer({ ...planned, ...asRevoked(planned, revokedAt) })
    await issuers.insert(issuer)
    added.push(issuer)
  }
  for (const record of plan.records) {
    // The record exists already if this mount signed the intermediate. CAs outside this mount may also have used the same serial
    // number.
    const recorded = await certificates.find(mount.id, record.serialNumber)
    if (recorded === undefined) await certificates.insert(record)
  }
  for (const issuer of plan.completedIssuers) await issuers.save(issuer)
  // The issuer of an issuer that is revoked already may be among the imported ones.
  const all = [...known, ...added]
  for (const issuer of all)
    if (issuer.revokedAt !== null)
      await listRevokedIssuer({ mount, issuers: all }, repositories, issuer, issuer.revokedAt)
  await saveDefaults(mount.id, plan.defaults, mountSettings)
  const ofOcsp = plan.newKeys.length === 0 ? [] : await saveChanged(snapshot, afterKeyImported(snapshot), mountSettings)
  const ofRevoked = added
    .filter(({ revokedAt }) => revokedAt !== null)
    .map(({ id }) => `the certificate of issuer ${id} has been revoked in this mount, so it cannot issue certificates`)
  return [...ofOcsp, ...ofRevoked]
}
