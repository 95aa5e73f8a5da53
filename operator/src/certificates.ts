// Certificates: what is in the Secret is compared with what is asked for, and another one is issued where that is needed and
// possible. One that is good stays in use until a better one is at hand, whatever else goes wrong.
import { isEngineError } from "@chancery/engine"
import { sha256 } from "@chancery/engine/x509"
import { managedLabel } from "./certificate/annotations.ts"
import {
  type CertificateStatus,
  type EarlierCertificate,
  statusOf,
  toBeRevoked,
} from "./certificate/certificate-status.ts"
import { certificatesIn, type Held, heldIn, isSelfIssued } from "./certificate/held-certificate.ts"
import { issuanceManager, IssuanceFailed, issue, nextKeyOf } from "./certificate/issuance.ts"
import { claimOf } from "./certificate/ownership.ts"
import { type CertificateFacts, type Finding, issuanceTrigger, unreadiness } from "./certificate/policies.ts"
import { renewalFor, shareOf, windowsProblem } from "./certificate/renewal-terms.ts"
import { nextAttempt, type RenewalTime } from "./certificate/renewal.ts"
import { isAsWanted, renewRequestIn, revisionIn, secretFor, writtenIn } from "./certificate/secret-layout.ts"
import {
  nextEnd,
  ownerOfBundle,
  takeoverAt,
  trustConfigMap,
  trusted,
  type TrustedAuthority,
  trustedIn,
} from "./certificate/trust-bundle.ts"
import { engineRoleName } from "./certificate-roles.ts"
import type { Cluster } from "./cluster.ts"
import type { Condition, Health, StoredCondition } from "./conditions.ts"
import type { Connected, EngineConnections } from "./engine-connections.ts"
import { parseGoDuration } from "./go-duration.ts"
import { certificateRole, type CertificateRoleSpec } from "./kinds/certificate-role.ts"
import { certificate, type CertificateSpec } from "./kinds/certificate.ts"
import { clusterIssuer, issuer, type IssuerSpec } from "./kinds/issuer.ts"
import {
  configMaps,
  type KubernetesObject,
  type ObjectKey,
  type Resource,
  secondTime,
  secrets,
} from "./kubernetes-object.ts"
import { toldHowToLetGo } from "./letting-go.ts"
import type { ObjectStore } from "./object-store.ts"
import { type Outcome, Postponed, refused, stalled, Unsettled, waiting } from "./outcome.ts"
import { OwnWrites } from "./own-writes.ts"
import { parsedSpec } from "./parsed-spec.ts"
import type { Reconciler, Visit } from "./reconciler.ts"
import type { OperatorRuntime } from "./runtime.ts"

export interface CertificatesOptions {
  readonly cluster: Pick<Cluster, "apply" | "delete" | "get">
  readonly runtime: Pick<OperatorRuntime, "random" | "stopwatch">
  readonly engines: Pick<EngineConnections, "connect">
  readonly storeOf: (resource: Resource) => Pick<ObjectStore, "get" | "by" | "size">
}

/** What a Certificate refers to, for its indexes. Of objects that no schema has seen. */
const said = (object: KubernetesObject) => (object["spec"] ?? {}) as Partial<CertificateSpec>
const within = ({ metadata: { namespace } }: KubernetesObject, name: string | undefined): readonly string[] =>
  name === undefined ? [] : [namespace === undefined ? name : `${namespace}/${name}`]

export const certificateIndexes = {
  secret: (object: KubernetesObject) => within(object, said(object).secretName),
  trust: (object: KubernetesObject) => within(object, said(object).trust?.publishTo.configMapName),
  role: (object: KubernetesObject) => within(object, said(object).role),
  issuer: (object: KubernetesObject) => {
    const { kind = "Issuer", name } = said(object).issuerRef ?? {}
    if (name === undefined) return []
    return kind === "Issuer" ? within(object, name).map((key) => `Issuer/${key}`) : [`ClusterIssuer/${name}`]
  },
}

export const managedSelector = `${managedLabel}=true`

