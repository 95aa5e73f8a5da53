// Reconciles Certificates: compares the Secret with the spec, and issues another certificate if it is needed and possible. A usable
// certificate stays in the Secret until a better one is available, whatever fails.
import { isDeepStrictEqual } from "node:util"
import { isEngineError } from "@chancery/engine"
import { backoffOf, failed, type Failure, renewAnnotation, usable, waitingOn } from "./attempts.ts"
import {
  type CertificateContext,
  type CertificateParts,
  fieldManager,
  framed,
  writerOf,
} from "./certificate-context.ts"
import { type CertificateStatus, type IssuedBy, statusOf, toBeRevoked } from "./certificate-status.ts"
import { certificatesOfKey, certificatesWith, creationIdOf } from "./creation-id.ts"
import { type StoredCertificate, storedIn } from "./stored-certificate.ts"
import { formerSecretOf, keptFormerSecrets, nextRemoval } from "./former-secrets.ts"
import { IssuanceFailed, issue, keyIn, nextKeyOf } from "./issuance.ts"
import {
  contests,
  issuableAfter,
  IssuanceMemories,
  mayReplace,
  type UnwrittenCertificate,
  withTime,
} from "./issuance-memory.ts"
import { isKeyOf } from "./keys.ts"
import { keystorePasswords } from "./keystores.ts"
import { connect, type KnownIssuer, knownIssuer, knownRole } from "./known-issuer.ts"
import { differences, namesProblem, withCanonicalNames } from "./names.ts"
import { claimOf } from "./ownership.ts"
import { canWait, type CertificateFacts, type ReissueReason, issuanceTrigger, unreadiness } from "./policies.ts"
import { RenewalPace } from "./renewal-pace.ts"
import { dueAt, renewalFor, windowsProblem } from "./renewal-terms.ts"
import { nextAttempt, type RenewalTime } from "./renewal.ts"
import { restart } from "./restarts.ts"
import { pollIntervalOf, minPollMs, Revocations } from "./revocations.ts"
import {
  isAsWanted,
  rehearsalOf,
  renewRequestIn,
  revisionIn,
  secretFor,
  serialNumberIn,
  writtenIn,
} from "./secret-layout.ts"
import { withRequestedNames } from "./csr.ts"
import { publishTrust, type Trust } from "./trust-publication.ts"
import { isRejection } from "../../kube/cluster.ts"
import type { Condition, Health } from "../conditions.ts"
import { certificate, type CertificateSpec } from "../../api/certificate.ts"
import { keyOf, type KubernetesObject, secondTime, secrets } from "../../kube/kubernetes-object.ts"
import { withFinalizerHint } from "../finalizer.ts"
import {
  type ReconcileResult,
  pollMs,
  rejectionHealth,
  rejectionMessage,
  refused,
  stalled,
  NotReadyError,
  RequeueAfter,
  waiting,
} from "../reconcile-result.ts"
import { inNamespaceOf, presentAt, put, unlessWithoutRehearsal } from "../../kube/owned-objects.ts"
import { parsedSpec, type Reconciler, type ReconcileRequest } from "../reconciler.ts"

/** Returns the spec of an object that may not match the schema, for indexes. */
const rawSpec = (object: KubernetesObject) => (object["spec"] ?? {}) as Partial<CertificateSpec>
const within = ({ metadata: { namespace } }: KubernetesObject, name: string | undefined): readonly string[] =>
  name === undefined ? [] : [namespace === undefined ? name : `${namespace}/${name}`]

/** Returns `Issuer/namespace/name` or `ClusterIssuer/name`. */
function issuerOf(object: KubernetesObject): readonly string[] {
  const { kind = "Issuer", name } = rawSpec(object).issuerRef ?? {}
  if (name === undefined) return []
  return kind === "Issuer" ? within(object, name).map((key) => `Issuer/${key}`) : [`ClusterIssuer/${name}`]
}

export const certificateIndexes = {
  secret: (object: KubernetesObject) => within(object, rawSpec(object).secretName),
  trust: (object: KubernetesObject) => within(object, rawSpec(object).trust?.publishTo.configMapName),
  role: (object: KubernetesObject) => within(object, rawSpec(object).role),
  issuer: (object: KubernetesObject) => issuerOf(object),
  /** Certificates that are revoked at deletion need their connection, so the connection stays until they are gone. */
  connection: (object: KubernetesObject) => {
    const { issuedBy } = (object["status"] ?? {}) as { readonly issuedBy?: IssuedBy }
    const { namespace } = object.metadata
    if (issuedBy === undefined || !recordsConnection(object)) return []
    const { kind, name } = issuedBy.connectionRef
    return [
      kind === "ClusterConnection" || namespace === undefined
        ? `ClusterConnection/${name}`
        : `${kind}/${namespace}/${name}`,
    ]
  },
}

