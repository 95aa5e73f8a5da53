// An authority whose key is in a mount, through its life. A root is made in one step. An intermediate is made in several, each of
// which finds again what the one before it has left: its key by its name, and what is signed by the key.
import { conflict, type Fault, invalid, isEngineError, unprocessable } from "../core/errors.ts"
import { formatInstant } from "../core/time.ts"
import type { Engine } from "../engine.ts"
import type { SignIntermediateInput } from "../pki/certificates/certificates.ts"
import { isSelfIssued } from "./pki-issuance.ts"
import { mountPathOf } from "../pki/mount.ts"
import type { IssuerInput, IssuerSummary, IssuerView } from "../pki/issuers/issuers.ts"
import type { Pki } from "../pki/pki.ts"
import { parseCertificate } from "../x509/certificate.ts"
import { readCertificatePem } from "../x509/certificate-pem.ts"
import { keyAlgorithm } from "../x509/key-algorithm.ts"
import { sameName } from "../x509/name.ts"
import { writePem } from "../x509/pem.ts"
import { readPublicKey, subjectKeyIdentifier } from "../x509/public-key.ts"
import { declaredRefusals, requestRules } from "./certificate-members.ts"
import {
  type Changes,
  type Created,
  type Known,
  type ManagedKind,
  type Origin,
  PartlyCreated,
  type Removal,
} from "./managed-kind.ts"
import { type ObservedPkiIssuer, observedPkiIssuer } from "./pki-issuer.ts"
import {
  firstCertificateIn,
  fixedNames,
  intermediateInputOf,
  issuerFaults,
  issuerShape,
  isSignedHere,
  keyNameOf,
  type PkiIssuerSpec,
  rootInputOf,
  settingDefaults,
  settingNames,
  signedContentOf,
} from "./pki-issuer-spec.ts"
import { judgeAuthority } from "./request-rules.ts"
import { differing, sameJson, sameSet, type SameValue } from "./same-value.ts"

type Unsigned<Issuer> = { readonly [Name in keyof Issuer]: Issuer[Name] | null }

/** What is asked for stands beside it, as it was declared. Null where nobody has signed it yet. */
export interface ObservedPkiAuthority
  extends
    Unsigned<Pick<ObservedPkiIssuer, "issuerId" | "certificate">>,
    Omit<ObservedPkiIssuer, "issuerId" | "certificate" | "issuerName"> {
  /** Empty: it has none. */
  readonly name: string
  /** Null: it has none, or there is no key. */
  readonly keyName: string | null
  /** What somebody elsewhere has to sign; PEM. Null: nothing. */
  readonly csr: string | null
  /** Hex octets joined by ":". */
  readonly serialNumber: string | null
  /** ISO 8601. */
  readonly expiration: string | null
  readonly isDefault: boolean
}

/** The id of an intermediate is `MOUNT/KEY`, by the id of its key, which it has before anybody signs it; else `MOUNT/ISSUER`. */
export const pkiIssuerKind: ManagedKind<PkiIssuerSpec, ObservedPkiAuthority> = {
  members: Object.keys(issuerShape.shape),
  faults: issuerFaults,
  changes,
  observe,
  create,
  update,
  remove,
}

/** Whatever is said, it can be read. */
const withReading: SameValue = (a, b) => sameSet(readable(a), readable(b))
const readable = (usage: unknown): readonly string[] => [...(usage as readonly string[]), "read-only"]
/** Not to be the default is left to whichever issuer is. */
const atLeast: SameValue = (wanted, is) => wanted !== true || is === true

const rules: Readonly<Record<string, SameValue>> = {
  ...requestRules,
  parentMount: requestRules["mount"] ?? sameJson,
  usage: withReading,
  issuingCertificates: sameSet,
  crlDistributionPoints: sameSet,
  deltaCrlDistributionPoints: sameSet,
  ocspServers: sameSet,
  isDefault: atLeast,
}

const withDefaults = (spec: PkiIssuerSpec, dropped: readonly string[]): PkiIssuerSpec => ({
  ...Object.fromEntries(Object.entries(settingDefaults).filter(([name]) => dropped.includes(name))),
  ...spec,
})