const finalizerName = "chancery.dev/revoke"
const workloads = { Deployment: "deployments", StatefulSet: "statefulsets", DaemonSet: "daemonsets" }
const restartManager = "chancery-restart"
const pollMs = 3_600_000
const pollMinimumMs = 30_000
const pollAnnotation = "chancery.dev/poll-interval"
/** As the frame knows them. */
const requestAnnotations = ["chancery.dev/reconcile-requested-at", "reconcile.fluxcd.io/requestedAt"]
const renewAnnotation = "chancery.dev/renew-requested-at"
/** Nobody tells when somebody else's Secret goes away. */
const foreignPollMs = 60_000
/** Looked at a second time only after the watch has shown what was written. */
const patienceMs = 200
const askedMinimum = 100

export function reconcileCertificates(options: CertificatesOptions): Reconciler {
  const certificates = new Certificates(options)
  return {
    finalizer: {
      name: finalizerName,
      needed: (object) => said(object).revocationPolicy?.onDelete === true,
    },
    reconcile: (object, visit) => certificates.reconcile(object, visit),
    finalize: (object, visit) => certificates.finalize(object, visit),
  }
}

/** Everything about one Certificate in the course of one look. */
interface Case {
  readonly object: KubernetesObject
  readonly visit: Visit
  readonly spec: CertificateSpec
  readonly key: ObjectKey
  readonly before: CertificateStatus
  /** As it is, or as it was written last. */
  secret: KubernetesObject | undefined
  held: Held
}

/** What can be known of an issuer without asking anybody. */
interface KnownIssuer {
  readonly spec: IssuerSpec
  readonly fingerprint: string | undefined
  /** DER; itself first. */
  readonly chain: readonly Uint8Array[]
  readonly readySince: number
}

class Certificates {
  readonly #options: CertificatesOptions
  readonly #writes: OwnWrites
  /** When the engine was last asked whether a certificate is revoked, by the key of its Secret. */
  readonly #askedAt = new Map<string, number>()

  constructor(options: CertificatesOptions) {
    this.#options = options
    this.#writes = new OwnWrites(options.runtime.stopwatch)
  }

  async reconcile(object: KubernetesObject, visit: Visit): Promise<Outcome> {
    const spec = parsedSpec(certificate, object)
    const problem = windowsProblem(spec)
    if (problem !== undefined) throw stalled("InvalidSpec", problem)
    const key = inNamespaceOf(object, spec.secretName)
    const secret = await this.#secretAt(key)
    const one: Case = { object, visit, spec, key, before: visit.status, secret, held: heldIn(secret) }
    this.#refuseOthers(one)
    const known = this.#issuerOf(one)
    const trust = await this.#publishTrust(one, known)
    const isRevoked = await this.#isRevoked(one)
    const renewal = renewalOf(one)
    const facts = (): CertificateFacts => ({
      spec,
      held: one.held,
      written: writtenIn(one.secret),
      certificateName: object.metadata.name,
      role: this.#roleWritten(one, known),
      authority: known?.fingerprint,
      isAuthorityDue: trust.isTakeoverDue,
      isRevoked: isRevoked && one.secret === secret,
      renewalAt: renewalOf(one)?.at,
      isRenewalRequested: isRenewalRequested(one),
      now: visit.now,
    })
    const trigger = issuanceTrigger(facts())
    const waitsUntil = trigger === undefined ? undefined : backoffOf(one, known)
    if (waitsUntil !== undefined) return waitingOn(one, unreadiness(facts()), waitsUntil)
    const failure = trigger === undefined ? undefined : await this.#attempt(one, known, trigger, renewal)
    if (failure === undefined) await this.#keepUp(one, unreadiness(facts()) === undefined)
    return this.#outcome(one, { trigger, failure, trust, unready: unreadiness(facts()) })
  }

  async finalize(object: KubernetesObject, visit: Visit): Promise<Outcome | undefined> {
    if (said(object).revocationPolicy?.onDelete !== true) return undefined
    return toldHowToLetGo(certificate, object, async () => {
      const spec = parsedSpec(certificate, object)
      const key = inNamespaceOf(object, spec.secretName)
      const before: CertificateStatus = visit.status
      const one: Case = { object, visit, spec, key, before, secret: undefined, held: { is: "missing" } }
      const { serialNumber, notAfter } = one.before
      const pending = toBeRevoked(one.before, spec, visit.now)
      const own = serialNumber === undefined || notAfter === undefined ? [] : [{ serialNumber, notAfter }]
      for (const each of [...own.filter((one) => Date.parse(one.notAfter) > visit.now), ...pending])
        await this.#revoke(one, each.serialNumber, "cessationOfOperation")
    })
  }