/** Returns whether a Certificate records its connection before it requests a certificate. */
export const recordsConnection = (object: KubernetesObject): boolean =>
  rawSpec(object).revocationPolicy?.onDelete === true

/** Interval for checking a conflicting Secret: the operator does not watch Secrets of others. */
const foreignPollMs = 60_000

export function reconcileCertificates(parts: CertificateParts): Reconciler {
  const certificates = new Certificates(parts)
  return {
    finalizer: {
      name: "chancery.dev/revoke",
      needed: (object) => rawSpec(object).revocationPolicy?.onDelete === true,
    },
    reconcile: (object, request) => certificates.reconcile(object, request),
    finalize: (object, request) => certificates.finalize(object, request),
  }
}

class Certificates {
  readonly #parts: CertificateParts
  readonly #revocations: Revocations
  readonly #memories = new IssuanceMemories()
  readonly #pace = new RenewalPace()

  constructor(parts: CertificateParts) {
    this.#parts = parts
    this.#revocations = new Revocations(parts)
  }

  async reconcile(object: KubernetesObject, request: ReconcileRequest): Promise<ReconcileResult> {
    const spec = withCanonicalNames(withRequestedNames(parsedSpec(certificate, object)))
    const problem = windowsProblem(spec) ?? namesProblem(spec)
    if (problem !== undefined) throw stalled("InvalidSpec", problem)
    const secret = await presentAt(this.#parts, secrets, inNamespaceOf(object, spec.secretName))
    const one = this.#caseOf(object, request, spec, secret)
    this.#rejectOthers(one)
    const known = knownIssuer(this.#parts, one)
    const trust = await publishTrust(this.#parts, one, known)
    one.passwords = await keystorePasswords(spec, object, this.#parts.named, request.signal)
    const isRevoked = await this.#revocations.isRevoked(one, known)
    const factsOf = (
      present: KubernetesObject | undefined,
      stored: CertificateContext["stored"],
    ): CertificateFacts => ({
      spec,
      stored,
      written: writtenIn(present),
      certificateName: object.metadata.name,
      role: this.#roleToCompare(present, one, known),
      authority: known?.fingerprint,
      isWholeDue: trust.isTakeoverDue,
      isRevoked: isRevoked && one.secret === secret,
      renewalAt: renewalOf({ ...one, secret: present, stored })?.at,
      isRenewalRequested: isRenewalRequested({ ...one, secret: present }),
      now: request.now,
    })
    const facts = () => factsOf(one.secret, one.stored)
    const trigger = issuanceTrigger(facts())
    const waitsUntil = trigger === undefined ? undefined : backoffOf(one, known)
    if (waitsUntil !== undefined) return waitingOn(one, unreadiness(facts()), waitsUntil)
    const good = trigger === undefined ? undefined : await this.#goodOf(one)
    const isDamaged =
      good !== undefined && issuanceTrigger(factsOf(good.secret, { is: "whole", ...good.stored })) === undefined
    const turn = await this.#laterTurn(one, known, trigger === undefined ? undefined : facts())
    const failure =
      trigger === undefined
        ? undefined
        : (turn ??
          (isDamaged &&
          !(trigger.reason === "SecretMissing" && isHere(good.secret, one) && mayReplace(one.memory, request.now))
            ? await this.#repair(one, good, trigger)
            : await this.#attempt(one, known, trigger)))
    const isWell = (failure === undefined || failure === turn) && unreadiness(facts()) === undefined
    if (isWell) {
      one.memory.good = one.secret
      one.memory.rejectedVersion = undefined
    }
    const problems = isWell ? await this.#keepUp(one, trigger !== undefined && turn === undefined) : []
    return this.#outcome(one, { trigger, failure, trust, problems, unready: unreadiness(facts()) })
  }

  async finalize(object: KubernetesObject, request: ReconcileRequest): Promise<ReconcileResult | undefined> {
    if (rawSpec(object).revocationPolicy?.onDelete !== true) return undefined
    return withFinalizerHint(certificate, object, async () => {
      const spec = parsedSpec(certificate, object)
      const secret = this.#parts.storeOf(secrets).get(inNamespaceOf(object, spec.secretName))
      const one = { ...this.#caseOf(object, request, spec, secret), isCleaningUp: true }
      const mayHaveIssued = one.before.issuedBy !== undefined || knownIssuer(this.#parts, one) !== undefined
      // Without an issuer, a Secret that was there before can contain only the certificate of an earlier object of the same name.
      for (const serialNumber of mayHaveIssued ? toBeRevokedAtLast(one) : [])
        await this.#revocations.revoke(one, serialNumber, "cessationOfOperation")
    })
  }

  #caseOf(
    object: KubernetesObject,
    request: ReconcileRequest,
    spec: CertificateSpec,
    secret: KubernetesObject | undefined,
  ): CertificateContext {
    const { get, size } = storeFacts(this.#parts.storeOf(certificate))
    const known = { size, has: (key: string) => get(key) !== undefined }
    const before: CertificateStatus = request.status
    const memory = this.#memories.of(keyOf(object), object.metadata.uid, known)
    const written = new Set(before.history?.map(({ serialNumber }) => serialNumber))
    memory.discarded = memory.discarded.filter(({ serialNumber }) => !written.has(serialNumber))
    return {
      object,
      request,
      spec,
      key: inNamespaceOf(object, spec.secretName),
      before,
      secret,
      stored: storedIn(secret, { isKeyElsewhere: spec.csr !== undefined }),
      memory,
      passwords: {},
      issuedBy: undefined,
      isCleaningUp: false,
    }
  }

  #rejectOthers({ object, spec, key, secret }: CertificateContext): void {
    const claimants = this.#parts.storeOf(certificate).by("secret", key)
    const claim = claimOf({ certificate: object, claimants, secret, mayAdopt: spec.secretAdoption === "Force" })
    if (claim.is === "granted") return
    const message =
      claim.is === "taken"
        ? `The Secret ${spec.secretName} belongs to the Certificate ${claim.by}; change secretName.`
        : `The Secret ${spec.secretName} already exists and belongs to no Certificate; change secretName, delete the Secret, or set secretAdoption to Force.`
    throw stalled("SecretNameConflict", message, foreignPollMs)
  }

  /** Returns the role to compare with. If neither the Certificate nor the issuer names one, the role in the Secret counts as correct. */
  #roleToCompare(
    secret: KubernetesObject | undefined,
    one: CertificateContext,
    known: KnownIssuer | undefined,
  ): string {
    const written = writtenIn(secret)?.role ?? ""
    return known === undefined ? written : (knownRole(this.#parts, one, known)?.name ?? written)
  }

  /**
   * Returns the Secret of the last successful reconciliation of this process, unless another replica has issued since. After a restart it is
   * known only if `secretName` has changed: the former Secret still contains it.
   */
  async #goodOf(one: CertificateContext): Promise<Good | undefined> {
    const { before } = one
    const good = one.memory.good ?? (await formerSecretOf(this.#parts, one))
    const stored = storedIn(good, { isKeyElsewhere: one.spec.csr !== undefined })
    if (good === undefined || stored.is !== "whole") return undefined
    const isLatest = before.serialNumber === undefined || before.serialNumber === stored.serialNumber
    return isLatest ? { secret: good, stored } : undefined
  }

  /**
   * Restores the Secret after another writer changed it or the spec renamed it. Repeated changes are reported with the field manager that
   * makes them, and then restored with growing delays.
   */
  async #repair(
    one: CertificateContext,
    { secret: good, stored }: Good,
    trigger: ReissueReason,
  ): Promise<Failure | undefined> {
    const { object, spec, request, memory } = one
    const isMoved = !isHere(good, one)
    if (!isMoved && contests(memory, request.now) > 0 && request.now < memory.repairsAfter) return this.#contested(one)
    const written = writtenIn(good)
    const content = {
      certificate: object,
      spec,
      stored,
      role: written?.role ?? "",
      authority: written?.authority ?? "",
      revision: revisionIn(good),
      renewRequest: renewRequestIn(good),
      passwords: one.passwords,
    }
    try {
      one.secret = await put(this.#parts, writerOf(one), secrets, await secretFor(content, one.secret))
    } catch (error) {
      if (!isRejection(error)) throw error
      memory.rejectedVersion = versionOf(one.secret)
      const health = rejectionHealth("SecretRejected", `the Secret ${spec.secretName}`, error)
      return failed(one, health, this.#parts.runtime.random())
    }
    one.stored = { is: "whole", ...stored }
    if (isMoved) return undefined
    await request.record({
      type: "Warning",
      reason: "SecretRepaired",
      note: `${trigger.message} The operator restored it.`,
    })
    memory.repairs = withTime(memory.repairs, request.now)
    const count = contests(memory, request.now)
    if (count > 0) {
      const chance = this.#parts.runtime.random()
      memory.repairsAfter = nextAttempt({ failures: count, notAfter: undefined, now: request.now, chance })
    }
    return undefined
  }

  /**
   * Returns the turn of a renewal that must wait (`renewals.maxPerHour` of the issuer). Returns undefined if the certificate may be renewed
   * now; the status then records the start, so that another process keeps the pace.
   */
  async #laterTurn(
    one: CertificateContext,
    known: KnownIssuer | undefined,
    facts: CertificateFacts | undefined,
  ): Promise<Failure | undefined> {
    const { object, spec, stored, secret, memory, request } = one
    const [issuer = ""] = issuerOf(object)
    const key = keyOf(object)
    const maxPerHour = known?.spec.renewals?.maxPerHour
    if (facts === undefined || maxPerHour === undefined || stored.is !== "whole") {
      this.#pace.leave(issuer, key)
      return undefined
    }
    const { now } = request
    const due = dueAt(object, spec, { stored, revision: revisionIn(secret), now })
    // A certificate that was issued before needs no other one, and an issuer that is not ready issues none.
    if (!canWait(facts, due) || memory.unwritten !== undefined || known?.readySince === undefined) {
      this.#pace.leave(issuer, key)
      return undefined
    }
    const certificates = this.#parts.storeOf(certificate)
    const turn = this.#pace.turnOf(
      { issuer, key, notAfter: stored.leaf.notAfter, maxPerHour, now },
      {
        exists: (other) => certificates.get(other) !== undefined,
        lastRenewalAt: () => lastPacedRenewal(certificates.by("issuer", issuer)),
      },
    )
    if (turn.is === "undecided") throw new RequeueAfter(turn.againAfterMs)
    if (turn.is === "now") {
      // With milliseconds, so that another process computes the same turns of the others.
      one.before = { ...one.before, lastPacedRenewalTime: new Date(now).toISOString() }
      await request.saveStatus({ ...one.before })
      return undefined
    }
    const { kind, name } = spec.issuerRef
    const message = `The ${kind} ${name} limits such renewals to ${maxPerHour} an hour; this one begins at ${secondTime(turn.at)}.`
    return { health: { is: "reconciling", reason: "RenewalPaced", message }, nextAt: turn.at, waitsForTurn: true }
  }

  async #contested({ key, spec, memory }: CertificateContext): Promise<Failure> {
    const managers = (await this.#parts.cluster.dataManagers(secrets, key)).filter((name) => name !== fieldManager)
    const who = managers.length === 0 ? "Another writer" : `The field manager ${managers.join(" and ")}`
    const message = `${who} overwrites the Secret ${spec.secretName} after each repair; stop it from writing this Secret.`
    return { health: { is: "stalled", reason: "SecretContested", message }, nextAt: memory.repairsAfter }
  }

  /** Issues a certificate. Returns undefined on success. */
  async #attempt(
    one: CertificateContext,
    known: KnownIssuer | undefined,
    trigger: ReissueReason,
  ): Promise<Failure | undefined> {
    const renewal = renewalOf(one)
    try {
      await this.#issue(one, known, trigger)
    } catch (error) {
      if (error instanceof IssuanceFailed) return this.#failed(one, error)
      if (error instanceof IssuanceLimited)
        return failed(one, limitedHealth(trigger, one.memory.lastFailure), 0, error.until)
      if (isRejection(error)) {
        one.memory.rejectedVersion = versionOf(one.secret)
        const health = rejectionHealth("SecretRejected", `the Secret ${one.spec.secretName}`, error)
        one.memory.lastFailure = health.message
        return failed(one, health, this.#parts.runtime.random())
      }
      if (!(error instanceof NotReadyError)) throw error
      const { health, againAfterMs } = error.outcome
      return { health, ...(againAfterMs === undefined ? {} : { againAfterMs }) }
    }
    await recordRenewal(one, trigger, renewal)
    return undefined
  }

  #failed(one: CertificateContext, { health, discarded, isOutcomeUnknown }: IssuanceFailed): Failure {
    const { memory, request } = one
    memory.lastFailure = health.message
    // Issuance failed, so the version of the Secret that the API server rejected no longer matters.
    memory.rejectedVersion = undefined
    if (isOutcomeUnknown) memory.searchedRevision = undefined
    if (discarded !== undefined) {
      one.memory.discarded.push(discarded)
      memory.wasted = withTime(memory.wasted, request.now)
    }
    return failed(one, health, this.#parts.runtime.random())
  }

  async #issue(one: CertificateContext, issuer: KnownIssuer | undefined, trigger: ReissueReason): Promise<void> {
    const { object, request, spec, key, memory } = one
    const known = readyIssuer(spec, issuer)
    const role = this.#readyRole(one, known)
    const revision = Math.max(one.before.revision ?? 0, revisionIn(one.secret)) + 1
    await this.#saveIssuer(one, known)
    const { isNew, stored } = await this.#nextCertificate(one, { known, role, revision, trigger })
    request.signal.throwIfAborted()
    const content = {
      certificate: object,
      spec,
      stored,
      role,
      authority: known.fingerprint ?? "",
      revision,
      renewRequest: object.metadata.annotations?.[renewAnnotation] ?? "",
      passwords: one.passwords,
    }
    try {
      one.secret = await put(this.#parts, writerOf(one), secrets, await secretFor(content, one.secret))
    } catch (error) {
      if (isNew) memory.wasted = withTime(memory.wasted, request.now)
      throw error
    }
    memory.unwritten = undefined
    memory.rejectedVersion = undefined
    memory.wasted = []
    if (isNew && !isRequested(one, trigger)) memory.unrequested = withTime(memory.unrequested, request.now)
    const keptKey = one.stored.is === "whole" && one.stored.privateKey === stored.privateKey
    one.stored = { is: "whole", ...stored }
    one.issuedBy = { connectionRef: known.spec.connectionRef, mount: known.spec.mount }
    if (spec.keySource === "Operator" && spec.csr === undefined && !keptKey) await this.#deleteKey(one, revision)
    this.#revocations.asked(key, request.now)
  }

  /** Returns the certificate that was issued earlier but not written, if it still matches the spec; otherwise issues one. */
  async #nextCertificate(
    one: CertificateContext,
    { known, role, revision, trigger }: NextIssuance,
  ): Promise<{ readonly isNew: boolean; readonly stored: StoredCertificate }> {
    const { object, spec, request, memory, secret } = one
    const { unwritten } = memory
    if (unwritten !== undefined && isUsable(one, unwritten, { role, revision }))
      return { isNew: false, stored: unwritten.stored }
    if (unwritten !== undefined) {
      const { serialNumber, leaf } = unwritten.stored
      one.memory.discarded.push({ serialNumber, notAfter: secondTime(leaf.notAfter), discarded: true })
      memory.unwritten = undefined
    }
    const until = issuableAfter(memory, { isRequested: isRequested(one, trigger), now: request.now })
    if (until !== undefined) throw new IssuanceLimited(until)
    const { engine } = await connect(this.#parts, one, known, role)
    const creationId = creationIdOf(object, revision)
    await this.#discardUnheard(one, { known, revision, creationId })
    const parts = { cluster: this.#parts.cluster, secrets: this.#parts.storeOf(secrets) }
    const stored = await issue(parts, {
      certificate: object,
      spec,
      issuer: known.spec,
      engine,
      role,
      stored: one.stored,
      // A revoked certificate may have been revoked because its key was compromised.
      mayKeepKey: trigger.reason !== "RevokedAtEngine",
      revision,
      creationId,
      now: request.now,
      rehearse: async (key) => {
        const content = {
          certificate: object,
          spec,
          role,
          revision,
          authority: known.fingerprint ?? "",
          renewRequest: "",
        }
        const rehearsal = rehearsalOf(content, { key, chain: known.chain }, secret)
        await this.#parts.cluster
          .apply(secrets, rehearsal, fieldManager, { dryRun: true })
          .catch(unlessWithoutRehearsal)
      },
    })
    const { kind: issuerKind, name: issuerName } = spec.issuerRef
    memory.unwritten = { stored, issuerKind, issuerName, role, revision }
    return { isNew: true, stored }
  }

  /** Discards certificates of the same revision whose response was lost, or whose issuance the process did not survive. */
  async #discardUnheard(
    one: CertificateContext,
    {
      known,
      revision,
      creationId,
    }: { readonly known: KnownIssuer; readonly revision: number; readonly creationId: string },
  ): Promise<void> {
    const { object, spec, memory, secret, before } = one
    if (memory.searchedRevision === revision) return
    const isKeyMade =
      spec.keySource === "Operator" && spec.csr === undefined && spec.privateKey.rotationPolicy === "Always"
    const nextKey = this.#parts.storeOf(secrets).get(nextKeyOf(object, revision))
    // The operator stores the next key before it requests a certificate. Without a stored key, nothing was requested.
    if (!isKeyMade || nextKey !== undefined || before.failedIssuanceAttempts !== undefined) {
      const { engine } = await connect(this.#parts, one, known)
      const pki = engine.pki(known.spec.mount)
      const key = nextKey === undefined ? undefined : keyIn(nextKey)
      const found = await answeredSearch(async () => {
        if (!spec.isCA) return certificatesWith(pki, creationId)
        return key === undefined ? [] : certificatesOfKey(pki, spec.commonName ?? "", key.publicKey)
      })
      for (const { serialNumber, notAfter } of found)
        if (serialNumber !== serialNumberIn(secret))
          one.memory.discarded.push({ serialNumber, notAfter: secondTime(notAfter), discarded: true })
    }
    memory.searchedRevision = revision
  }

  /** Returns the name of the role in the engine. Throws if no role is named or its CertificateRole is not ready. */
  #readyRole(one: CertificateContext, known: KnownIssuer): string {
    const { kind, name } = one.spec.issuerRef
    const role = knownRole(this.#parts, one, known)
    if (role === undefined)
      throw stalled("RoleMissing", `spec.role is required, because the ${kind} ${name} has no defaultRole.`)
    if (!role.isReady)
      throw waiting("RoleNotReady", `The CertificateRole of the role ${role.name} is not ready.`, pollMs)
    return role.name
  }

  /** Deletes the stored key of the next certificate. A rejected deletion is retried by the next reconciliation. */
  async #deleteKey({ object }: CertificateContext, revision: number): Promise<void> {
    try {
      await this.#parts.cluster.delete(secrets, nextKeyOf(object, revision))
    } catch (error) {
      if (!isRejection(error)) throw error
    }
  }

  /**
   * Does the follow-up work of a certificate: corrects the Secret and restarts workloads. Idempotent, so it runs for existing certificates
   * too.
   */
  async #keepUp(one: CertificateContext, isNew: boolean): Promise<readonly Condition[]> {
    const { object, spec, stored, before } = one
    if (stored.is !== "whole") return []
    const problems: Condition[] = []
    const record = async (type: string, reason: "SecretRejected" | "RestartRejected", message: string) => {
      problems.push({ type, status: "False", reason, message })
      await one.request.record({ type: "Warning", reason, note: message })
    }
    try {
      if (!isNew) await this.#mend(one, stored)
    } catch (error) {
      if (!isRejection(error)) throw error
      await record(
        "SecretWritten",
        "SecretRejected",
        rejectionMessage(`a change of the Secret ${spec.secretName}`, error),
      )
    }
    const isPending = framed(object).conditions?.some(({ type }) => type === restartsCondition) === true
    if (!isPending && (before.serialNumber === undefined || before.serialNumber === stored.serialNumber))
      return problems
    const refused: string[] = []
    for (const workload of spec.rolloutRestart ?? []) {
      try {
        await restart(this.#parts, one, workload, stored.serialNumber)
      } catch (error) {
        if (!isRejection(error)) throw error
        refused.push(rejectionMessage(`the restart of the ${workload.kind} ${workload.name}`, error))
      }
    }
    if (refused.length > 0) await record(restartsCondition, "RestartRejected", refused.join(" "))
    return problems
  }

  /** Corrects everything in the Secret except key and certificate, and deletes a leftover next key. */
  async #mend(one: CertificateContext, stored: StoredCertificate): Promise<void> {
    const { object, spec, secret } = one
    const written = writtenIn(secret)
    const revision = revisionIn(secret)
    const content = {
      certificate: object,
      spec,
      stored,
      role: written?.role ?? "",
      authority: written?.authority ?? "",
      revision,
      renewRequest: renewRequestIn(secret),
      passwords: one.passwords,
    }
    const wanted = await secretFor(content, secret)
    if (!isAsWanted(wanted, secret)) one.secret = await put(this.#parts, writerOf(one), secrets, wanted)
    // A crash may leave this key.
    if (this.#parts.storeOf(secrets).get(nextKeyOf(object, revision)) !== undefined)
      await this.#deleteKey(one, revision)
  }

  async #outcome(
    one: CertificateContext,
    { trigger, failure, trust, problems, unready }: Found,
  ): Promise<ReconcileResult> {
    const { request, spec, stored, before, secret } = one
    const renewal = renewalOf(one)
    const isWhole = stored.is === "whole" && writtenIn(secret)?.certificateName === one.object.metadata.name
    const formerSecrets = isWhole ? await keptFormerSecrets(this.#parts, one) : undefined
    const plain = statusOf({
      before,
      spec,
      stored: stored.is === "whole" ? stored : undefined,
      renewalAt: renewal?.at,
      revision: Math.max(revisionIn(secret), before.revision ?? 0),
      renewRequest: renewRequestIn(secret) || (before.lastHandledRenewAt ?? ""),
      discarded: one.memory.discarded,
      formerSecrets,
      issuedBy: one.issuedBy ?? before.issuedBy ?? (await this.#adoptedFrom(one)),
    })
    const settled =
      failure === undefined || failure.waitsForTurn === true || one.memory.discarded.length > 0
        ? await this.#revocations.revokeReplaced(one, plain)
        : plain
    if (failure?.attempt !== undefined && (unready === undefined || unready.reason === "Expired"))
      await request.record({ type: "Warning", reason: failure.health.reason, note: failure.health.message })
    const outcome = {
      health: healthOf(spec, unready, failure),
      conditions: [
        ...(trigger === undefined || failure === undefined ? [] : [issuing(trigger, failure)]),
        ...(trust.condition === undefined ? [] : [trust.condition]),
        ...problems,
      ],
      status: { ...settled, ...failure?.attempt?.status },
    }
    const nextAt = failure?.attempt?.nextAt ?? failure?.nextAt
    const waitsForTurn = failure?.waitsForTurn === true
    if (nextAt !== undefined && !waitsForTurn) return { ...outcome, nextAttemptAt: nextAt }
    // Without a time, the controller's own backoff applies.
    const isRejected = problems.length > 0 || trust.isRejected === true
    if ((failure !== undefined && failure.againAfterMs === undefined && !waitsForTurn) || isRejected) return outcome
    const ends = stored.is === "whole" ? stored.leaf.notAfter + 1_000 : undefined
    const removal = nextRemoval(settled.formerSecrets ?? [], one)
    const times = [renewal?.at, ends, trust.nextAt, removal].flatMap((at) =>
      at === undefined || at <= request.now ? [] : [at - request.now],
    )
    const isPending = toBeRevoked(settled, spec, request.now).length > 0
    const pollAfterMs = failure?.againAfterMs ?? (isPending ? minPollMs : pollIntervalOf(one.object))
    const againAfterMs = Math.max(Math.min(pollAfterMs, ...times), 1_000)
    return { ...outcome, againAfterMs, ...(nextAt === undefined ? {} : { nextAttemptAt: nextAt }) }
  }

  /** Returns the connection and the mount of a certificate that was in the Secret before the Certificate was created. */
  async #adoptedFrom(one: CertificateContext): Promise<IssuedBy | undefined> {
    const known = knownIssuer(this.#parts, one)
    const { issuerKind, issuerName } = writtenIn(one.secret) ?? {}
    const { kind, name } = one.spec.issuerRef
    if (known === undefined || issuerKind !== kind || issuerName !== name) return undefined
    const issuedBy = { connectionRef: known.spec.connectionRef, mount: known.spec.mount }
    return (await this.#recordsIssuer(one, issuedBy)) ? issuedBy : undefined
  }

  /** Records the issuer before a certificate is requested. Throws `NotReadyError` if its connection is being deleted. */
  async #saveIssuer(one: CertificateContext, { spec: { connectionRef, mount } }: KnownIssuer): Promise<void> {
    if (!(await this.#recordsIssuer(one, { connectionRef, mount })))
      throw waiting("ConnectionMissing", `The ${connectionRef.kind} ${connectionRef.name} is being deleted.`)
  }

  /**
   * Records the connection and the mount of a certificate that is revoked at deletion, in the status. The connection then stays until the
   * Certificate is gone, even if the issuer is deleted. Returns false, with nothing recorded, if the connection was deleted before.
   */
  async #recordsIssuer(one: CertificateContext, issuedBy: IssuedBy): Promise<boolean> {
    const { object, spec, before, request } = one
    if (!spec.revocationPolicy.onDelete || isDeepStrictEqual(before.issuedBy, issuedBy)) return true
    await request.saveStatus({ ...before, issuedBy })
    if (!(await this.#parts.engines.isStaying(issuedBy.connectionRef, object.metadata.namespace))) {
      await request.saveStatus({ ...before })
      return false
    }
    one.before = { ...before, issuedBy }
    return true
  }
}

interface Good {
  readonly secret: KubernetesObject
  readonly stored: StoredCertificate
}

interface NextIssuance {
  readonly known: KnownIssuer
  readonly role: string
  readonly revision: number
  readonly trigger: ReissueReason
}

const restartsCondition = "WorkloadsRestarted"

class IssuanceLimited extends Error {
  readonly until: number

  constructor(until: number) {
    super("issuance is limited")
    this.until = until
  }
}

function limitedHealth({ message }: ReissueReason, lastFailure: string | undefined): Health {
  const limit =
    "Several certificates were issued within an hour, and all of them had to be replaced; the next one is issued later."
  const why = lastFailure === undefined ? "" : ` Last failure: ${lastFailure}`
  return { is: "stalled", reason: "IssuanceLimited", message: `${message} ${limit}${why}` }
}

function lastPacedRenewal(certificates: readonly KubernetesObject[]): number | undefined {
  const times = certificates.flatMap(
    ({ status }) => (status as CertificateStatus | undefined)?.lastPacedRenewalTime ?? [],
  )
  return times
    .map((time) => Date.parse(time))
    .reduce<number | undefined>((last = 0, at) => Math.max(last, at), undefined)
}

const storeFacts = (store: ReturnType<CertificateParts["storeOf"]>) => ({
  size: store.size,
  get: (key: string) => store.get(key),
})

const isHere = (secret: KubernetesObject, { spec }: CertificateContext): boolean =>
  secret.metadata.name === spec.secretName

const versionOf = (secret: KubernetesObject | undefined): string | null => secret?.metadata.resourceVersion ?? null

/** Returns whether a user requested another certificate, or the renewal time has passed. */
const isRequested = ({ object }: CertificateContext, { reason }: ReissueReason): boolean =>
  reason === "RenewalDue" ||
  reason === "RenewRequested" ||
  framed(object).observedGeneration !== object.metadata.generation

/** Returns whether the certificate that could not be written still matches the spec, the issuer and the role. */
function isUsable(
  { spec, object, request }: CertificateContext,
  { stored, issuerKind, issuerName, ...unwritten }: UnwrittenCertificate,
  wanted: { readonly role: string; readonly revision: number },
): boolean {
  const renewal = renewalFor(object, spec, { stored, revision: wanted.revision, now: request.now })
  return (
    unwritten.revision === wanted.revision &&
    unwritten.role === wanted.role &&
    issuerKind === spec.issuerRef.kind &&
    issuerName === spec.issuerRef.name &&
    isKeyOf(spec, stored) &&
    differences(spec, stored.leaf, stored.values).length === 0 &&
    stored.leaf.notAfter > request.now &&
    (renewal === undefined || renewal.at > request.now)
  )
}

async function answeredSearch<Value>(search: () => Promise<Value>): Promise<Value> {
  try {
    return await search()
  } catch (error) {
    throw isEngineError(error) ? refused(error) : error
  }
}

/**
 * Returns the health. A usable certificate is ready even if an attempt failed. Expiry is reported before the reason of a failed attempt.
 */
function healthOf(spec: CertificateSpec, unready: ReissueReason | undefined, failure: Failure | undefined): Health {
  if (unready === undefined) return usable(spec)
  if (failure === undefined) return { is: "stalled", ...unready }
  if (unready.reason !== "Expired") return failure.health
  const { is, message } = failure.health
  return { is, reason: "Expired", message: `${unready.message} ${message}` }
}

interface Found {
  readonly trigger: ReissueReason | undefined
  readonly failure: Failure | undefined
  readonly trust: Trust
  /** Rejections by the API server that do not concern the certificate itself. */
  readonly problems: readonly Condition[]
  readonly unready: ReissueReason | undefined
}

function readyIssuer(
  { isCA, issuerRef: { kind, name } }: CertificateSpec,
  known: KnownIssuer | undefined,
): KnownIssuer {
  if (known === undefined) throw stalled("IssuerMissing", `There is no ${kind} ${name}.`)
  if (known.readySince === undefined)
    throw waiting("IssuerNotReady", `The ${kind} ${name} is not ready; see its status.`, pollMs)
  if (isCA && !known.spec.allowCertificateAuthorities)
    throw stalled(
      "AuthorityNotAllowed",
      `The ${kind} ${name} signs no certificate authorities; set its allowCertificateAuthorities, or remove isCA.`,
    )
  return known
}

/** Records an event for a renewal. The first certificate is reported by the condition Ready. */
async function recordRenewal(
  { before, request, stored }: CertificateContext,
  trigger: ReissueReason,
  renewal: RenewalTime | undefined,
): Promise<void> {
  if (before.serialNumber === undefined || stored.is !== "whole") return
  const isOutside = trigger.reason === "RenewalDue" && renewal?.isOutsideWindow === true
  const note = `${trigger.message} A new certificate was issued: ${stored.serialNumber}.${isOutside ? " No renewal window opens in time." : ""}`
  await request.record({ type: "Normal", reason: isOutside ? "RenewingOutsideWindow" : "Renewed", note })
}

const issuing = (trigger: ReissueReason, { health }: Failure): Condition => ({
  type: "Issuing",
  status: "True",
  reason: trigger.reason,
  message: `${trigger.message} ${health.message}`,
})

const renewalOf = ({ object, spec, stored, secret, request }: CertificateContext): RenewalTime | undefined =>
  stored.is === "whole"
    ? renewalFor(object, spec, { stored, revision: revisionIn(secret), now: request.now })
    : undefined

function isRenewalRequested({ object, secret, before }: CertificateContext): boolean {
  const token = object.metadata.annotations?.[renewAnnotation]
  return token !== undefined && token !== before.lastHandledRenewAt && token !== renewRequestIn(secret)
}

/** Returns the serial numbers to revoke at deletion. The Secret may contain a newer certificate than the status. */
function toBeRevokedAtLast({ object, before, spec, secret, request }: CertificateContext): ReadonlySet<string> {
  const { serialNumber, notAfter } = before
  const isOurs = writtenIn(secret)?.certificateName === object.metadata.name
  const lives = notAfter !== undefined && Date.parse(notAfter) > request.now
  return new Set(
    [
      ...(serialNumber !== undefined && lives ? [serialNumber] : []),
      ...(isOurs && serialNumberIn(secret) !== serialNumber ? [serialNumberIn(secret)] : []),
      ...toBeRevoked({ ...before, formerSecrets: [] }, spec, request.now).map((each) => each.serialNumber),
    ].filter((each) => each !== undefined),
  )
}