function changes(spec: PkiIssuerSpec, observed: ObservedPkiAuthority, dropped: readonly string[] = []): Changes {
  const { bundle, signedCertificate, ...others } = withDefaults(spec, dropped)
  const isAnother = (pem: string | undefined) =>
    pem !== undefined && firstCertificateIn(pem) !== (observed.certificate ?? undefined)
  const fixed = dropped.filter((name) => fixedNames.includes(name))
  const changed = [
    ...differing<object>(others, observed, rules),
    ...fixed,
    ...(isAnother(bundle) ? ["bundle"] : []),
    ...(isAnother(signedCertificate) ? ["signedCertificate"] : []),
  ]
  const isOpen = observed.issuerId === null
  const mustReplace = changed.filter(
    (name) => name === "bundle" || (fixedNames.includes(name) && !(isOpen && name.startsWith("parent"))),
  )
  // Two issuers of one name there cannot be.
  const isSameName = !["mount", "name"].some((name) => changed.includes(name))
  return { changed, mustReplace, removeFirst: mustReplace.length > 0 && isSameName }
}

// ---- What there is ----

async function observe(
  engine: Engine,
  id: string,
  spec: Partial<PkiIssuerSpec>,
  { before }: Known<ObservedPkiAuthority>,
): Promise<ObservedPkiAuthority | undefined> {
  const { mount, reference } = placeOf(id)
  const pki = engine.pki(mount)
  try {
    const issuers = await pki.issuers.list()
    if (!reference.startsWith("key-")) {
      const summary = issuers.find((one) => one.id === reference)
      return summary === undefined ? undefined : await observedIssuer(pki, mount, summary, spec, before)
    }
    const own = issuers.filter(({ keyId }) => keyId === reference)
    const summary =
      own.find((one) => one.id === before.issuerId) ?? own.find(({ name }) => name === spec.name) ?? own.at(-1)
    if (summary !== undefined) return await observedIssuer(pki, mount, summary, spec, before)
    const { name } = await pki.keys.get(reference)
    return unsigned(mount, { keyId: reference, keyName: name, csr: before.csr ?? null }, spec)
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}

const declaredContent = (spec: object): object =>
  Object.fromEntries(Object.entries(spec).filter(([name]) => fixedNames.includes(name)))

async function observedIssuer(
  pki: Pki,
  mount: string,
  { id, isDefault, serialNumber }: IssuerSummary,
  spec: Partial<PkiIssuerSpec>,
  { csr = null }: Partial<ObservedPkiAuthority>,
): Promise<ObservedPkiAuthority> {
  const view = await pki.issuers.get(id)
  const { issuerName, ...observed } = observedPkiIssuer(mount, view)
  const keyName = view.keyId === null ? null : (await pki.keys.get(view.keyId)).name
  const { notAfter } = parseCertificate(view.certificate)
  return {
    ...declaredContent(spec),
    ...observed,
    // It begins with the issuer itself, which nobody has to say.
    manualChain: observed.manualChain.slice(1),
    name: issuerName ?? "",
    keyName,
    csr,
    serialNumber,
    expiration: formatInstant(notAfter),
    isDefault,
  }
}

/** Where the parent is not named, nothing is signed, and the next update does it. */
function unsigned(
  mount: string,
  { keyId, keyName, csr }: { readonly keyId: string; readonly keyName: string | null; readonly csr: string | null },
  spec: Partial<PkiIssuerSpec>,
): ObservedPkiAuthority {
  const { parentMount: _mount, parentIssuerRef: _ref, ...content } = spec
  return {
    ...declaredContent(content),
    mount,
    issuerId: null,
    name: spec.name ?? "",
    keyId,
    keyName,
    csr,
    certificate: null,
    caChain: [],
    usage: [],
    ...settingDefaults,
    serialNumber: null,
    expiration: null,
    revokedAt: null,
    isDefault: false,
  }
}

// ---- How it comes about ----

async function create(engine: Engine, spec: PkiIssuerSpec, { adopt }: Origin): Promise<Created<ObservedPkiAuthority>> {
  refuse(issuerFaults({ ...spec }))
  const mount = mountPathOf(spec.mount)
  const pki = engine.pki(mount)
  const present =
    (await named(pki, spec.name)) ?? (spec.kind === "intermediate" ? await nameless(pki, spec) : undefined)
  if (present !== undefined) return takenOver(engine, mount, spec, present, adopt)
  switch (spec.kind) {
    case "root":
      return generated(engine, mount, spec)
    case "intermediate":
      return intermediate(engine, mount, spec)
    default:
      return imported(engine, mount, spec)
  }
}

async function named(pki: Pki, name: string): Promise<IssuerSummary | undefined> {
  return (await pki.issuers.list()).find((one) => one.name === name)
}

/** Signed, and not named any more before the process ended. */
async function nameless(pki: Pki, spec: PkiIssuerSpec): Promise<IssuerSummary | undefined> {
  const key = (await pki.keys.list()).find(({ name }) => name === keyNameOf(spec))
  return (await pki.issuers.list()).find(({ name, keyId }) => name === null && keyId !== null && keyId === key?.id)
}

/** One that has issued nothing, and is as declared, is nobody's: it may be what a lost answer left behind. */
async function takenOver(
  engine: Engine,
  mount: string,
  spec: PkiIssuerSpec,
  present: IssuerSummary,
  adopt: boolean,
): Promise<Created<ObservedPkiAuthority>> {
  const pki = engine.pki(mount)
  const view = await pki.issuers.get(present.id)
  const name = `issuer "${spec.name}" of ${mount}`
  if (!isAsDeclared(spec, view))
    throw unprocessable(`${name} has another certificate or key than what is declared; give this one another name`)
  const isOurs = !(await hasIssued(pki, view))
  if (!isOurs && !adopt) throw conflict(`${name} is there already, and has issued certificates`)
  const observed = await observedIssuer(pki, mount, present, spec, {})
  const id = idOf(mount, spec, observed)
  return { id, observed: await update(engine, id, spec, observed), adopted: !isOurs }
}

function isAsDeclared(spec: PkiIssuerSpec, { certificate, keyId }: IssuerView): boolean {
  if (spec.kind === "imported") return firstCertificateIn(spec.bundle ?? "") === writePem("CERTIFICATE", certificate)
  const { subject, issuer, subjectPublicKeyInfo } = parseCertificate(certificate)
  const wanted = keyAlgorithm(spec.keyType ?? "rsa", spec.keyBits ?? 0)
  return (
    keyId !== null &&
    sameName(subject, judgeAuthority(rootInputOf(spec), false)) &&
    sameName(subject, issuer) === (spec.kind === "root") &&
    sameJson(readPublicKey(subjectPublicKeyInfo).algorithm, wanted)
  )
}

async function hasIssued(pki: Pki, { id, certificate }: IssuerView, status: readonly "valid"[] = []): Promise<boolean> {
  const { items } = await pki.certificates.search({ issuerRef: id, status }, { limit: 2 })
  const own = isSelfIssued(certificate) ? hexOf(parseCertificate(certificate).serialNumber) : ""
  return items.some(({ serialNumber }) => serialNumber !== own)
}

const hexOf = (octets: Uint8Array): string =>
  Array.from(octets, (octet) => octet.toString(16).padStart(2, "0")).join(":")

async function generated(engine: Engine, mount: string, spec: PkiIssuerSpec): Promise<Created<ObservedPkiAuthority>> {
  const pki = engine.pki(mount)
  let id: string
  try {
    id = (await declaredRefusals(issuerShape, () => pki.issuers.generateRoot(rootInputOf(spec)))).issuerId
  } catch (error) {
    if (!isEngineError(error, "unavailable")) throw error
    const present = await named(pki, spec.name)
    if (present === undefined) throw error
    id = present.id
  }
  return settled(engine, mount, spec, id)
}

async function imported(engine: Engine, mount: string, spec: PkiIssuerSpec): Promise<Created<ObservedPkiAuthority>> {
  return settled(engine, mount, spec, await broughtIn(engine.pki(mount), spec.bundle ?? "", "issuers/import/bundle"))
}

/** The first certificate of a bundle is that of the issuer; the others complete its chain. */
async function broughtIn(
  pki: Pki,
  pem: string,
  endpoint: "issuers/import/bundle" | "intermediate/set-signed",
): Promise<string> {
  const { mapping } = await declaredRefusals(issuerShape, () => pki.issuers.import(pem, endpoint))
  const first = firstCertificateIn(pem)
  for (const id of mapping.keys()) {
    const { certificate } = await pki.issuers.certificate(id)
    if (writePem("CERTIFICATE", certificate) === first) return id
  }
  throw new TypeError("a bundle was imported without its first certificate")
}

async function intermediate(
  engine: Engine,
  mount: string,
  spec: PkiIssuerSpec,
): Promise<Created<ObservedPkiAuthority>> {
  const pki = engine.pki(mount)
  const keyName = keyNameOf(spec)
  const left = (await pki.keys.list()).find(({ name }) => name === keyName)
  if (left !== undefined) await refuseOtherKey(pki, spec, left.id)
  const { keyId, csr } = await declaredRefusals(issuerShape, () => requested(pki, spec, left?.id))
  const observed = unsigned(mount, { keyId, keyName, csr }, spec)
  const id = `${mount}/${keyId}`
  if (!isSignedHere(spec) && spec.signedCertificate === undefined) return { id, observed, adopted: false }
  try {
    return { id, observed: await update(engine, id, spec, observed), adopted: false }
  } catch (error) {
    throw new PartlyCreated(id, observed, error)
  }
}

/** A key of this name without an issuer is what a lost answer left behind. */
async function refuseOtherKey(pki: Pki, spec: PkiIssuerSpec, keyId: string): Promise<void> {
  const isUsed = (await pki.issuers.list()).some((issuer) => issuer.keyId === keyId)
  const { type } = await pki.keys.get(keyId)
  if (isUsed || type !== (spec.keyType ?? "rsa"))
    throw unprocessable(`key "${keyNameOf(spec)}" of ${spec.mount} is another issuer's or of another type; say keyName`)
}

async function requested(
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

/** What is there is recorded, whatever becomes of its settings. */
async function settled(
  engine: Engine,
  mount: string,
  spec: PkiIssuerSpec,
  issuerId: string,
): Promise<Created<ObservedPkiAuthority>> {
  const pki = engine.pki(mount)
  const id = `${mount}/${issuerId}`
  const summary = (await pki.issuers.list()).find((one) => one.id === issuerId)
  if (summary === undefined) throw unprocessable(`issuer ${issuerId} of ${mount} went as soon as it had come`)
  const observed = await observedIssuer(pki, mount, summary, spec, {})
  try {
    return { id, observed: await update(engine, id, spec, observed), adopted: false }
  } catch (error) {
    throw new PartlyCreated(id, observed, error)
  }
}

// ---- How it changes ----

async function update(
  engine: Engine,
  id: string,
  spec: PkiIssuerSpec,
  observed: ObservedPkiAuthority,
  dropped: readonly string[] = [],
): Promise<ObservedPkiAuthority> {
  refuse(issuerFaults({ ...spec }))
  const { mount } = placeOf(id)
  const pki = engine.pki(mount)
  const wanted = withDefaults(spec, dropped)
  const signed = await signedOf(engine, mount, wanted, observed)
  const issuerId = signed ?? observed.issuerId
  if (observed.keyId !== null && wanted.keyName !== undefined && wanted.keyName !== observed.keyName)
    await pki.keys.rename(observed.keyId, wanted.keyName)
  if (issuerId === null) return { ...observed, name: wanted.name, keyName: keyNameOf(wanted) }
  const isSuccessor = observed.issuerId !== null && issuerId !== observed.issuerId
  // Its name is free first; what it has issued is its successor's to answer for, who has the same name and key.
  if (isSuccessor && observed.issuerId !== null) await pki.issuers.update(observed.issuerId, { issuerName: "" })
  const changed =
    isSuccessor || observed.issuerId === null ? Object.keys(wanted) : changes(wanted, observed, dropped).changed
  const patch = patchOf(wanted, isSuccessor ? observed : undefined, changed, issuerId)
  if (Object.keys(patch).length > 0) await declaredRefusals(issuerShape, () => pki.issuers.update(issuerId, patch))
  if ((wanted.isDefault === true && !(observed.isDefault && !isSuccessor)) || (isSuccessor && observed.isDefault))
    await pki.settings.changeIssuers({ default: issuerId })
  if (isSuccessor && observed.issuerId !== null) await pki.issuers.delete(observed.issuerId)
  const summary = (await pki.issuers.list()).find((one) => one.id === issuerId)
  if (summary === undefined) throw unprocessable(`issuer ${issuerId} of ${mount} was deleted meanwhile`)
  return observedIssuer(pki, mount, summary, wanted, observed)
}

/** By whoever is to sign it, unless that is done. The answer is the id of the issuer. */
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
    await refuseOtherCertificate(pki, spec.signedCertificate, observed.keyId)
    return broughtIn(pki, spec.signedCertificate, "intermediate/set-signed")
  }
  if (observed.issuerId !== null || !isSignedHere(spec)) return undefined
  const csr = observed.csr ?? (await requested(pki, spec, observed.keyId ?? undefined)).csr
  const parent = engine.pki(spec.parentMount === undefined ? mount : mountPathOf(spec.parentMount))
  const input: SignIntermediateInput = { ...signedContentOf(spec), csr }
  const { certificate, caChain } = await declaredRefusals(issuerShape, () =>
    parent.certificates.signIntermediate(input, { issuerRef: spec.parentIssuerRef ?? "default" }),
  )
  const chain = [certificate, ...caChain.filter((der) => Buffer.compare(der, certificate) !== 0)]
  const bundle = chain.map((der) => writePem("CERTIFICATE", der)).join("\n")
  return broughtIn(pki, bundle, "intermediate/set-signed")
}