  async #secretAt(key: ObjectKey): Promise<KubernetesObject | undefined> {
    const { cluster, storeOf } = this.#options
    const known = storeOf(secrets).get(key)
    const waitMs = this.#writes.waitMs(`secrets/${key}`, known?.metadata.resourceVersion)
    if (waitMs > 0) throw new Postponed(Math.min(waitMs, patienceMs))
    // Only ours are followed: another may be there all the same.
    return known ?? (await cluster.get(secrets, key))
  }

  #refuseOthers({ object, spec, key, secret }: Case): void {
    const claimants = this.#options.storeOf(certificate).by("secret", key)
    const claim = claimOf({ certificate: object, claimants, secret, mayAdopt: spec.secretAdoption === "Force" })
    if (claim.is === "granted") return
    const message =
      claim.is === "taken"
        ? `The Secret ${spec.secretName} is that of the Certificate ${claim.by}; name another one.`
        : `The Secret ${spec.secretName} is there and no Certificate's; name another one, delete it, or set secretAdoption to Force.`
    throw stalled("SecretNameConflict", message, foreignPollMs)
  }

  #issuerOf({ object, spec: { issuerRef } }: Case): KnownIssuer | undefined {
    const kind = issuerRef.kind === "Issuer" ? issuer : clusterIssuer
    const key = issuerRef.kind === "Issuer" ? inNamespaceOf(object, issuerRef.name) : issuerRef.name
    const found = this.#options.storeOf(kind).get(key)
    const parsed = kind.spec.safeParse(found?.["spec"])
    if (found === undefined || !parsed.success) return undefined
    const { caFingerprint, caChain = "" } = (found["status"] ?? {}) as {
      readonly caFingerprint?: string
      readonly caChain?: string
    }
    return {
      spec: parsed.data,
      fingerprint: caFingerprint,
      chain: certificatesIn(caChain),
      readySince: readySinceOf(found),
    }
  }

  /** The role to compare with: where nothing says which one, what is written is as good as any. */
  #roleWritten(one: Case, known: KnownIssuer | undefined): string {
    const written = writtenIn(one.secret)?.role ?? ""
    return known === undefined ? written : (this.#roleOf(one, known)?.name ?? written)
  }

  #roleOf({ object, spec }: Case, { spec: issuer }: KnownIssuer) {
    const given = spec.role ?? issuer.defaultRole
    if (given === undefined) return undefined
    const found = this.#options.storeOf(certificateRole).get(inNamespaceOf(object, given))
    const declared = found?.["spec"] as Partial<CertificateRoleSpec> | undefined
    if (found === undefined || declared?.mount !== issuer.mount) return { name: given, isReady: true }
    return { name: engineRoleName(declared, found), isReady: readySinceOf(found) !== Number.POSITIVE_INFINITY }
  }

  // ------------------------------------------------------------------ issuing

  /** Undefined when there is another certificate now. */
  async #attempt(
    one: Case,
    known: KnownIssuer | undefined,
    trigger: Finding,
    renewal: RenewalTime | undefined,
  ): Promise<Failure | undefined> {
    try {
      await this.#issue(one, known)
    } catch (error) {
      if (error instanceof IssuanceFailed) return failed(one, error.health, this.#options.runtime.random())
      if (!(error instanceof Unsettled)) throw error
      const { health, againAfterMs } = error.outcome
      return { health, counts: false, ...(againAfterMs === undefined ? {} : { againAfterMs }) }
    }
    await this.#told(one, trigger, renewal)
    return undefined
  }

  async #issue(one: Case, known: KnownIssuer | undefined): Promise<void> {
    const { object, visit, spec, key } = one
    const { issuerRef } = spec
    const title = `${issuerRef.kind} ${issuerRef.name}`
    if (known === undefined) throw stalled("IssuerMissing", `There is no ${title}.`)
    if (known.readySince === Number.POSITIVE_INFINITY)
      throw waiting("IssuerNotReady", `The ${title} is not ready; its status says why.`, pollMs)
    const role = this.#roleOf(one, known)
    if (role === undefined)
      throw stalled("RoleMissing", `Neither spec.role nor the defaultRole of the ${title} says which role.`)
    if (!role.isReady)
      throw waiting("RoleNotReady", `The CertificateRole of the role ${role.name} is not ready.`, pollMs)
    const { engine } = await this.#connect(one, known)
    const revision = Math.max(one.before.revision ?? 0, revisionIn(one.secret)) + 1
    const issuance = {
      certificate: object,
      spec,
      issuer: known.spec,
      engine,
      role: role.name,
      held: one.held,
      revision,
      now: visit.now,
    }
    const parts = { cluster: this.#options.cluster, secrets: this.#options.storeOf(secrets) }
    const held = await issue(parts, issuance)
    const content = {
      certificate: object,
      spec,
      held,
      role: role.name,
      authority: known.fingerprint ?? "",
      revision,
      renewRequest: object.metadata.annotations?.[renewAnnotation] ?? "",
    }
    visit.signal.throwIfAborted()
    await this.#writeSecret(one, await secretFor(content, one.secret))
    one.held = { is: "whole", ...held }
    const nextKey = nextKeyOf(object, revision)
    if (spec.keySource === "Operator" && spec.privateKey.rotationPolicy === "Always")
      await this.#options.cluster.delete(secrets, nextKey)
    else if (parts.secrets.get(nextKey) !== undefined) await this.#options.cluster.delete(secrets, nextKey)
    this.#asked(key, visit.now)
  }

  #connect({ object, visit }: Case, { spec: issuer }: KnownIssuer): Promise<Connected> {
    return this.#options.engines.connect(issuer.connectionRef, object.metadata.namespace, visit.signal)
  }

  async #writeSecret(one: Case, secret: KubernetesObject): Promise<void> {
    one.secret = await this.#options.cluster.apply(secrets, secret, issuanceManager)
    const { resourceVersion } = one.secret.metadata
    if (resourceVersion !== undefined) this.#writes.remember(`secrets/${one.key}`, resourceVersion)
  }

  /** The first certificate is told of by the condition Ready. */
  async #told({ before, visit, held }: Case, trigger: Finding, renewal: RenewalTime | undefined): Promise<void> {
    if (before.serialNumber === undefined || held.is !== "whole") return
    const outside = trigger.reason === "RenewalDue" && renewal?.isOutsideWindow === true
    const note = `${trigger.message} Another one was issued: ${held.serialNumber}.${outside ? " No renewal window opens in time." : ""}`
    await visit.record({ type: "Normal", reason: outside ? "RenewedOutsideWindow" : "Renewed", note })
  }

  // ------------------------------------------------------- what is beside it

  /** Everything that follows from a certificate, whenever it was issued: done again it changes nothing. */
  async #keepUp(one: Case, isGood: boolean): Promise<void> {
    const { object, spec, held, secret, before } = one
    if (held.is !== "whole" || secret === undefined || !isGood) return
    const written = writtenIn(secret)
    const revision = revisionIn(secret)
    const content = {
      certificate: object,
      spec,
      held,
      role: written?.role ?? "",
      authority: written?.authority ?? "",
      revision,
      renewRequest: renewRequestIn(secret),
    }
    const wanted = await secretFor(content, secret)
    if (!isAsWanted(wanted, secret)) await this.#writeSecret(one, wanted)
    const nextKey = nextKeyOf(object, revision)
    const { cluster, storeOf } = this.#options
    // Left behind by a crash.
    if (before.revision !== revision && storeOf(secrets).get(nextKey) !== undefined)
      await cluster.delete(secrets, nextKey)
    if (before.serialNumber !== undefined && before.serialNumber !== held.serialNumber)
      for (const workload of spec.rolloutRestart ?? []) await this.#restart(one, workload, held.serialNumber)
  }

  /** By an annotation of its pods: applied again it restarts nothing. */
  async #restart(
    { object, visit }: Case,
    { kind, name }: NonNullable<CertificateSpec["rolloutRestart"]>[number],
    serialNumber: string,
  ): Promise<void> {
    const { namespace, name: certificateName } = object.metadata
    const resource: Resource = { group: "apps", version: "v1", plural: workloads[kind], kind }
    const annotations = {
      [`restarted-for.chancery.dev/${sha256(Buffer.from(certificateName)).slice(0, 16)}`]: serialNumber,
    }
    const workload = {
      apiVersion: "apps/v1",
      kind,
      metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
      spec: { template: { metadata: { annotations } } },
    }
    const key = inNamespaceOf(object, name)
    const present = await this.#options.cluster.get(resource, key)
    if (present === undefined) {
      await visit.record({
        type: "Warning",
        reason: "WorkloadMissing",
        note: `There is no ${kind} ${name} to restart.`,
      })
      return
    }
    const { uid } = present.metadata
    await this.#options.cluster.apply(
      resource,
      { ...workload, metadata: { ...workload.metadata, ...(uid === undefined ? {} : { uid }) } },
      `${restartManager}-${certificateName}`.slice(0, 128),
    )
  }

  /** Before anything is issued by another authority: who verifies is to know it by then. */
  async #publishTrust(one: Case, known: KnownIssuer | undefined): Promise<Trust> {
    const { object, spec, held, visit } = one
    const current = rootOf(known?.chain ?? [])
    if (spec.trust === undefined || current === undefined) return { isTakeoverDue: false }
    const { cluster, storeOf } = this.#options
    const name = spec.trust.publishTo.configMapName
    const key = inNamespaceOf(object, name)
    const known0 = storeOf(configMaps).get(key)
    const waitMs = this.#writes.waitMs(`configmaps/${key}`, known0?.metadata.resourceVersion)
    if (waitMs > 0) throw new Postponed(Math.min(waitMs, patienceMs))
    const present = known0 ?? (await cluster.get(configMaps, key))
    if (present !== undefined && ownerOfBundle(present) !== object.metadata.name) {
      const message = `The ConfigMap ${name} is there and not this Certificate's; name another one, or delete it.`
      return {
        isTakeoverDue: false,
        condition: { type: "TrustPublished", status: "False", reason: "ConfigMapConflict", message },
      }
    }
    const overlapMs = parseGoDuration(spec.trust.overlap) ?? 0
    const inUse = held.is === "whole" ? held.authorities : []
    const authorities = trusted(trustedIn(present), { current, inUse, overlapMs, now: visit.now })
    const wanted = trustConfigMap(name, object, authorities, present)
    if (!isAsWanted(wanted, present)) {
      const { metadata } = await cluster.apply(configMaps, wanted, issuanceManager)
      if (metadata.resourceVersion !== undefined) this.#writes.remember(`configmaps/${key}`, metadata.resourceVersion)
    }
    return trustOf(authorities, overlapMs, visit.now)
  }

  // ---------------------------------------------------------------- revoking

  /** One question for each poll; what was just issued is not asked about. After a start the questions are spread. */
  async #isRevoked(one: Case): Promise<boolean> {
    const { object, visit, held, spec } = one
    if (held.is !== "whole") return false
    const id = one.key
    const intervalMs = pollIntervalOf(object)
    const askedAt = this.#askedAt.get(id)
    if (askedAt === undefined && visit.quiet) {
      this.#asked(id, visit.now - shareOf(`${id}:poll`) * intervalMs)
      return false
    }
    if (askedAt !== undefined && visit.quiet && visit.now - askedAt < intervalMs) return false
    const known = this.#issuerOf(one)
    const written = writtenIn(one.secret)
    // Nobody else's engine is asked about what another issued.
    if (
      known === undefined ||
      written?.issuerName !== spec.issuerRef.name ||
      written.issuerKind !== spec.issuerRef.kind
    )
      return false
    try {
      const { engine } = await this.#connect(one, known)
      this.#asked(id, visit.now)
      const { revokedAt } = await engine.pki(known.spec.mount).certificates.get(held.serialNumber)
      return revokedAt !== null
    } catch (error) {
      // An engine that does not answer, or keeps nothing, revokes nothing.
      if (isEngineError(error) || error instanceof Unsettled) return false
      throw error
    }
  }

  #asked(id: string, at: number): void {
    // Of those that are gone nothing is left after a while.
    if (this.#askedAt.size > 2 * this.#options.storeOf(certificate).size + askedMinimum) this.#askedAt.clear()
    this.#askedAt.set(id, at)
  }

  async #revoke(one: Case, serialNumber: string, reason: string): Promise<void> {
    const known = this.#issuerOf(one)
    const { issuerRef } = one.spec
    if (known === undefined)
      throw stalled("IssuerMissing", `There is no ${issuerRef.kind} ${issuerRef.name}, which could revoke.`)
    const { engine } = await this.#connect(one, known)
    try {
      await engine.pki(known.spec.mount).revocations.revoke({ serialNumber, reason })
    } catch (error) {
      // What the engine does not keep it cannot revoke.
      if (isEngineError(error, "not-found")) return
      throw isEngineError(error) ? refused(error) : error
    }
  }

  /** Those that another has taken the place of; what fails is tried again with the next look. */
  async #revokeReplaced(one: Case, status: CertificateStatus): Promise<CertificateStatus> {
    const pending = new Set(toBeRevoked(status, one.spec, one.visit.now).map(({ serialNumber }) => serialNumber))
    if (pending.size === 0) return status
    const history: EarlierCertificate[] = []
    for (const each of status.history ?? []) {
      if (!pending.has(each.serialNumber)) {
        history.push(each)
        continue
      }
      try {
        await this.#revoke(one, each.serialNumber, "superseded")
        history.push({ ...each, revokedAt: secondTime(one.visit.now) })
      } catch (error) {
        if (!(error instanceof Unsettled || error instanceof Postponed)) throw error
        history.push(each)
      }
    }
    return { ...status, history }
  }

  // ---------------------------------------------------------------- outcomes

  async #outcome(one: Case, found: Found): Promise<Outcome> {
    const { visit, spec, held, before, secret } = one
    const { trigger, failure, trust, unready } = found
    const renewal = renewalOf(one)
    const plain = statusOf({
      before,
      spec,
      held: held.is === "whole" ? held : undefined,
      renewalAt: renewal?.at,
      revision: Math.max(revisionIn(secret), before.revision ?? 0),
      renewRequest: renewRequestIn(secret) || (before.lastHandledRenewAt ?? ""),
    })
    const settled = failure === undefined ? await this.#revokeReplaced(one, plain) : plain
    const isPending = toBeRevoked(settled, spec, visit.now).length > 0
    const status = { ...settled, ...failure?.status }
    const health: Health =
      unready === undefined
        ? usable(spec)
        : (failure?.health ?? { is: "stalled", reason: unready.reason, message: unready.message })
    const issuing: readonly Condition[] =
      failure === undefined || trigger === undefined
        ? []
        : [
            {
              type: "Issuing",
              status: "True",
              reason: trigger.reason,
              message: issuingMessage(trigger, failure, unready),
            },
          ]
    const conditions = [...issuing, ...(trust.condition === undefined ? [] : [trust.condition])]
    if (failure?.nextAttemptAt !== undefined)
      return { health, conditions, status: { ...status }, nextAttemptAt: failure.nextAttemptAt }
    const ends = held.is === "whole" ? held.leaf.notAfter + 1_000 : undefined
    const times = [renewal?.at, ends, trust.nextAt].flatMap((at) =>
      at === undefined || at <= visit.now ? [] : [at - visit.now],
    )
    const pollAfterMs = failure?.againAfterMs ?? (isPending ? pollMinimumMs : pollIntervalOf(one.object))
    if (failure !== undefined && !failure.counts && failure.againAfterMs === undefined)
      return { health, conditions, status: { ...status } }
    return { health, conditions, status: { ...status }, againAfterMs: Math.max(Math.min(pollAfterMs, ...times), 1_000) }
  }
}

