// Steps of a rotation after the next issuer exists. Each is repeated until its result is there, so that a crash between them does no harm.
import type { Pki } from "@chancery/engine"
import { deleteUnneededAuthorities } from "@chancery/engine/declared"
import { parseCertificate, writePem } from "@chancery/engine/x509"
import type { CertificateAuthoritySpec } from "../../api/certificate-authority.ts"
import { subjectFields } from "./authority-content.ts"
import { importNamed, unlessMissing } from "./authority-creation.ts"
import { crossName, type OwnIssuer, type OwnIssuers, revisionName } from "./own-issuers.ts"

export interface Rotation {
  readonly pki: Pki
  readonly spec: CertificateAuthoritySpec
  readonly uid: string
  /** Name of the newest issuer. */
  readonly name: string
  readonly own: OwnIssuers
  readonly now: number
}

/** An issuer that is replaced signs revocation lists and OCSP responses only. */
const retiredUsage = ["read-only", "crl-signing", "ocsp-signing"]

/** Has the previous root sign the key of the newest one, and adds the certificate to its chain. */
export async function crossSign({ pki, spec, uid, own }: Rotation): Promise<void> {
  const [newest, previous] = own.issuers
  if (!spec.crossSign || newest === undefined || previous === undefined || newest.keyId === previous.keyId) return
  const { settings: previousSettings } = await pki.issuers.get(previous.id)
  if (!previousSettings.usage.includes("issuing-certificates")) return
  const present = own.crossSigned.find(({ keyId }) => keyId === newest.keyId)
  const name = crossName(uid, newest.revision)
  if (present === undefined) {
    const { csr } = await pki.issuers.generateIntermediate(
      { ...subjectFields(spec), keyRef: newest.keyId },
      "intermediate/cross-sign",
    )
    const input = {
      ...subjectFields(spec),
      csr: writePem("CERTIFICATE REQUEST", csr),
      ttlMs: await remainingMs(pki, newest),
    }
    const { certificate } = await pki.certificates.signIntermediate(input, { issuerRef: previous.id })
    const id = await importNamed(pki, [certificate], name)
    await pki.issuers.update(newest.id, { manualChain: [newest.id, id] })
    return
  }
  if (present.name === null) await pki.issuers.update(present.id, { issuerName: name })
  const { settings } = await pki.issuers.get(newest.id)
  if (!settings.manualChain.includes(present.id))
    await pki.issuers.update(newest.id, { manualChain: [newest.id, present.id] })
}

/** Returns the remaining lifetime of an issuer. The signer cuts it to its own. */
async function remainingMs(pki: Pki, { id }: OwnIssuer): Promise<number> {
  const { notBefore, notAfter } = parseCertificate((await pki.issuers.certificate(id)).certificate)
  return notAfter - notBefore
}

/** Gives the newest issuer the name, and makes it the default issuer in place of an earlier one. */
export async function promote({ pki, spec, uid, name, own }: Rotation): Promise<void> {
  const [newest, ...earlier] = own.issuers
  if (newest === undefined) return
  // The name must be free before the next issuer takes it.
  for (const one of earlier)
    if (one.name === name) await pki.issuers.update(one.id, { issuerName: revisionName(uid, one.revision) })
  if (newest.name !== name) await pki.issuers.update(newest.id, { issuerName: name })
  const wasDefault = earlier.some(({ isDefault }) => isDefault)
  if (!newest.isDefault && (wasDefault || spec.isDefault === true))
    await pki.settings.changeIssuers({ default: newest.id })
  for (const one of earlier) {
    const { settings } = await pki.issuers.get(one.id)
    if (settings.usage.includes("issuing-certificates")) await pki.issuers.update(one.id, { usage: retiredUsage })
  }
}

/** Deletes earlier issuers whose certificates have all expired. Returns those that stay. */
export async function retire(rotation: Rotation): Promise<readonly OwnIssuer[]> {
  const { own } = rotation
  const staying: OwnIssuer[] = []
  for (const one of own.issuers.slice(1)) {
    if (await isNeeded(rotation, one)) staying.push(one)
    else await deleteIssuers(rotation.pki, own, [one])
  }
  const [newest] = own.issuers
  for (const one of own.crossSigned)
    if (await hasExpired(rotation, one)) {
      if (newest !== undefined && newest.keyId === one.keyId)
        await rotation.pki.issuers.update(newest.id, { manualChain: [] })
      await deleteIssuers(rotation.pki, own, [one])
    }
  return staying
}

async function hasExpired({ pki, now }: Rotation, { id }: OwnIssuer): Promise<boolean> {
  const found = await unlessMissing(() => pki.issuers.certificate(id))
  return found !== undefined && parseCertificate(found.certificate).notAfter <= now
}

const maxRoles = 100

/** Returns whether the issuer may have issued certificates that have not expired. Roles with `noStore` leave no record of them. */
async function isNeeded(rotation: Rotation, one: OwnIssuer): Promise<boolean> {
  const { pki } = rotation
  if (await hasExpired(rotation, one)) return false
  const { items } = await pki.certificates.search({ issuerRef: one.id, expiresAfter: rotation.now }, { limit: 2 })
  // A root has a record of its own certificate.
  if (items.some(({ serialNumber }) => serialNumber !== one.serialNumber)) return true
  const roles = await pki.roles.list()
  if (roles.length > maxRoles) return true
  for (const name of roles) if ((await unlessMissing(() => pki.roles.get(name)))?.noStore === true) return true
  return false
}

/**
 * Deletes issuers, their keys unless another issuer uses them, and imported certificates that only completed their chains. `known` are
 * chains of issuers that an earlier attempt has deleted.
 */
export async function deleteIssuers(
  pki: Pki,
  own: OwnIssuers,
  issuers: readonly OwnIssuer[],
  known: readonly Uint8Array[] = [],
): Promise<void> {
  const chain = [...known]
  for (const { id } of issuers) {
    chain.push(...((await unlessMissing(() => pki.issuers.certificate(id)))?.caChain ?? []))
    await pki.issuers.delete(id)
  }
  const left = await pki.issuers.list()
  for (const { id } of own.keys)
    if (issuers.some(({ keyId }) => keyId === id) && !left.some(({ keyId }) => keyId === id)) await pki.keys.delete(id)
  if (chain.length > 0) await deleteUnneededAuthorities(pki, chain)
}
