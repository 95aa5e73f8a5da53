// Certificates: what is in the Secret is compared with what is asked for, and another one is issued where that is needed and
// possible. One that is good stays in use until a better one is at hand, whatever else goes wrong.
import { backoffOf, failed, type Failure, renewAnnotation, usable, waitingOn } from "./certificate/attempts.ts"
import { type Case, type CertificateParts, writerOf } from "./certificate/certificate-case.ts"
import { statusOf, toBeRevoked } from "./certificate/certificate-status.ts"
import { type HeldCertificate, heldIn } from "./certificate/held-certificate.ts"
import { IssuanceFailed, issue, nextKeyOf } from "./certificate/issuance.ts"
import { connect, type KnownIssuer, knownIssuer, knownRole } from "./certificate/known-issuer.ts"
import { claimOf } from "./certificate/ownership.ts"
import { type CertificateFacts, type Finding, issuanceTrigger, unreadiness } from "./certificate/policies.ts"
import { renewalFor, windowsProblem } from "./certificate/renewal-terms.ts"
import type { RenewalTime } from "./certificate/renewal.ts"
import { restart } from "./certificate/restarts.ts"
import { pollIntervalOf, pollMinimumMs, Revocations } from "./certificate/revocations.ts"
import {
  isAsWanted,
  renewRequestIn,
  revisionIn,
  secretFor,
  serialNumberIn,
  writtenIn,
} from "./certificate/secret-layout.ts"
import { publishTrust, type Trust } from "./certificate/trust-publication.ts"
import type { Condition, Health } from "./conditions.ts"
import { certificate, type CertificateSpec } from "./kinds/certificate.ts"
import { type KubernetesObject, secrets } from "./kubernetes-object.ts"
import { toldHowToLetGo } from "./letting-go.ts"
import { type Outcome, pollMs, stalled, Unsettled, waiting } from "./outcome.ts"
import { inNamespaceOf, presentAt, put } from "./own-objects.ts"
import { parsedSpec } from "./parsed-spec.ts"
import type { Reconciler, Visit } from "./reconciler.ts"

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

/** Nobody tells when somebody else's Secret goes away. */
const foreignPollMs = 60_000

export function reconcileCertificates(parts: CertificateParts): Reconciler {
  const certificates = new Certificates(parts)
  return {
    finalizer: {
      name: "chancery.dev/revoke",
      needed: (object) => said(object).revocationPolicy?.onDelete === true,
    },
    reconcile: (object, visit) => certificates.reconcile(object, visit),
    finalize: (object, visit) => certificates.finalize(object, visit),
  }
}

class Certificates {
  readonly #parts: CertificateParts
  readonly #revocations: Revocations

  constructor(parts: CertificateParts) {
    this.#parts = parts
    this.#revocations = new Revocations(parts)
  }