interface Failure {
  readonly health: Health
  /** It was an attempt, and the next one is announced. */
  readonly counts: boolean
  readonly status?: Pick<CertificateStatus, "failedIssuanceAttempts" | "lastFailureTime" | "lastTriedRenewAt">
  readonly nextAttemptAt?: number
  readonly againAfterMs?: number
}

interface Trust {
  readonly isTakeoverDue: boolean
  readonly nextAt?: number
  readonly condition?: Condition
}

interface Found {
  readonly trigger: Finding | undefined
  readonly failure: Failure | undefined
  readonly trust: Trust
  readonly unready: Finding | undefined
}

/** What is wrong is told by Ready where that is false; otherwise here. */
const issuingMessage = (trigger: Finding, { health }: Failure, unready: Finding | undefined): string =>
  unready === undefined ? `${trigger.message} ${health.message}` : trigger.message

function trustOf(authorities: readonly TrustedAuthority[], overlapMs: number, now: number): Trust {
  const takeover = takeoverAt(authorities, overlapMs)
  const next = [takeover, nextEnd(authorities, now)].flatMap((at) => (at !== undefined && at > now ? [at] : []))
  return {
    isTakeoverDue: takeover === undefined || takeover <= now,
    ...(next.length === 0 ? {} : { nextAt: Math.min(...next) }),
    condition: {
      type: "TrustPublished",
      status: "True",
      reason: authorities.length > 1 ? "AuthoritiesOverlap" : "TrustPublished",
      message: authorities.length > 1 ? "The old and the new authority are published." : "The authority is published.",
    },
  }
}

