// Changes of an issuer: its settings in place, and its certificate by another one for the same key.
import { invalid, isEngineError, rejectFaults, unprocessable } from "../core/errors.ts"
import type { Engine } from "../engine.ts"
import type { SignIntermediateInput } from "../pki/issuance/certificate-api.ts"
import type { IssuerInput, IssuerSummary } from "../pki/issuers/issuer-api.ts"
import { mountPathOf } from "../pki/mounts/mount.ts"
import type { Pki } from "../pki/mounts/pki.ts"
import { parseCertificate } from "../x509/certificate.ts"
import { readCertificatePem } from "../x509/certificate-pem.ts"
import { writePem } from "../x509/pem.ts"
import { readPublicKey, subjectKeyIdentifier } from "../x509/public-key.ts"
import { withDeclaredNames } from "./certificate-members.ts"
import type { Changes } from "./declared-resource.ts"
import { issuerPlaceOf, type ObservedPkiAuthority, observedIssuer } from "./pki-issuer-observation.ts"
import {
  firstCertificateIn,
  fixedNames,
  intermediateInputOf,
  issuerFaults,
  issuerMembers,
  isSignedHere,
  keyNameOf,
  type PkiIssuerSpec,
  settingNames,
  signedContentOf,
} from "./pki-issuer-spec.ts"
import { diffMembers, withDefaults } from "./members.ts"

export function issuerChanges(
  spec: PkiIssuerSpec,
  observed: ObservedPkiAuthority,
  dropped: readonly string[] = [],
): Changes {
  const { bundle, signedCertificate, ...others } = withDefaults(issuerMembers, spec, dropped)
  const isAnother = (pem: string | undefined) =>
    pem !== undefined && firstCertificateIn(pem) !== (observed.certificate ?? undefined)
  const fixed = dropped.filter((name) => fixedNames.includes(name))
  const changed = [
    ...diffMembers(issuerMembers, others, observed).changed,
    ...fixed,
    ...(isAnother(bundle) ? ["bundle"] : []),
    ...(isAnother(signedCertificate) ? ["signedCertificate"] : []),
  ]
  const isOpen = observed.issuerId === null
  const mustReplace = changed.filter(
    (name) => name === "bundle" || (fixedNames.includes(name) && !(isOpen && name.startsWith("parent"))),
  )
  // Names are unique: two issuers of one name cannot exist at once.
  const isSameName = !["mount", "name"].some((name) => changed.includes(name))
  return { changed, mustReplace, removeFirst: mustReplace.length > 0 && isSameName }
}

export async function updateIssuer(
  engine: Engine,
  id: string,
  spec: PkiIssuerSpec,
  observed: ObservedPkiAuthority,
  dropped: readonly string[] = [],
): Promise<ObservedPkiAuthority> {
  rejectFaults(issuerFaults({ ...spec }))
  const { mount } = issuerPlaceOf(id)
  const pki = engine.pki(mount)
  const wanted = withDefaults(issuerMembers, spec, dropped)
  const issuerId = (await signedOf(engine, mount, wanted, observed)) ?? observed.issuerId
  if (observed.keyId !== null && wanted.keyName !== undefined && wanted.keyName !== observed.keyName)
    await pki.keys.rename(observed.keyId, wanted.keyName)
  if (issuerId === null) return { ...observed, name: wanted.name, keyName: keyNameOf(wanted) }
  const before = issuerId === observed.issuerId ? undefined : await predecessorOf(pki, observed)
  // The name must be free before the new issuer takes it.
  if (before !== undefined) await pki.issuers.update(before.id, { issuerName: "" })
  const isNew = issuerId !== observed.issuerId
  const changed = isNew ? Object.keys(wanted) : issuerChanges(wanted, observed, dropped).changed
  const patch = patchOf(wanted, observed.issuerId !== null && isNew ? observed : undefined, changed, issuerId)
  if (Object.keys(patch).length > 0) await withDeclaredNames(issuerMembers, () => pki.issuers.update(issuerId, patch))
  if ((wanted.isDefault === true || observed.isDefault) && (isNew || !observed.isDefault))
    await pki.settings.changeIssuers({ default: issuerId })
  // The successor has the same name and key, and signs CRLs and OCSP responses for certificates of the old issuer.
  if (before !== undefined) await pki.issuers.delete(before.id)
  const summary = (await pki.issuers.list()).find((one) => one.id === issuerId)
  if (summary === undefined) throw unprocessable(`issuer ${issuerId} of ${mount} was deleted during its update`)
  return observedIssuer(pki, mount, summary, wanted, observed)
}

/** Returns the existing issuer that the new certificate for the same key replaces, or undefined if it no longer exists. */
const predecessorOf = async (pki: Pki, { issuerId }: ObservedPkiAuthority): Promise<IssuerSummary | undefined> =>
  issuerId === null ? undefined : (await pki.issuers.list()).find(({ id }) => id === issuerId)

