// One attempt to have a certificate issued. Nothing that is in use is touched before the answer is known to be good; the key is
// put down before it is certified, so that a crash leaves no certificate without one.
import { type Engine, EngineError, isEngineError, type IssuedCertificate, type Pki } from "@chancery/engine"
import {
  type PrivateKey,
  readPrivateKeyPem,
  signedRequest,
  sha256,
  UnacceptableInput,
  writePem,
} from "@chancery/engine/x509"
import type { Cluster } from "../cluster.ts"
import type { Health } from "../conditions.ts"
import { parseGoDuration } from "../go-duration.ts"
import type { CertificateSpec } from "../kinds/certificate.ts"
import type { IssuerSpec } from "../kinds/issuer.ts"
import { keyOf, type KubernetesObject, type ObjectKey, secrets } from "../kubernetes-object.ts"
import type { ObjectStore } from "../object-store.ts"
import { refused, Unsettled } from "../outcome.ts"
import { labels } from "../own-objects.ts"
import { annotations } from "./annotations.ts"
import { fieldManager } from "./certificate-case.ts"
import { type Held, type HeldCertificate, heldOf, textOf } from "./held-certificate.ts"
import { isWantedKey, keyPem, keysOfThisProcess, wantedKey } from "./keys.ts"
import { differingFields, inputOf, requestContent } from "./names.ts"
import { isDueAtOnce } from "./renewal.ts"
import { renewalFor } from "./renewal-terms.ts"
import { splitChain } from "./secret-layout.ts"

export interface IssuanceParts {
  readonly cluster: Pick<Cluster, "apply" | "delete">
  /** Of ours, which are labelled. */
  readonly secrets: Pick<ObjectStore, "get">
}

export interface Issuance {
  readonly certificate: KubernetesObject
  readonly spec: CertificateSpec
  readonly issuer: IssuerSpec
  readonly engine: Engine
  /** As the engine calls it. */
  readonly role: string
  readonly held: Held
  readonly mayKeepKey: boolean
  /** Of the certificate that is asked for. */
  readonly revision: number
  readonly now: number
}

/** Counts as a failure, and is tried again. */
export class IssuanceFailed extends Error {
  readonly health: Health

  constructor(health: Health) {
    super(health.message)
    this.name = "IssuanceFailed"
    this.health = health
  }
}

/** Throws `IssuanceFailed`, and `Postponed` where the engine asks for patience. */
export async function issue(parts: IssuanceParts, issuance: Issuance): Promise<HeldCertificate> {
  const { spec, issuer, engine } = issuance
  const pki = engine.pki(issuer.mount)
  const key = spec.keySource === "Engine" ? undefined : await keyFor(parts, issuance)
  const issued = await answered(() => ask(pki, issuance, key))
  return accepted(issuance, issued, key)
}

async function ask(
  { certificates }: Pki,
  { spec, issuer, role }: Issuance,
  key: PrivateKey | undefined,
): Promise<IssuedCertificate> {
  const choice = issuer.pathMode === "PathOverride" ? { issuerRef: issuer.issuerRef } : {}
  const input = {
    ...inputOf(spec),
    removeRootsFromChain: spec.removeRootsFromChain,
    ...(spec.duration === undefined ? {} : { ttlMs: parseGoDuration(spec.duration) ?? 0 }),
    ...(spec.notAfter === undefined ? {} : { notAfter: Date.parse(spec.notAfter) }),
  }
  if (key === undefined) {
    const wanted = wantedKey(spec.privateKey)
    const keyBits = wanted === undefined || wanted.type === "ed25519" ? 0 : wanted.bits
    return certificates.issue(role, { ...input, keyType: wanted?.type ?? "", keyBits }, choice)
  }
  const csr = writePem("CERTIFICATE REQUEST", await signedRequest(key, requestContent(spec)))
  return certificates.sign(role, { ...input, csr }, choice)
}

async function answered(work: () => Promise<IssuedCertificate>): Promise<IssuedCertificate> {
  try {
    return await work()
  } catch (error) {
    if (!isEngineError(error)) throw error
    const meaning = refused(shortened(error))
    throw meaning instanceof Unsettled ? new IssuanceFailed(meaning.outcome.health) : meaning
  }
}

/** What an engine says may be of any length, and a condition has room for so much. */
const messageMaximum = 4_096

const shortened = (error: EngineError): EngineError =>
  new EngineError(error.code, error.message.slice(0, messageMaximum), {
    faults: error.faults,
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
  })