const rootOf = (chain: readonly Uint8Array[]): Uint8Array | undefined => chain.findLast(isSelfIssued) ?? chain.at(-1)

const renewalOf = ({ object, spec, held, secret, visit }: Case): RenewalTime | undefined =>
  held.is === "whole" ? renewalFor(object, spec, { held, revision: revisionIn(secret), now: visit.now }) : undefined

function isRenewalRequested({ object, secret, before }: Case): boolean {
  const token = object.metadata.annotations?.[renewAnnotation]
  return token !== undefined && token !== before.lastHandledRenewAt && token !== renewRequestIn(secret)
}

function pollIntervalOf({ metadata: { annotations } }: KubernetesObject): number {
  const given = parseGoDuration(annotations?.[pollAnnotation] ?? "")
  return given === undefined ? pollMs : Math.max(given, pollMinimumMs)
}

interface FramedStatus {
  readonly observedGeneration?: number
  readonly lastHandledReconcileAt?: string
  readonly nextAttemptTime?: string
  readonly conditions?: readonly StoredCondition[]
}

const framed = ({ status }: KubernetesObject): FramedStatus => status ?? {}

/** Until when nothing is tried, unless something has changed that may have mended what failed. */
function backoffOf({ object, before, visit }: Case, known: KnownIssuer | undefined): number | undefined {
  const { observedGeneration, lastHandledReconcileAt, nextAttemptTime } = framed(object)
  const { generation, annotations } = object.metadata
  const until = Date.parse(nextAttemptTime ?? "")
  const failedAt = Date.parse(before.lastFailureTime ?? "")
  if (Number.isNaN(failedAt) || Number.isNaN(until) || until <= visit.now || observedGeneration !== generation)
    return undefined
  const request = requestAnnotations.map((name) => annotations?.[name]).find((token) => token !== undefined)
  const renewal = annotations?.[renewAnnotation]
  const isRequested =
    (request !== undefined && request !== lastHandledReconcileAt) ||
    (renewal !== undefined && renewal !== before.lastTriedRenewAt)
  const readySince = known?.readySince ?? Number.POSITIVE_INFINITY
  const isMended = readySince !== Number.POSITIVE_INFINITY && readySince >= failedAt
  return isRequested || isMended ? undefined : until
}