/**
 * Has an intermediate signed, or imports its certificate, unless that is done. Returns the id of the new issuer; undefined if there is
 * none.
 */
async function signedOf(
  engine: Engine,
  mount: string,
  spec: PkiIssuerSpec,
  observed: ObservedPkiAuthority,
): Promise<string | undefined> {
  if (spec.kind !== "intermediate") return undefined
  const pki = engine.pki(mount)
  if (spec.signedCertificate !== undefined) {
    if (firstCertificateIn(spec.signedCertificate) === observed.certificate) return undefined
    await rejectOtherCertificate(pki, spec.signedCertificate, observed.keyId)
    return broughtIn(pki, spec.signedCertificate, "intermediate/set-signed")
  }
  if (observed.issuerId !== null || !isSignedHere(spec)) return undefined
  // An earlier attempt imported the certificate and its answer was lost.
  const present = (await pki.issuers.list()).find(({ keyId }) => keyId !== null && keyId === observed.keyId)
  if (present !== undefined) return present.id
  const csr = observed.csr ?? (await requested(pki, spec, observed.keyId ?? undefined)).csr
  const parent = engine.pki(spec.parentMount === undefined ? mount : mountPathOf(spec.parentMount))
  const input: SignIntermediateInput = { ...signedContentOf(spec), csr }
  const { certificate, caChain } = await withDeclaredNames(issuerMembers, () =>
    parent.certificates.signIntermediate(input, { issuerRef: spec.parentIssuerRef ?? "default" }),
  )
  const chain = [certificate, ...caChain.filter((der) => Buffer.compare(der, certificate) !== 0)]
  const bundle = chain.map((der) => writePem("CERTIFICATE", der)).join("\n")
  return broughtIn(pki, bundle, "intermediate/set-signed")
}

async function rejectOtherCertificate(pki: Pki, pem: string, keyId: string | null): Promise<void> {
  const first = firstCertificateIn(pem)
  if (first === undefined || keyId === null) return
  const { subjectPublicKeyInfo } = parseCertificate(readCertificatePem(first))
  const own = await pki.keys.get(keyId)
  if (Buffer.compare(subjectKeyIdentifier(readPublicKey(subjectPublicKeyInfo)), own.subjectKeyIdentifier) !== 0)
    throw invalid([{ field: ["signedCertificate"], detail: "signedCertificate is for a different key than csr" }])
}

/** Returns the declared values of changed members. A successor also gets the settings of its predecessor. */
function patchOf(
  spec: PkiIssuerSpec,
  predecessor: ObservedPkiAuthority | undefined,
  changed: readonly string[],
  issuerId: string,
): IssuerInput {
  const values = { ...predecessor, ...spec } as Readonly<Record<string, unknown>>
  const settings = settingNames.filter(
    (name) => values[name] !== undefined && (changed.includes(name) || predecessor !== undefined),
  )
  const chain = spec.manualChain ?? predecessor?.manualChain ?? []
  return {
    ...Object.fromEntries(settings.map((name) => [name, values[name]])),
    ...(settings.includes("manualChain") ? { manualChain: chain.length === 0 ? [] : [issuerId, ...chain] } : {}),
    ...(changed.includes("name") ? { issuerName: spec.name } : {}),
  }
}

/** Creates a CSR, for the existing key if `keyId` is given, else for a new one. */
export async function requested(
  pki: Pki,
  spec: PkiIssuerSpec,
  keyId: string | undefined,
): Promise<{ readonly keyId: string; readonly csr: string }> {
  const { keyType, keyBits, ...input } = intermediateInputOf(spec)
  const madeOf = (reference: string) =>
    pki.issuers.generateIntermediate({ ...input, keySource: "existing", keyRef: reference })
  const made = async () => {
    const key = { ...(keyType === undefined ? {} : { keyType }), ...(keyBits === undefined ? {} : { keyBits }) }
    try {
      return await pki.issuers.generateIntermediate({ ...input, ...key, keyName: keyNameOf(spec) })
    } catch (error) {
      if (!isEngineError(error, "unavailable")) throw error
      const left = (await pki.keys.list()).find(({ name }) => name === keyNameOf(spec))
      if (left === undefined) throw error
      return madeOf(left.id)
    }
  }
  const { keyId: id, csr } = keyId === undefined ? await made() : await madeOf(keyId)
  return { keyId: id, csr: writePem("CERTIFICATE REQUEST", csr) }
}

/** Imports a bundle and returns the id of its first certificate. The other certificates complete the chain. */
export async function broughtIn(
  pki: Pki,
  pem: string,
  endpoint: "issuers/import/bundle" | "intermediate/set-signed",
): Promise<string> {
  const { mapping } = await withDeclaredNames(issuerMembers, () => pki.issuers.import(pem, endpoint))
  const first = firstCertificateIn(pem)
  for (const id of mapping.keys()) {
    const { certificate } = await pki.issuers.certificate(id)
    if (writePem("CERTIFICATE", certificate) === first) return id
  }
  throw new TypeError("a bundle was imported without its first certificate")
}