async function refuseOtherCertificate(pki: Pki, pem: string, keyId: string | null): Promise<void> {
  const first = firstCertificateIn(pem)
  if (first === undefined || keyId === null) return
  const { subjectPublicKeyInfo } = parseCertificate(readCertificatePem(first))
  const own = await pki.keys.get(keyId)
  if (Buffer.compare(subjectKeyIdentifier(readPublicKey(subjectPublicKeyInfo)), own.subjectKeyIdentifier) !== 0)
    throw invalid([
      { field: ["signedCertificate"], detail: "signedCertificate is for another key than that of the request (csr)" },
    ])
}

/** What is declared of what has changed; a successor has everything that the one before it had. */
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

function refuse(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalid(faults)
}

// ---- How it goes ----

async function remove(
  engine: Engine,
  id: string,
  spec: Partial<PkiIssuerSpec>,
  removal: Removal,
  { before, now }: Known<ObservedPkiAuthority>,
): Promise<void> {
  const { mount, reference } = placeOf(id)
  const pki = engine.pki(mount)
  try {
    const isKey = reference.startsWith("key-")
    const all = await pki.issuers.list()
    const own = all.filter((issuer) => (isKey ? issuer.keyId : issuer.id) === reference)
    const chain: string[] = []
    for (const { id: issuerId, keyId } of own) if (keyId !== null) chain.push(...(await chainOf(pki, issuerId)))
    for (const issuer of own) {
      const view = await pki.issuers.get(issuer.id)
      if (removal === "safe") await refuseNeeded(pki, view)
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

async function refuseNeeded(pki: Pki, view: IssuerView): Promise<void> {
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

// ---- Its place ----

const idOf = (mount: string, { kind }: PkiIssuerSpec, { issuerId, keyId }: ObservedPkiAuthority): string =>
  `${mount}/${kind === "intermediate" ? keyId : issuerId}`

function placeOf(id: string): { readonly mount: string; readonly reference: string } {
  const [, mount, reference] = /^(.+)\/((?:iss|key)-\w+)$/.exec(id) ?? []
  if (mount === undefined || reference === undefined)
    throw invalid([
      { field: ["id"], detail: `id of an issuer must be MOUNT/ISSUER or MOUNT/KEY by its ids, not "${id}"` },
    ])
  return { mount, reference }
}
