// Whether the engine has revoked a certificate, and revoking those that are not needed any more.
import { isEngineError } from "@chancery/engine"
import { parseGoDuration } from "../../go-duration.ts"
import { certificate } from "../../api/certificate.ts"
import { type KubernetesObject, secondTime } from "../../kube/kubernetes-object.ts"
import { Postponed, refused, stalled, Unsettled } from "../reconcile-result.ts"
import type { Case, CertificateParts } from "./reissue-reason.ts"
import { type CertificateStatus, type EarlierCertificate, type IssuedBy, toBeRevoked } from "./certificate-status.ts"
import { connect, connectBy, type KnownIssuer, knownIssuer } from "./known-issuer.ts"
import { shareOf } from "./renewal-terms.ts"
import { writtenIn } from "./secret-layout.ts"

const pollMs = 3_600_000
export const pollMinimumMs = 30_000
const pollAnnotation = "chancery.dev/poll-interval"
const askedMinimum = 100

/** How long until a certificate that is well is looked at again. */
export function pollIntervalOf({ metadata: { annotations } }: KubernetesObject): number {
  const given = parseGoDuration(annotations?.[pollAnnotation] ?? "")
  return given === undefined ? pollMs : Math.max(given, pollMinimumMs)
}

export class Revocations {
  readonly #parts: CertificateParts
  /** When the engine was last asked, by the key of the Secret. */
  readonly #askedAt = new Map<string, number>()

  constructor(parts: CertificateParts) {
    this.#parts = parts
  }

  /** One question for each poll. After a start the questions are spread. */
  async isRevoked(one: Case, known: KnownIssuer | undefined): Promise<boolean> {
    const { object, visit, held, spec, key } = one
    if (held.is !== "whole") return false
    const intervalMs = pollIntervalOf(object)
    const askedAt = this.#askedAt.get(key)
    if (askedAt === undefined && visit.quiet) {
      this.asked(key, visit.now - shareOf(`${key}:poll`) * intervalMs)
      return false
    }
    if (askedAt !== undefined && visit.quiet && visit.now - askedAt < intervalMs) return false
    const written = writtenIn(one.secret)
    const { kind, name } = spec.issuerRef
    // Nobody is asked about what another has issued.
    if (known === undefined || written?.issuerName !== name || written.issuerKind !== kind) return false
    try {
      const { engine } = await connect(this.#parts, one, known)
      this.asked(key, visit.now)
      const { revokedAt } = await engine.pki(known.spec.mount).certificates.get(held.serialNumber)
      return revokedAt !== null
    } catch (error) {
      // An engine that does not answer, or keeps nothing, has revoked nothing.
      if (isEngineError(error) || error instanceof Unsettled) return false
      throw error
    }
  }

  /** What was just issued is not asked about. */
  asked(key: string, at: number): void {
    // Of those that are gone nothing is left after a while.
    if (this.#askedAt.size > 2 * this.#parts.storeOf(certificate).size + askedMinimum) this.#askedAt.clear()
    this.#askedAt.set(key, at)
  }

  async revoke(one: Case, serialNumber: string, reason: string): Promise<void> {
    const { connectionRef, mount } = this.#issuedBy(one)
    const { engine } = await connectBy(this.#parts, one, connectionRef)
    try {
      await engine.pki(mount).revocations.revoke({ serialNumber, reason })
    } catch (error) {
      // What the engine does not keep it cannot revoke.
      if (isEngineError(error, "not-found")) return
      throw isEngineError(error) ? refused(error) : error
    }
  }

  /** As the issuer says, or as it was when it issued if it is gone. */
  #issuedBy(one: Case): IssuedBy {
    const found = knownIssuer(this.#parts, one)?.spec ?? one.before.issuedBy
    const { kind, name } = one.spec.issuerRef
    if (found === undefined) throw stalled("IssuerMissing", `There is no ${kind} ${name}, which could revoke.`)
    return found
  }

  /** Those that another has taken the place of; what fails is tried again with the next look. */
  async revokeReplaced(one: Case, status: CertificateStatus): Promise<CertificateStatus> {
    const pending = new Set(toBeRevoked(status, one.spec, one.visit.now))
    if (pending.size === 0) return status
    const history: EarlierCertificate[] = []
    for (const each of status.history ?? []) history.push(pending.has(each) ? await this.#replaced(one, each) : each)
    return { ...status, history }
  }

  async #replaced(one: Case, each: EarlierCertificate): Promise<EarlierCertificate> {
    try {
      await this.revoke(one, each.serialNumber, "superseded")
      return { ...each, revokedAt: secondTime(one.visit.now) }
    } catch (error) {
      if (error instanceof Unsettled || error instanceof Postponed) return each
      throw error
    }
  }
}
