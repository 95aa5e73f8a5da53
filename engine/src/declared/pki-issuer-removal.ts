// How an authority goes, with its key and with what came to complete its chain.
import { conflict, isEngineError } from "../core/errors.ts"
import type { Engine } from "../engine.ts"
import type { IssuerView } from "../pki/issuers/issuer-api.ts"
import { mountPathOf } from "../pki/mounts/mount.ts"
import type { Pki } from "../pki/mounts/pki.ts"
import { parseCertificate } from "../x509/certificate.ts"
import type { Known, Removal } from "./declared-resource.ts"
import { hasIssued, hexOf, issuerPlaceOf, type ObservedPkiAuthority } from "./pki-issuer-observed.ts"
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
    const chain: string[] = []
    for (const { id: issuerId, keyId } of own) if (keyId !== null) chain.push(...(await chainOf(pki, issuerId)))
    for (const issuer of own) {
      const view = await pki.issuers.get(issuer.id)
      if (removal === "safe") await rejectNeeded(pki, view)
      await pki.issuers.delete(issuer.id)
      // Not before: an issuer of a mount is on no list of it.
      if (spec.kind === "intermediate")
        await revokeAtParent(engine.pki(mountPathOf(spec.parentMount ?? mount)), view, now)
    }
    const keyId = isKey ? reference : (own[0]?.keyId ?? before.keyId ?? null)
    if (keyId !== null && !all.some((one) => one.keyId === keyId && !own.includes(one))) await pki.keys.delete(keyId)
    if (chain.length > 0) await deleteUnneeded(pki, chain)
  } catch (error) {
    // The mount is gone, and everything with it.
    if (!isEngineError(error, "not-found")) throw error
  }
}

async function rejectNeeded(pki: Pki, view: IssuerView): Promise<void> {
  if (await hasIssued(pki, view, ["valid"]))
    throw conflict(
      `issuer ${view.name ?? view.id} has issued certificates that are still valid, and nobody could revoke them`,
    )
}

/** Nobody can use an authority whose key is gone, and its parent need not stay for its sake. */
async function revokeAtParent(parent: Pki, { certificate }: IssuerView, now: number): Promise<void> {
  const { serialNumber, notAfter } = parseCertificate(certificate)
  if (notAfter <= now) return
  try {
    const found = await parent.certificates.get(hexOf(serialNumber))
    if (Buffer.compare(found.certificate, certificate) !== 0 || found.revokedAt !== null) return
    // Signed elsewhere, and only kept here.
    if (found.issuerId === null) return
    await parent.revocations.revoke({ serialNumber: found.serialNumber, reason: "cessationOfOperation" })
  } catch (error) {
    // The parent's mount is gone, or keeps no record of it.
    if (!isEngineError(error, "not-found")) throw error
  }
}

/** Base64 of DER. */
const chainOf = async (pki: Pki, issuerId: string): Promise<readonly string[]> =>
  (await pki.issuers.certificate(issuerId)).caChain.map((der) => Buffer.from(der).toString("base64"))

/** What came to complete the chain, without a key or a name, goes with the last issuer whose chain it completes. */
async function deleteUnneeded(pki: Pki, chain: readonly string[]): Promise<void> {
  const issuers = await pki.issuers.list()
  const needed = new Set<string>()
  for (const { id, keyId } of issuers) if (keyId !== null) for (const one of await chainOf(pki, id)) needed.add(one)
  for (const { id } of issuers.filter(({ name, keyId }) => name === null && keyId === null)) {
    const [own = ""] = await chainOf(pki, id)
    if (chain.includes(own) && !needed.has(own)) await pki.issuers.delete(id)
  }
}
