// What becomes of a mount with what is imported into it: a function of both, so that the transaction that stores it may run again.
import type { IssuerId, KeyId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { PrivateKey } from "../../x509/private-key.ts"
import { serialNumberOf } from "../../x509/serial-number.ts"
import type { MountSnapshot } from "../authority.ts"
import type { PkiStores } from "../pki-context.ts"
import { createdAfter } from "../created-after.ts"
import type { CertificateRecord } from "../certificates/certificate.ts"
import { namesOf } from "../issue/leaf.ts"
import type { CaKey } from "../keys/key.ts"
import type { Bundle, BundledCertificate } from "./bundle.ts"
import { afterKeyImported, saveChanged } from "../ocsp/unknown-serials.ts"
import { listRevokedIssuer } from "../revoke/issuer-revocation.ts"
import { type DefaultsAfter, defaultsAfter, saveDefaults } from "./default-issuer.ts"
import { type ParsedIssuer, holdIssuer, issuerValues } from "./held-issuer.ts"
import { defaultIssuerSettings, type Issuer } from "./issuer.ts"
import type { ImportedBundle } from "./issuers.ts"
import { asRevoked, knownRevocation } from "./known-revocation.ts"
import { certifiableUsages } from "./issuer-usage.ts"

export interface ImportPlan {
  readonly newKeys: readonly NewKey[]
  readonly newIssuers: readonly Issuer[]
  /** Issuers of the mount whose key has come. */
  readonly completedIssuers: readonly Issuer[]
  /** The new issuers' certificates, as those that the mount issues are kept. */
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
  /** Of the one key; null: none. */
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
  const held = [...snapshot.issuers, ...newIssuers.map(holdIssuer)]
  const mentioned = [...newIssuers.map(({ id }) => id), ...existingIssuers]
  return {
    newKeys,
    newIssuers,
    completedIssuers,
    records: held.slice(snapshot.issuers.length).flatMap((issuer) => recordOf(issuer, held)),
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

/** None for a serial number that no CA may give, zero among them, which cannot be asked for either. */
function recordOf(issuer: ParsedIssuer, held: readonly ParsedIssuer[]): readonly CertificateRecord[] {
  const { mountId, certificate, parsed, values } = issuer
  const serialNumber = serialNumberOf(parsed.serialNumber)
  if (serialNumber === undefined) return []
  const parent = held.find((other) => issuer.isIssuedBy(other))
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
    warnings.push(`the key usage of issuer ${id} does not allow ${missing.join(" and ")}, which its usage leaves out`)
  const found = certificates.find(({ der }) => der === certificate)
  if (found !== undefined && found.parsed.notAfter < now) warnings.push(`the certificate of issuer ${id} has expired`)
  return warnings
}

type UsedStores = Pick<PkiStores, "caKeys" | "issuers" | "certificates" | "revocations" | "mountSettings">

/** Carries out what was planned, in the transaction that it was planned in. The answer is what to warn of besides. */
export async function storeImport(
  snapshot: MountSnapshot,
  plan: ImportPlan,
  stores: UsedStores,
): Promise<readonly string[]> {
  const { mount, issuers: known } = snapshot
  const { caKeys, issuers, certificates, mountSettings } = stores
  for (const { key, privateKey } of plan.newKeys) await caKeys.insert(key, privateKey.der("pkcs8"))
  const added: ParsedIssuer[] = []
  for (const planned of plan.newIssuers) {
    const held = holdIssuer(planned)
    const revokedAt = await knownRevocation(held, stores)
    const issuer = revokedAt === undefined ? held : holdIssuer({ ...planned, ...asRevoked(planned, revokedAt) })
    await issuers.insert(issuer)
    added.push(issuer)
  }
  for (const record of plan.records) {
    // An intermediate that the mount has signed is recorded; and strangers may share a serial number.
    const recorded = await certificates.find(mount.id, record.serialNumber)
    if (recorded === undefined) await certificates.insert(record)
  }
  for (const issuer of plan.completedIssuers) await issuers.save(issuer)
  // The issuer of one that was revoked may have come only now.
  const all = [...known, ...added]
  for (const issuer of all)
    if (issuer.revokedAt !== null) await listRevokedIssuer({ mount, issuers: all }, stores, issuer, issuer.revokedAt)
  await saveDefaults(mount.id, plan.defaults, mountSettings)
  const ofOcsp = plan.newKeys.length === 0 ? [] : await saveChanged(snapshot, afterKeyImported(snapshot), mountSettings)
  const ofRevoked = added
    .filter(({ revokedAt }) => revokedAt !== null)
    .map(({ id }) => `the certificate of issuer ${id} has been revoked here, so it issues nothing`)
  return [...ofOcsp, ...ofRevoked]
}
