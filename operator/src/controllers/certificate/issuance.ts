// One attempt to issue a certificate. Nothing in use changes before the response is verified. The key is stored before the request, so that
// a crash leaves no certificate without a key.
import {
  type Engine,
  EngineError,
  isEngineError,
  type IssuedCertificate,
  type IssueInput,
  type Pki,
  type Role,
  usagesOfRole,
} from "@chancery/engine"
import {
  type PrivateKey,
  readPrivateKeyPem,
  signedRequest,
  sha256,
  UnacceptableInput,
  writePem,
} from "@chancery/engine/x509"
import type { Cluster } from "../../kube/cluster.ts"
import type { Health } from "../conditions.ts"
import { parseGoDuration } from "../../go-duration.ts"
import type { CertificateSpec } from "../../api/certificate.ts"
import type { IssuerSpec } from "../../api/issuer.ts"
import { keyOf, type KubernetesObject, type ObjectKey, secondTime, secrets } from "../../kube/kubernetes-object.ts"
import type { ObjectStore } from "../../kube/object-store.ts"
import { refused, NotReadyError } from "../reconcile-result.ts"
import { labels } from "../../kube/owned-objects.ts"
import { annotations } from "./annotations.ts"
import { authorityInput, pathProblem } from "./authority.ts"
import { fieldManager } from "./certificate-context.ts"
import type { EarlierCertificate } from "./certificate-status.ts"
import { metadataOf } from "./creation-id.ts"
import { describeDifferences } from "./difference.ts"
import {
  type StoredCertificateState,
  type StoredCertificate,
  readStoredCertificate,
  textOf,
} from "./stored-certificate.ts"
import { isKeyOf, isWantedKey, keyPem, keysOfThisProcess, wantedKey } from "./keys.ts"
import { commonNameOf, differences, inputOf, missingUsages, requestContent } from "./names.ts"
import { isDueAtOnce } from "./renewal.ts"
import { renewalFor } from "./renewal-terms.ts"
import { splitChain } from "./secret-layout.ts"
import { readSigningRequest } from "./csr.ts"
import { subjectDifferencesToRole } from "./subject.ts"

export interface IssuanceParts {
  readonly cluster: Pick<Cluster, "apply" | "delete">
  /** Cache of the operator's own Secrets, which have its label. */
  readonly secrets: Pick<ObjectStore, "get">
}

export interface Issuance {
  readonly certificate: KubernetesObject
  readonly spec: CertificateSpec
  readonly issuer: IssuerSpec
  readonly engine: Engine
  /** Name of the role in the engine. */
  readonly role: string
  readonly stored: StoredCertificateState
  readonly mayKeepKey: boolean
  /** Revision of the requested certificate. */
  readonly revision: number
  readonly creationId: string
  readonly now: number
  /** Throws if the API server rejects the Secret. No certificate is requested then. */
  readonly rehearse: (key: PrivateKey | undefined) => Promise<void>
}

interface FailureCause {
  /** Certificate that was issued and is not used. */
  readonly discarded?: EarlierCertificate
  /** No response arrived, so a certificate may have been issued. */
  readonly isOutcomeUnknown?: boolean
}

/** Failed attempt; counted and retried with a backoff. */
export class IssuanceFailed extends Error {
  readonly health: Health
  readonly discarded: EarlierCertificate | undefined
  readonly isOutcomeUnknown: boolean

  constructor(health: Health, { discarded, isOutcomeUnknown = false }: FailureCause = {}) {
    super(health.message)
    this.name = "IssuanceFailed"
    this.health = health
    this.discarded = discarded
    this.isOutcomeUnknown = isOutcomeUnknown
  }
}

/** Issues a certificate. Throws `IssuanceFailed`, or `Postponed` if the engine rate-limits. */
export async function issue(parts: IssuanceParts, issuance: Issuance): Promise<StoredCertificate> {
  const { spec, issuer, engine } = issuance
  const pki = engine.pki(issuer.mount)
  const role = spec.isCA ? undefined : await answered(() => readableRole(pki, issuance.role))
  assertRole(issuance, role)
  const key = spec.keySource === "Engine" || spec.csr !== undefined ? undefined : await keyFor(parts, issuance)
  await issuance.rehearse(key)
  const issued = await answered(() =>
    spec.isCA && key !== undefined ? signAuthority(pki, issuance, key) : ask(pki, issuance, role, key),
  )
  return accepted(issuance, issued, key)
}

/**
 * Returns undefined if the token may not read the role or the role does not exist. The engine's answer to the request reports the cause.
 */
async function readableRole({ roles }: Pki, name: string): Promise<Role | undefined> {
  try {
    return await roles.get(name)
  } catch (error) {
    if (isEngineError(error, "forbidden") || isEngineError(error, "not-found")) return undefined
    throw error
  }
}