  async reconcile(object: KubernetesObject, visit: Visit): Promise<Outcome> {
    const spec = parsedSpec(certificate, object)
    const problem = windowsProblem(spec)
    if (problem !== undefined) throw stalled("InvalidSpec", problem)
    const key = inNamespaceOf(object, spec.secretName)
    const secret = await presentAt(this.#parts, secrets, key)
    const one: Case = { object, visit, spec, key, before: visit.status, secret, held: heldIn(secret) }
    this.#refuseOthers(one)
    const known = knownIssuer(this.#parts, one)
    const trust = await publishTrust(this.#parts, one, known)
    const isRevoked = await this.#revocations.isRevoked(one, known)
    const facts = (): CertificateFacts => ({
      spec,
      held: one.held,
      written: writtenIn(one.secret),
      certificateName: object.metadata.name,
      role: this.#roleToCompare(one, known),
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
    const failure = trigger === undefined ? undefined : await this.#attempt(one, known, trigger)
    if (failure === undefined && unreadiness(facts()) === undefined) await this.#keepUp(one, trigger !== undefined)
    return this.#outcome(one, { trigger, failure, trust, unready: unreadiness(facts()) })
  }

  async finalize(object: KubernetesObject, visit: Visit): Promise<Outcome | undefined> {
    if (said(object).revocationPolicy?.onDelete !== true) return undefined
    return toldHowToLetGo(certificate, object, async () => {
      const spec = parsedSpec(certificate, object)
      const key = inNamespaceOf(object, spec.secretName)
      const secret = this.#parts.storeOf(secrets).get(key)
      const one: Case = { object, visit, spec, key, before: visit.status, secret, held: { is: "missing" } }
      for (const serialNumber of toBeRevokedAtLast(one))
        await this.#revocations.revoke(one, serialNumber, "cessationOfOperation")
    })
  }

  #refuseOthers({ object, spec, key, secret }: Case): void {
    const claimants = this.#parts.storeOf(certificate).by("secret", key)
    const claim = claimOf({ certificate: object, claimants, secret, mayAdopt: spec.secretAdoption === "Force" })
    if (claim.is === "granted") return
    const message =
      claim.is === "taken"
        ? `The Secret ${spec.secretName} is that of the Certificate ${claim.by}; name another one.`
        : `The Secret ${spec.secretName} is there and no Certificate's; name another one, delete it, or set secretAdoption to Force.`
    throw stalled("SecretNameConflict", message, foreignPollMs)
  }

  /** Where nothing says which one it should be, the one that is written is as good as any. */
  #roleToCompare(one: Case, known: KnownIssuer | undefined): string {
    const written = writtenIn(one.secret)?.role ?? ""
    return known === undefined ? written : (knownRole(this.#parts, one, known)?.name ?? written)
  }

  /** Undefined when there is another certificate now. */
  async #attempt(one: Case, known: KnownIssuer | undefined, trigger: Finding): Promise<Failure | undefined> {
    const renewal = renewalOf(one)
    try {
      await this.#issue(one, known, trigger)
    } catch (error) {
      if (error instanceof IssuanceFailed) return failed(one, error.health, this.#parts.runtime.random())
      if (!(error instanceof Unsettled)) throw error
      const { health, againAfterMs } = error.outcome
      return { health, ...(againAfterMs === undefined ? {} : { againAfterMs }) }
    }
    await tellRenewal(one, trigger, renewal)
    return undefined
  }

  async #issue(one: Case, issuer: KnownIssuer | undefined, trigger: Finding): Promise<void> {
    const { object, visit, spec, key } = one
    const known = readyIssuer(spec, issuer)
    const role = this.#readyRole(one, known)
    const { engine } = await connect(this.#parts, one, known)
    const revision = Math.max(one.before.revision ?? 0, revisionIn(one.secret)) + 1
    const parts = { cluster: this.#parts.cluster, secrets: this.#parts.storeOf(secrets) }
    const held = await issue(parts, {
      certificate: object,
      spec,
      issuer: known.spec,
      engine,
      role,
      held: one.held,
      // Whoever revoked it may have had a reason that is the key's.
      mayKeepKey: trigger.reason !== "RevokedAtEngine",
      revision,
      now: visit.now,
    })
    visit.signal.throwIfAborted()
    const content = {
      certificate: object,
      spec,
      held,
      role,
      authority: known.fingerprint ?? "",
      revision,
      renewRequest: object.metadata.annotations?.[renewAnnotation] ?? "",
    }
    one.secret = await put(this.#parts, writerOf(one), secrets, await secretFor(content, one.secret))
    const keptKey = one.held.is === "whole" && one.held.privateKey === held.privateKey
    one.held = { is: "whole", ...held }
    if (spec.keySource === "Operator" && !keptKey) await parts.cluster.delete(secrets, nextKeyOf(object, revision))
    this.#revocations.asked(key, visit.now)
  }

  /** As the engine calls it. */
  #readyRole(one: Case, known: KnownIssuer): string {
    const { kind, name } = one.spec.issuerRef
    const role = knownRole(this.#parts, one, known)
    if (role === undefined)
      throw stalled("RoleMissing", `Neither spec.role nor the defaultRole of the ${kind} ${name} says which role.`)
    if (!role.isReady)
      throw waiting("RoleNotReady", `The CertificateRole of the role ${role.name} is not ready.`, pollMs)
    return role.name
  }

  /** Everything that follows from a certificate, whenever it was issued: done again it changes nothing. */
  async #keepUp(one: Case, isNew: boolean): Promise<void> {
    const { spec, held, before } = one
    if (held.is !== "whole") return
    if (!isNew) await this.#mend(one, held)
    if (before.serialNumber === undefined || before.serialNumber === held.serialNumber) return
    for (const workload of spec.rolloutRestart ?? []) await restart(this.#parts, one, workload, held.serialNumber)
  }

  /** What lies in the Secret beside the certificate, and what lies beside the Secret. */
  async #mend(one: Case, held: HeldCertificate): Promise<void> {
    const { object, spec, secret } = one
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
    if (!isAsWanted(wanted, secret)) one.secret = await put(this.#parts, writerOf(one), secrets, wanted)
    const nextKey = nextKeyOf(object, revision)
    const { cluster, storeOf } = this.#parts
    // Left behind by a crash.
    if (storeOf(secrets).get(nextKey) !== undefined) await cluster.delete(secrets, nextKey)
  }

  async #outcome(one: Case, { trigger, failure, trust, unready }: Found): Promise<Outcome> {
    const { visit, spec, held, before, secret } = one
    const renewal = renewalOf(one)
    const plain = statusOf({
      before,
      spec,
      held: held.is === "whole" ? held : undefined,
      renewalAt: renewal?.at,
      revision: Math.max(revisionIn(secret), before.revision ?? 0),
      renewRequest: renewRequestIn(secret) || (before.lastHandledRenewAt ?? ""),
    })
    const settled = failure === undefined ? await this.#revocations.revokeReplaced(one, plain) : plain
    const health: Health = unready === undefined ? usable(spec) : (failure?.health ?? { is: "stalled", ...unready })
    const told = {
      health,
      conditions: [
        ...(trigger === undefined || failure === undefined ? [] : [issuing(trigger, failure, unready)]),
        ...(trust.condition === undefined ? [] : [trust.condition]),
      ],
      status: { ...settled, ...failure?.attempt?.status },
    }
    if (failure?.attempt !== undefined) return { ...told, nextAttemptAt: failure.attempt.nextAt }
    // With no time given the frame's own waits apply, which grow.
    if (failure !== undefined && failure.againAfterMs === undefined) return told
    const ends = held.is === "whole" ? held.leaf.notAfter + 1_000 : undefined
    const times = [renewal?.at, ends, trust.nextAt].flatMap((at) =>
      at === undefined || at <= visit.now ? [] : [at - visit.now],
    )
    const isPending = toBeRevoked(settled, spec, visit.now).length > 0
    const pollAfterMs = failure?.againAfterMs ?? (isPending ? pollMinimumMs : pollIntervalOf(one.object))
    return { ...told, againAfterMs: Math.max(Math.min(pollAfterMs, ...times), 1_000) }
  }
}

interface Found {
  readonly trigger: Finding | undefined
  readonly failure: Failure | undefined
  readonly trust: Trust
  readonly unready: Finding | undefined
}

function readyIssuer({ issuerRef: { kind, name } }: CertificateSpec, known: KnownIssuer | undefined): KnownIssuer {
  if (known === undefined) throw stalled("IssuerMissing", `There is no ${kind} ${name}.`)
  if (known.readySince === undefined)
    throw waiting("IssuerNotReady", `The ${kind} ${name} is not ready; its status says why.`, pollMs)
  return known
}

/** The first certificate is told of by the condition Ready. */
async function tellRenewal(
  { before, visit, held }: Case,
  trigger: Finding,
  renewal: RenewalTime | undefined,
): Promise<void> {
  if (before.serialNumber === undefined || held.is !== "whole") return
  const isOutside = trigger.reason === "RenewalDue" && renewal?.isOutsideWindow === true
  const note = `${trigger.message} Another one was issued: ${held.serialNumber}.${isOutside ? " No window opens in time." : ""}`
  await visit.record({ type: "Normal", reason: isOutside ? "RenewingOutsideWindow" : "Renewed", note })
}

/** What is wrong is told by Ready where that is false; otherwise here. */
const issuing = (trigger: Finding, { health }: Failure, unready: Finding | undefined): Condition => ({
  type: "Issuing",
  status: "True",
  reason: trigger.reason,
  message: unready === undefined ? `${trigger.message} ${health.message}` : trigger.message,
})

const renewalOf = ({ object, spec, held, secret, visit }: Case): RenewalTime | undefined =>
  held.is === "whole" ? renewalFor(object, spec, { held, revision: revisionIn(secret), now: visit.now }) : undefined

function isRenewalRequested({ object, secret, before }: Case): boolean {
  const token = object.metadata.annotations?.[renewAnnotation]
  return token !== undefined && token !== before.lastHandledRenewAt && token !== renewRequestIn(secret)
}

/** Serial numbers, each once: what the Secret has may be newer than what the status remembers. */
function toBeRevokedAtLast({ object, before, spec, secret, visit }: Case): ReadonlySet<string> {
  const { serialNumber, notAfter } = before
  const isOurs = writtenIn(secret)?.certificateName === object.metadata.name
  const lives = notAfter !== undefined && Date.parse(notAfter) > visit.now
  return new Set(
    [
      ...(serialNumber !== undefined && lives ? [serialNumber] : []),
      ...(isOurs && serialNumberIn(secret) !== serialNumber ? [serialNumberIn(secret)] : []),
      ...toBeRevoked(before, spec, visit.now).map((each) => each.serialNumber),
    ].filter((each) => each !== undefined),
  )
}
