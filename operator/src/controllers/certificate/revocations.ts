// Queries whether the engine has revoked a certificate, and revokes certificates that are no longer needed.
import { isEngineError, type Pki } from "@chancery/engine"
import { parseGoDuration } from "../../go-duration.ts"
import { certificate } from "../../api/certificate.ts"
import { type KubernetesObject, secondTime } from "../../kube/kubernetes-object.ts"
import { RequeueAfter, refused, stalled, NotReadyError } from "../reconcile-result.ts"
import type { CertificateContext, CertificateParts } from "./certificate-context.ts"
import { type CertificateStatus, type EarlierCertificate, type IssuedBy, toBeRevoked } from "./certificate-status.ts"
import { connect, connectBy, type KnownIssuer, knownIssuer } from "./known-issuer.ts"
import { shareOf } from "./renewal-terms.ts"
import { writtenIn } from "./secret-layout.ts"

const pollMs = 3_600_000
export const minPollMs = 30_000
const pollAnnotation = "chancery.dev/poll-interval"
const minAsked = 100

/** Returns the polling interval of a certificate without problems. */
export function pollIntervalOf({ metadata: { annotations } }: KubernetesObject): number {
  const parsedMs = parseGoDuration(annotations?.[pollAnnotation] ?? "")
  return parsedMs === undefined ? pollMs : Math.max(parsedMs, minPollMs)
}

/** Returns whether the mount has no record of the certificate. Errors other than `not-found` leave that open. */
async function isUnknown(certificates: Pick<Pki["certificates"], "get">, serialNumber: string): Promise<boolean> {
  try {
    await certificates.get(serialNumber)
    return false
  } catch (error) {
    return isEngineError(error, "not-found")
  }
}

export class Revocations {
  readonly #parts: CertificateParts
  /** Time of the last query, by the key of the Secret. */
  readonly #askedAt = new Map<string, number>()

  constructor(parts: CertificateParts) {
    this.#parts = parts
  }

  /** Queries the engine once per polling interval. After a start, the first queries are spread over the interval. */
  async isRevoked(one: CertificateContext, known: KnownIssuer | undefined): Promise<boolean> {
    const { object, request, stored, spec, key } = one
    if (stored.is !== "whole") return false
    const intervalMs = pollIntervalOf(object)
    const askedAt = this.#askedAt.get(key)
    if (askedAt === undefined && request.quiet) {
      this.asked(key, request.now - shareOf(`${key}:poll`) * intervalMs)
      return false
    }
    if (askedAt !== undefined && request.quiet && request.now - askedAt < intervalMs) return false
    const written = writtenIn(one.secret)
    const { kind, name } = spec.issuerRef
    // Another issuer issued the certificate, so this one cannot tell whether it is revoked.
    if (known === undefined || written?.issuerName !== name || written.issuerKind !== kind) return false
    try {
      const { engine } = await connect(this.#parts, one, known)
      this.asked(key, request.now)
      const { revokedAt } = await engine.pki(known.spec.mount).certificates.get(stored.serialNumber)
      return revokedAt !== null
    } catch (error) {
      // If the engine does not answer or does not store certificates, the certificate counts as valid.
      if (isEngineError(error) || error instanceof NotReadyError) return false
      throw error
    }
  }

  /** Marks the certificate as queried. Also used after issuance, since a new certificate needs no query. */
  asked(key: string, at: number): void {
    // Entries of deleted Certificates are removed by clearing the map.
    if (this.#askedAt.size > 2 * this.#parts.storeOf(certificate).size + minAsked) this.#askedAt.clear()
    this.#askedAt.set(key, at)
  }

  async revoke(one: CertificateContext, serialNumber: string, reason: string): Promise<void> {
    const { connectionRef, mount } = this.#issuedBy(one)
    const { engine } = await connectBy(this.#parts, one, { connectionRef, use: { mount } })
    const { revocations, certificates } = engine.pki(mount)
    try {
      await revocations.revoke({ serialNumber, reason })
    } catch (error) {
      if (!isEngineError(error)) throw error
      // The engine did not store the certificate, or the mount was deleted and created again, so it cannot be revoked.
      if (await isUnknown(certificates, serialNumber)) return
      throw refused(error)
    }
  }

  /** Returns the connection and mount of the issuer, or those in the status if the issuer is gone. */
  #issuedBy(one: CertificateContext): IssuedBy {
    const found = knownIssuer(this.#parts, one)?.spec ?? one.before.issuedBy
    const { kind, name } = one.spec.issuerRef
    if (found === undefined) throw stalled("IssuerMissing", `There is no ${kind} ${name} to revoke certificates with.`)
    return found
  }

  /** Revokes replaced certificates. Failures are retried by the next reconciliation. */
  async revokeReplaced(one: CertificateContext, status: CertificateStatus): Promise<CertificateStatus> {
    const pending = new Set(toBeRevoked(status, one.spec, one.request.now))
    if (pending.size === 0) return status
    const history: EarlierCertificate[] = []
    for (const each of status.history ?? []) history.push(pending.has(each) ? await this.#replaced(one, each) : each)
    return { ...status, history }
  }

  async #replaced(one: CertificateContext, each: EarlierCertificate): Promise<EarlierCertificate> {
    try {
      await this.revoke(one, each.serialNumber, "superseded")
      return { ...each, revokedAt: secondTime(one.request.now) }
    } catch (error) {
      if (error instanceof NotReadyError || error instanceof RequeueAfter) return each
      throw error
    }
  }
}
