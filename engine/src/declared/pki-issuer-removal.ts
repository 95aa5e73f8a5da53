// Removal of an issuer with its key and with imported certificates that only completed its chain.
import { conflict, isEngineError } from "../core/errors.ts"
import type { Engine } from "../engine.ts"
import type { IssuerView } from "../pki/issuers/issuer-api.ts"
import { mountPathOf } from "../pki/mounts/mount.ts"
import type { Pki } from "../pki/mounts/pki.ts"
import { parseCertificate } from "../x509/certificate.ts"
import type { Known, Removal } from "./declared-resource.ts"
import { hasIssued, hexOf, issuerPlaceOf, type ObservedPkiAuthority } from "./pki-issuer-observation.ts"
import type { PkiIssuerSpec } from "./pki-issuer-spec.ts"

export async function removeIssuer(
  engine: Engine,
  id: string,
  spec: Partial<PkiIssuerSpec>,
  removal: Removal,
  { before, now }: Known<ObservedPkiAuthority>,
): Promise<void> {
  const { mount, reference } = issuerPlaceOf(id)
  const pki = engine.pki(mount)
  try {
    const isKey = reference.startsWith("key-")
    const all = await pki.issuers.list()
    const own = all.filter((issuer) => (isKey ? issuer.keyId : issuer.id) === reference)
    const chain: Uint8Array[] = []
    for (const { id: issuerId, keyId } of own)
      if (keyId !== null) chain.push(...(await pki.issuers.certificate(issuerId)).caChain)
    for (const issuer of own) {
      const view = await pki.issuers.get(issuer.id)
      if (removal === "safe") await rejectNeeded(pki, view)
      await pki.issuers.delete(issuer.id)
      // Not before the deletion: an issuer that the mount still has is on none of its CRLs.
      if (spec.kind === "intermediate")
        await revokeAtParent(engine.pki(mountPathOf(spec.parentMount ?? mount)), view, now)
    }
    const keyId = isKey ? reference : (own[0]?.keyId ?? before.keyId ?? null)
    if (keyId !== null && !all.some((one) => one.keyId === keyId && !own.includes(one))) await pki.keys.delete(keyId)
    if (chain.length > 0) await deleteUnneededAuthorities(pki, chain)
  } catch (error) {
    // The mount no longer exists.
    if (!isEngineError(error, "not-found")) throw error
  }
}

async function rejectNeeded(pki: Pki, view: IssuerView): Promise<void> {
  if (await hasIssued(pki, view, ["valid"]))
    throw conflict(
      `issuer ${view.name ?? view.id} has issued certificates that are still valid, and only it can revoke them`,
    )
}

/**
 * Revokes the certificate of a deleted intermediate at its parent. Its key is gone, and the revocation lets the parent be deleted safely.
 */
async function revokeAtParent(parent: Pki, { certificate }: IssuerView, now: number): Promise<void> {
  const { serialNumber, notAfter } = parseCertificate(certificate)
  if (notAfter <= now) return
  try {
    const found = await parent.certificates.get(hexOf(serialNumber))
    if (Buffer.compare(found.certificate, certificate) !== 0 || found.revokedAt !== null) return
    // The certificate was signed elsewhere and only stored here.
    if (found.issuerId === null) return
    await parent.revocations.revoke({ serialNumber: found.serialNumber, reason: "cessationOfOperation" })
  } catch (error) {
    // The parent's mount no longer exists, or does not store the certificate.
    if (!isEngineError(error, "not-found")) throw error
  }
}

/** Returns the chain as base64 of DER. */
const chainOf = async (pki: Pki, issuerId: string): Promise<readonly string[]> =>
  (await pki.issuers.certificate(issuerId)).caChain.map(base64)

/**
 * Deletes issuers without key and name that completed a chain (DER), unless another issuer's chain needs them. They were imported with the
 * certificate of an issuer below them.
 */
export async function deleteUnneededAuthorities(pki: Pki, chain: readonly Uint8Array[]): Promise<void> {
  const issuers = await pki.issuers.list()
  const needed = new Set<string>()
  for (const { id, keyId } of issuers) if (keyId !== null) for (const one of await chainOf(pki, id)) needed.add(one)
  const members = new Set(chain.map(base64))
  for (const { id } of issuers.filter(({ name, keyId }) => name === null && keyId === null)) {
    const [own = ""] = await chainOf(pki, id)
    if (members.has(own) && !needed.has(own)) await pki.issuers.delete(id)
  }
}

const base64 = (der: Uint8Array): string => Buffer.from(der).toString("base64")