function accepted(issuance: Issuance, issued: IssuedCertificate, key: PrivateKey | undefined): HeldCertificate {
  const { spec, revision, now } = issuance
  const privateKey = key ?? issued.privateKey
  if (privateKey === undefined) throw unfit("CertificateUnfit", "The engine gave no key with the certificate.")
  const held = read(privateKey, issued)
  const missing = differingFields(spec, held.leaf, held.values)
  if (missing.length > 0) {
    const fields = missing.map((field) => `spec.${field}`).join(" and ")
    throw unfit(
      "CertificateUnfit",
      `The engine issued a certificate that does not say what ${fields} ask for; the role decides.`,
    )
  }
  const renewal = renewalFor(issuance.certificate, spec, { held, revision, now })
  if (held.leaf.notAfter <= now || (renewal !== undefined && isDueAtOnce(held.leaf, renewal, now))) {
    const message =
      "The engine issues for so short a time that the certificate would be due at once; ask for a longer duration, or renew later."
    throw unfit("LifetimeTooShort", message)
  }
  return held
}

function read(privateKey: PrivateKey, issued: IssuedCertificate): HeldCertificate {
  try {
    const { chain, authorities } = splitChain(issued.certificate, issued.issuingCa, issued.caChain)
    const held = heldOf(privateKey, chain, authorities)
    if (held.is === "whole") return held
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
  }
  throw unfit("CertificateUnfit", "The engine issued no certificate for the key.")
}

const unfit = (reason: "CertificateUnfit" | "LifetimeTooShort", message: string): IssuanceFailed =>
  new IssuanceFailed({ is: "stalled", reason, message })

const nameMaximum = 200

/** Where the key of the next certificate is put down. */
export function nextKeyOf({ metadata: { name, namespace, uid } }: KubernetesObject, revision: number): ObjectKey {
  const hash = sha256(Buffer.from(`${uid}:${revision}`)).slice(0, 10)
  return keyOf({
    metadata: { name: `${name.slice(0, nameMaximum)}-next-${hash}`, ...(namespace === undefined ? {} : { namespace }) },
  })
}

/** The key in use where it is to stay, or one that was put down before, or a new one. */
async function keyFor({ cluster, secrets: store }: IssuanceParts, issuance: Issuance): Promise<PrivateKey> {
  const { certificate, spec, held, mayKeepKey, revision } = issuance
  const wanted = wantedKey(spec.privateKey)
  if (wanted === undefined)
    throw new IssuanceFailed({ is: "stalled", reason: "InvalidSpec", message: "spec.privateKey.size is of no key." })
  const isKept = spec.privateKey.rotationPolicy === "Never" && mayKeepKey
  if (isKept && held.is === "whole" && isWantedKey(wanted, held.privateKey.algorithm)) return held.privateKey
  const place = nextKeyOf(certificate, revision)
  const present = store.get(place)
  const kept = present === undefined ? undefined : keyIn(present)
  if (kept !== undefined && isWantedKey(wanted, kept.algorithm)) return kept
  const key = await keysOfThisProcess.generate(wanted)
  await cluster.apply(secrets, nextKeySecret(certificate, place, key, present), fieldManager)
  return key
}

const pemMaximum = 64 * 1024

function keyIn(secret: KubernetesObject): PrivateKey | undefined {
  try {
    return readPrivateKeyPem(textOf(secret, "tls.key"), pemMaximum)
  } catch (error) {
    if (error instanceof UnacceptableInput) return undefined
    throw error
  }
}

function nextKeySecret(
  { metadata: { name, namespace, uid } }: KubernetesObject,
  place: ObjectKey,
  key: PrivateKey,
  present: KubernetesObject | undefined,
): KubernetesObject {
  const owner = { apiVersion: "chancery.dev/v1alpha1", kind: "Certificate", name, uid, controller: true }
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: place.slice(place.indexOf("/") + 1),
      ...(namespace === undefined ? {} : { namespace }),
      ...(present?.metadata.uid === undefined ? {} : { uid: present.metadata.uid }),
      labels,
      annotations: { [annotations.certificateName]: name },
      ownerReferences: [{ ...owner, blockOwnerDeletion: false }],
    },
    type: "Opaque",
    data: { "tls.key": Buffer.from(`${keyPem(key, { encoding: "PKCS8" })}\n`).toString("base64") },
  }
}
