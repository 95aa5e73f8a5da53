// What becomes of a mount with what is imported into it: a function of both, so that the transaction that stores it may run again.
import type { IssuerId, KeyId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { PrivateKey } from "../../x509/private-key.ts"
import { serialNumberOf } from "../../x509/serial-number.ts"
import type { Authority } from "../authority.ts"
import type { CertificateRecord } from "../certificates/certificate.ts"
import { namesOf } from "../issue/leaf.ts"
import type { CaKey } from "../keys/key.ts"
import type { IssuersSettings, KeysSettings } from "../settings/mount-settings.ts"
import type { Bundle, BundledCertificate } from "./bundle.ts"
import { defaultsAfter } from "./default-issuer.ts"
import { type HeldIssuer, holdIssuer } from "./held-issuer.ts"
import { defaultIssuerSettings, type Issuer } from "./issuer.ts"
import type { ImportedBundle } from "./issuers.ts"
import { certifiableUsages } from "./issuer-usage.ts"

export interface ImportPlan {
  readonly newKeys: readonly NewKey[]
  readonly newIssuers: readonly Issuer[]
  /** Issuers of the mount whose key has come. */
  readonly completedIssuers: readonly Issuer[]
  /** The new issuers' certificates, as those that the mount issues are kept. */
  readonly records: readonly CertificateRecord[]
  readonly issuersSettings: IssuersSettings | undefined
  readonly keysSettings: KeysSettings | undefined
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

export function planImport(authority: Authority, { certificates, keys }: Bundle, terms: ImportTerms): ImportPlan {
  const { now, newIssuerId, newKeyId, keyName = null } = terms
  const mountId = authority.mount.id
  const known = new Map([...authority.keys.values()].map((key) => [hex(key.publicKey), key]))
  const newKeys: NewKey[] = []
  const existingKeys: KeyId[] = []
  for (const privateKey of keys) {
    const publicKey = privateKey.publicKey.spki
    const key = known.get(hex(publicKey))
    if (key === undefined) {
      const added = { id: newKeyId(), mountId, name: keyName, publicKey, createdAt: now }
      known.set(hex(publicKey), added)
      newKeys.push({ key: added, privateKey })
    } else existingKeys.push(key.id)
  }
  const keyFor = (publicKey: Uint8Array): KeyId | null => known.get(hex(publicKey))?.id ?? null

  const newIssuers: Issuer[] = []
  const existingIssuers: IssuerId[] = []
  for (const certificate of certificates) {
    const found = authority.issuers.find((issuer) => Buffer.compare(issuer.certificate, certificate.der) === 0)
    if (found === undefined)
      newIssuers.push(issuerOf(certificate, { id: newIssuerId(), mountId, createdAt: now, keyFor }))
    else existingIssuers.push(found.id)
  }
  const completedIssuers: Issuer[] = authority.issuers
    .filter(({ keyId }) => keyId === null)
    .map((issuer) => ({ ...valuesOf(issuer), keyId: keyFor(issuer.parsed.subjectPublicKeyInfo) }))
    .filter(({ keyId }) => keyId !== null)

  const added = [...newIssuers, ...completedIssuers]
  const defaults = defaultsAfter(
    authority.settings,
    added,
    newKeys.map(({ key }) => key.id),
  )
  const all = new Map<IssuerId, KeyId | null>([
    ...authority.issuers.map(({ id, keyId }) => [id, keyId] as const),
    ...added.map(({ id, keyId }) => [id, keyId] as const),
  ])
  const held = [...authority.issuers, ...newIssuers.map(holdIssuer)]
  const mentioned = [...newIssuers.map(({ id }) => id), ...existingIssuers]
  return {
    newKeys,
    newIssuers,
    completedIssuers,
    records: held.slice(authority.issuers.length).flatMap((issuer) => recordOf(issuer, held)),
    issuersSettings: defaults.issuers,
    keysSettings: defaults.keys,
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

const hex = (octets: Uint8Array): string => Buffer.from(octets).toString("hex")

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
function recordOf(issuer: HeldIssuer, held: readonly HeldIssuer[]): readonly CertificateRecord[] {
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

/** Without what is worked out from them. */
const valuesOf = ({ id, mountId, name, keyId, certificate, settings, revokedAt, createdAt }: Issuer): Issuer => ({
  id,
  mountId,
  name,
  keyId,
  certificate,
  settings,
  revokedAt,
  createdAt,
})

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
