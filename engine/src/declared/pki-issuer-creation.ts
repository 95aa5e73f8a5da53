// Creation of issuers. A root takes one request. An intermediate takes several; each finds the results of the previous one: the key by its
// name, the issuer by its key.
import { conflict, isEngineError, rejectFaults, unprocessable } from "../core/errors.ts"
import type { Engine } from "../engine.ts"
import type { IssuerSummary, IssuerView } from "../pki/issuers/issuer-api.ts"
import { mountPathOf } from "../pki/mounts/mount.ts"
import type { Pki } from "../pki/mounts/pki.ts"
import { parseCertificate } from "../x509/certificate.ts"
import { keyAlgorithm } from "../x509/key-algorithm.ts"
import { sameName } from "../x509/name.ts"
import { writePem } from "../x509/pem.ts"
import { readPublicKey } from "../x509/public-key.ts"
import { withDeclaredNames } from "./certificate-members.ts"
import { type Created, type Origin, PartlyCreated } from "./declared-resource.ts"
import { broughtIn, requested, updateIssuer } from "./pki-issuer-change.ts"
import {
  hasIssued,
  type ObservedPkiAuthority,
  observedIssuer,
  observeIssuer,
  unsigned,
} from "./pki-issuer-observation.ts"
import {
  firstCertificateIn,
  issuerFaults,
  issuerMembers,
  isSignedHere,
  keyNameOf,
  type PkiIssuerSpec,
  rootInputOf,
} from "./pki-issuer-spec.ts"
import { judgeAuthority } from "./request-rules.ts"
import { sameJson } from "./same-value.ts"

export async function createIssuer(
  engine: Engine,
  spec: PkiIssuerSpec,
  { adopt }: Origin,
): Promise<Created<ObservedPkiAuthority>> {
  rejectFaults(issuerFaults({ ...spec }))
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

/** Returns an intermediate that was signed by an attempt that ended before it was named. */
async function nameless(pki: Pki, spec: PkiIssuerSpec): Promise<IssuerSummary | undefined> {
  const key = (await pki.keys.list()).find(({ name }) => name === keyNameOf(spec))
  return (await pki.issuers.list()).find(({ name, keyId }) => name === null && keyId !== null && keyId === key?.id)
}

/**
 * Takes over an existing issuer. One that is as declared and has issued nothing may come from a lost answer, and is taken over without
 * `adopt`.
 */
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
    throw unprocessable(`${name} exists with a different certificate or key; use another name`)
  const isOurs = !(await hasIssued(pki, view))
  if (!isOurs && !adopt) throw conflict(`${name} already exists and has issued certificates`)
  const observed = await observedIssuer(pki, mount, present, spec, {})
  const id = idOf(mount, spec, observed)
  return { id, observed: await updateIssuer(engine, id, spec, observed), adopted: !isOurs }
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

async function generated(engine: Engine, mount: string, spec: PkiIssuerSpec): Promise<Created<ObservedPkiAuthority>> {
  const pki = engine.pki(mount)
  let id: string
  try {
    id = (await withDeclaredNames(issuerMembers, () => pki.issuers.generateRoot(rootInputOf(spec)))).issuerId
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

async function intermediate(
  engine: Engine,
  mount: string,
  spec: PkiIssuerSpec,
): Promise<Created<ObservedPkiAuthority>> {
  const pki = engine.pki(mount)
  const keyName = keyNameOf(spec)
  const left = (await pki.keys.list()).find(({ name }) => name === keyName)
  if (left !== undefined) await rejectOtherKey(pki, spec, left.id)
  const { keyId, csr } = await withDeclaredNames(issuerMembers, () => requested(pki, spec, left?.id))
  const observed = unsigned(mount, { keyId, keyName, csr }, spec)
  const id = `${mount}/${keyId}`
  if (!isSignedHere(spec) && spec.signedCertificate === undefined) return { id, observed, adopted: false }
  try {
    return { id, observed: await updateIssuer(engine, id, spec, observed), adopted: false }
  } catch (error) {
    // The certificate may have been signed despite the error.
    const known = { before: observed, now: 0 }
    const left = await observeIssuer(engine, id, spec, known).catch(() => undefined)
    throw new PartlyCreated(id, left ?? observed, error)
  }
}

/** Throws `unprocessable` unless the key of this name may come from a lost answer: it has no issuer and the declared type. */
async function rejectOtherKey(pki: Pki, spec: PkiIssuerSpec, keyId: string): Promise<void> {
  const isUsed = (await pki.issuers.list()).some((issuer) => issuer.keyId === keyId)
  const { type } = await pki.keys.get(keyId)
  if (isUsed || type !== (spec.keyType ?? "rsa"))
    throw unprocessable(
      `key "${keyNameOf(spec)}" of ${spec.mount} belongs to another issuer or has another type; set keyName`,
    )
}

/** Applies the settings. If that fails, `PartlyCreated` records the issuer that exists. */
async function settled(
  engine: Engine,
  mount: string,
  spec: PkiIssuerSpec,
  issuerId: string,
): Promise<Created<ObservedPkiAuthority>> {
  const pki = engine.pki(mount)
  const id = `${mount}/${issuerId}`
  const summary = (await pki.issuers.list()).find((one) => one.id === issuerId)
  if (summary === undefined) throw unprocessable(`issuer ${issuerId} of ${mount} was deleted during its creation`)
  const observed = await observedIssuer(pki, mount, summary, spec, {})
  try {
    return { id, observed: await updateIssuer(engine, id, spec, observed), adopted: false }
  } catch (error) {
    throw new PartlyCreated(id, observed, error)
  }
}

const idOf = (mount: string, { kind }: PkiIssuerSpec, { issuerId, keyId }: ObservedPkiAuthority): string =>
  `${mount}/${kind === "intermediate" ? keyId : issuerId}`