/** Throws if the role lacks usages of the spec, or sets another subject. The role decides on both, so such a certificate would be unusable. */
function assertRole({ spec, role: name }: Issuance, role: Role | undefined): void {
  const key = spec.csr === undefined ? wantedKey(spec.privateKey) : readSigningRequest(spec.csr).publicKey.algorithm
  if (role === undefined || key === undefined) return
  const { keyUsages, extendedKeyUsages } = usagesOfRole(role, key.type)
  const missing = missingUsages(spec, keyUsages, extendedKeyUsages)
  if (missing.length > 0)
    throw unfit(
      "CertificateUnfit",
      `The role ${name} does not set the required usages: ${describeDifferences(missing)}.`,
    )
  const differing = subjectDifferencesToRole(spec.subject, role)
  if (differing.length > 0)
    throw unfit("CertificateUnfit", `The role ${name} sets another subject: ${describeDifferences(differing)}.`)
}

/** Has a CA certificate signed. No role decides on it, so the Issuer must allow it (`allowCertificateAuthorities`). */
async function signAuthority(
  { certificates }: Pki,
  { spec, issuer }: Issuance,
  key: PrivateKey,
): Promise<IssuedCertificate> {
  const commonName = commonNameOf(spec, true)
  const csr = writePem("CERTIFICATE REQUEST", await signedRequest(key, requestContent(spec, commonName)))
  const input = { ...inputOf(spec, commonName), ...authorityInput(spec), ...lifetimeOf(spec), csr }
  const issued = await certificates.signIntermediate(input, { issuerRef: issuer.issuerRef })
  // The chain of an intermediate begins with itself.
  const caChain = issued.caChain.filter((der) => Buffer.compare(der, issued.certificate) !== 0)
  return { ...issued, caChain }
}

const lifetimeOf = ({ duration, notAfter, removeRootsFromChain }: CertificateSpec) => ({
  removeRootsFromChain,
  ...(duration === undefined ? {} : { ttlMs: parseGoDuration(duration) ?? 0 }),
  ...(notAfter === undefined ? {} : { notAfter: Date.parse(notAfter) }),
})

async function ask(
  { certificates }: Pki,
  { spec, issuer, role: name, creationId }: Issuance,
  role: Role | undefined,
  key: PrivateKey | undefined,
): Promise<IssuedCertificate> {
  const choice = issuer.pathMode === "PathOverride" ? { issuerRef: issuer.issuerRef } : {}
  const commonName = commonNameOf(spec, role?.requireCn ?? true)
  const input: IssueInput = {
    ...inputOf(spec, commonName),
    ...lifetimeOf(spec),
  }
  const wanted = wantedKey(spec.privateKey)
  const keyBits = wanted === undefined || wanted.type === "ed25519" ? 0 : wanted.bits
  const csr =
    key === undefined
      ? spec.csr
      : writePem("CERTIFICATE REQUEST", await signedRequest(key, requestContent(spec, commonName)))
  const send = (more: IssueInput) =>
    csr === undefined
      ? certificates.issue(name, { ...input, ...more, keyType: wanted?.type ?? "", keyBits }, choice)
      : certificates.sign(name, { ...input, ...more, csr }, choice)
  if (role?.noStoreMetadata === true) return send({})
  try {
    return await send({ certMetadata: metadataOf(creationId) })
  } catch (error) {
    // The role could not be read, and does not store metadata. Retry without.
    if (role !== undefined || !isEngineError(error, "invalid") || !error.faults.some(isAboutMetadata)) throw error
    return send({})
  }
}

const isAboutMetadata = ({ field }: EngineError["faults"][number]): boolean => field?.[0] === "certMetadata"

async function answered<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    if (!isEngineError(error)) throw error
    const meaning = refused(shortened(error))
    if (!(meaning instanceof NotReadyError)) throw meaning
    throw new IssuanceFailed(meaning.outcome.health, { isOutcomeUnknown: error.code === "unavailable" })
  }
}

/** Messages of engines have no limit, but a condition has. */
const maxMessage = 4_096

const shortened = (error: EngineError): EngineError =>
  new EngineError(error.code, error.message.slice(0, maxMessage), {
    faults: error.faults,
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
  })