/** All stays as it was told, but that a certificate may have ended meanwhile. */
function waitingOn({ object, spec }: Case, unready: Finding | undefined, nextAttemptAt: number): Outcome {
  if (unready === undefined) return { health: usable(spec), nextAttemptAt }
  const told = framed(object).conditions?.find(({ type }) => type === "Stalled" || type === "Reconciling")
  const is = told?.type === "Stalled" ? "stalled" : "reconciling"
  const { reason, message } = told ?? unready
  return { health: { is, reason, message }, nextAttemptAt }
}

const usable = ({ secretName }: CertificateSpec): Health => ({
  is: "ready",
  reason: "Issued",
  message: `The Secret ${secretName} holds the certificate.`,
})

function failed({ object, before, held, visit }: Case, health: Health, chance: number): Failure {
  const request = object.metadata.annotations?.[renewAnnotation]
  const failures = (before.failedIssuanceAttempts ?? 0) + 1
  const notAfter = held.is === "whole" ? held.leaf.notAfter : undefined
  return {
    health,
    counts: true,
    status: {
      failedIssuanceAttempts: failures,
      lastFailureTime: secondTime(visit.now),
      ...(request === undefined ? {} : { lastTriedRenewAt: request }),
    },
    nextAttemptAt: nextAttempt({ failures, notAfter, now: visit.now, chance }),
  }
}

/** Infinity while it is not, at its present generation. */
function readySinceOf({ metadata: { generation }, status }: KubernetesObject): number {
  const { observedGeneration, conditions = [] } = (status ?? {}) as FramedStatus
  const ready = conditions.find(({ type }) => type === "Ready")
  if (observedGeneration !== generation || ready?.status !== "True") return Number.POSITIVE_INFINITY
  return Date.parse(ready.lastTransitionTime)
}

function inNamespaceOf({ metadata: { namespace } }: KubernetesObject, name: string): ObjectKey {
  return namespace === undefined ? name : `${namespace}/${name}`
}