function accepted(issuance: Issuance, issued: IssuedCertificate, key: PrivateKey | undefined): StoredCertificate {
  const { spec, revision, now } = issuance
  const privateKey = key ?? issued.privateKey
  if (privateKey === undefined && spec.csr === undefined)
    throw unfit("CertificateUnfit", "The engine returned no private key with the certificate.")
  const discarded = { serialNumber: issued.serialNumber, notAfter: secondTime(issued.notAfter), discarded: true }
  const stored = read(privateKey, issued, discarded)
  if (!isKeyOf(spec, stored) && spec.csr !== undefined)
    throw unfit("CertificateUnfit", "The engine returned a certificate with another key than spec.csr.", discarded)
  const differing = differences(spec, stored.leaf, stored.values)
  if (differing.length > 0) {
    const source = spec.isCA ? `issuer ${issuance.issuer.issuerRef}` : `role ${issuance.role}`
    const message = `The engine issued a certificate that does not match the spec; check the ${source}: ${describeDifferences(differing)}.`
    throw unfit("CertificateUnfit", message, discarded)
  }
  const problem = spec.isCA ? pathProblem(stored.chain, stored.authorities) : undefined
  if (problem !== undefined)
    throw unfit("CertificateUnfit", `The engine issued a CA certificate that no client accepts: ${problem}.`, discarded)
  const renewal = renewalFor(issuance.certificate, spec, { stored, revision, now })
  if (stored.leaf.notAfter <= now || (renewal !== undefined && isDueAtOnce(stored.leaf, renewal, now))) {
    const message =
      "The lifetime of the issued certificate is so short that it is due for renewal immediately; increase duration, or decrease renewBefore."
    throw unfit("LifetimeTooShort", message, discarded)
  }
  return stored
}

function read(
  privateKey: PrivateKey | undefined,
  issued: IssuedCertificate,
  discarded: EarlierCertificate,
): StoredCertificate {
  try {
    const { chain, authorities } = splitChain(issued.certificate, issued.issuingCa, issued.caChain)
    const stored = readStoredCertificate(privateKey, chain, authorities)
    if (stored.is === "whole") return stored
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
  }
  throw unfit("CertificateUnfit", "The engine returned no certificate for the key.", discarded)
}

const unfit = (
  reason: "CertificateUnfit" | "LifetimeTooShort",
  message: string,
  discarded?: EarlierCertificate,
): IssuanceFailed =>
  new IssuanceFailed(
    { is: "stalled", reason, message: message.slice(0, maxMessage) },
    discarded === undefined ? {} : { discarded },
  )

const maxName = 200

/** Returns the key of the Secret that stores the private key of the next certificate. */
export function nextKeyOf({ metadata: { name, namespace, uid } }: KubernetesObject, revision: number): ObjectKey {
  const hash = sha256(Buffer.from(`${uid}:${revision}`)).slice(0, 10)
  return keyOf({
    metadata: { name: `${name.slice(0, maxName)}-next-${hash}`, ...(namespace === undefined ? {} : { namespace }) },
  })
}

/** Returns the current key if it is to stay, else a stored one of an earlier attempt, else a new one. */
async function keyFor({ cluster, secrets: store }: IssuanceParts, issuance: Issuance): Promise<PrivateKey> {
  const { certificate, spec, stored, mayKeepKey, revision } = issuance
  const wanted = wantedKey(spec.privateKey)
  if (wanted === undefined)
    throw new IssuanceFailed({
      is: "stalled",
      reason: "InvalidSpec",
      message: "spec.privateKey.size is not a valid key size.",
    })
  const isKept = spec.privateKey.rotationPolicy === "Never" && mayKeepKey
  const present = stored.is === "whole" ? stored.privateKey : undefined
  if (isKept && present !== undefined && isWantedKey(wanted, present.algorithm)) return present
  const place = nextKeyOf(certificate, revision)
  const secret = store.get(place)
  const kept = secret === undefined ? undefined : keyIn(secret)
  if (kept !== undefined && isWantedKey(wanted, kept.algorithm)) return kept
  const key = await keysOfThisProcess.generate(wanted)
  await cluster.apply(secrets, nextKeySecret(issuance, place, key, secret), fieldManager)
  return key
}

const maxPem = 64 * 1024

/** Returns the key in a Secret of `nextKeyOf`, or undefined if it cannot be parsed. */
export function keyIn(secret: KubernetesObject): PrivateKey | undefined {
  try {
    return readPrivateKeyPem(textOf(secret, "tls.key"), maxPem)
  } catch (error) {
    if (error instanceof UnacceptableInput) return undefined
    throw error
  }
}

/** The Secret has the labels of the template, because admission policies that require labels apply to it too. */
function nextKeySecret(
  { certificate: { metadata }, spec: { secretTemplate = {} } }: Pick<Issuance, "certificate" | "spec">,
  place: ObjectKey,
  key: PrivateKey,
  present: KubernetesObject | undefined,
): KubernetesObject {
  const { name, namespace, uid } = metadata
  const owner = { apiVersion: "chancery.dev/v1alpha1", kind: "Certificate", name, uid, controller: true }
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: place.slice(place.indexOf("/") + 1),
      ...(namespace === undefined ? {} : { namespace }),
      ...(present?.metadata.uid === undefined ? {} : { uid: present.metadata.uid }),
      labels: { ...secretTemplate.labels, ...labels },
      annotations: { ...secretTemplate.annotations, [annotations.certificateName]: name },
      ownerReferences: [{ ...owner, blockOwnerDeletion: false }],
    },
    type: "Opaque",
    data: { "tls.key": Buffer.from(`${keyPem(key, { encoding: "PKCS8" })}\n`).toString("base64") },
  }
}
