// OCSP responses, signed on request (RFC 6960). The status is read in one transaction; the signature is made after it.
import { type EngineError, isEngineError } from "../../core/errors.ts"
import { logFailure } from "../../core/failure-log.ts"
import { formatInstant, type Instant, isAhead } from "../../core/time.ts"
import { sha256 } from "../../x509/digest.ts"
import {
  assembleOcspResponse,
  type CertificateStatus,
  encodeOcspFailure,
  encodeResponseData,
  type OcspRequest,
  parseOcspRequest,
} from "../../x509/ocsp.ts"
import { subjectKeyIdentifier } from "../../x509/public-key.ts"
import { signatureAlgorithmIdentifier } from "../../x509/signature-algorithm.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import type { MountSnapshot } from "../mounts/mount-snapshot.ts"
import { currentSnapshot, readMount } from "../mounts/with-mount-snapshot.ts"
import type { MountAccess, PkiRepositories } from "../pki-context.ts"
import { auditedSigningKey } from "../keys/audited-signing-key.ts"
import { type IssuerGroup, isSameGroup, issuersOf, statusOf } from "./certificate-status.ts"
import { isAsSet, isDue, isNotYetValid } from "./delegated-responder.ts"
import type { CachedAnswer } from "./ocsp-cache.ts"
import type { OcspOutcome } from "./ocsp-metrics.ts"
import type { ServedOcsp, ServedOcspAnswer } from "./ocsp.ts"
import { responderCacheKey, ResponderService } from "./responder-service.ts"
import { chooseResponder, delegatedResponder, directResponder, type Responder } from "./responder.ts"

export class OcspService implements ServedOcsp {
  readonly #access: MountAccess

  constructor(access: MountAccess) {
    this.#access = access
  }

  async answer(der: Uint8Array): Promise<ServedOcspAnswer> {
    try {
      const { answer, outcome } = await this.#answered(parseOcspRequest(der))
      this.#count(outcome)
      return answer
    } catch (error) {
      if (error instanceof UnacceptableInput) return this.#refused("malformed_request")
      if (!isEngineError(error)) {
        this.#access.context.runtime.log.error("ocsp answer failed", { mount: this.#access.mountPath, error })
        return this.#refused("internal_error")
      }
      if (temporaryErrors.has(error.code)) return this.#refused("try_later")
      throw error
    }
  }

  #refused(outcome: OcspErrorName): ServedOcspAnswer {
    this.#count(outcome)
    return failureAnswers[outcome]
  }

  #count(outcome: OcspOutcome): void {
    this.#access.context.ocspMetrics.answers.add(1, { status: outcome })
  }

  async #answered(request: OcspRequest): Promise<Answered> {
    const found =
      (await this.#cachedResponse(request)) ??
      (await readMount(this.#access, (snapshot, repositories) => this.#lookUp(snapshot, repositories, request)))
    if (found.kind === "refused") return unauthorized
    const [status] = found.statuses
    const outcome = found.statuses.length === 1 && status !== undefined ? status.kind : "several"
    if (found.kind === "cached") {
      this.#access.context.ocspMetrics.cachedAnswers.add(1)
      return { answer: found.answer, outcome }
    }
    const { snapshot, issuers, statuses, keeping } = found
    const responder = await this.#responder(snapshot, issuers)
    if (responder === undefined) return unauthorized
    const now = this.#access.context.runtime.clock.now()
    const signed = await this.#signed(snapshot, responder, { request, statuses, now })
    if (keeping !== undefined && status !== undefined && signed.keeping !== undefined) {
      const { thisUpdate, renewedAt } = signed.keeping
      const { key, revocations } = keeping
      this.#access.context.ocspCache.keep(key, {
        answer: signed,
        status,
        version: snapshot.version,
        revocations,
        thisUpdate,
        renewedAt,
      })
    }
    return { answer: signed, outcome }
  }

  async #responder({ mount, settings }: MountSnapshot, issuers: IssuerGroup): Promise<Responder | undefined> {
    const choice = chooseResponder(issuers, settings.crl)
    if (choice === undefined) return undefined
    const { kind, issuer } = choice
    if (kind === "direct" && issuer.keyId !== null)
      return directResponder(issuer, await this.#access.context.signingKeys.open(issuer.keyId))
    const now = this.#access.context.runtime.clock.now()
    if (issuer.parsed.notAfter <= now) return undefined
    const known = this.#access.context.ocspResponders.find(responderCacheKey(mount.id, issuer))
    const isUsable = known !== undefined && known.notAfter > now && !isNotYetValid(known, issuer, now)
    if (isUsable && !isDue(known, issuer, now) && isAsSet(known, issuer, settings.crl))
      return delegatedResponder(issuer, known)
    try {
      const service = new ResponderService(this.#access)
      return delegatedResponder(issuer, await service.renew(mount.id, issuer, now))
    } catch (error) {
      // The old responder is still valid for up to half of its lifetime, in which renewal is tried again.
      if (!isUsable) throw error
      logFailure(this.#access.context.runtime.log, "error", "ocsp responder not renewed", {
        mount: this.#access.mountPath,
        error,
      })
      return delegatedResponder(issuer, known)
    }
  }

  /**
   * Returns a cached response without a transaction. Versions only increase. When the first version was read, the mount was
   * therefore in the state of the cached response.
   */
  async #cachedResponse(request: OcspRequest): Promise<CachedResponse | undefined> {
    const snapshot = await currentSnapshot(this.#access)
    const key = cacheKeyOf(snapshot, request)
    if (key === undefined || snapshot.settings.crl.ocspDisable) return undefined
    const cached = this.#cached(key, snapshot.version)
    if (cached === undefined) return undefined
    const isCurrent = cached.revocations === (await this.#access.context.cacheVersions.revocations(snapshot.mount.id))
    return isCurrent ? { kind: "cached", answer: cached.answer, statuses: [cached.status] } : undefined
  }

  async #lookUp(snapshot: MountSnapshot, repositories: PkiRepositories, request: OcspRequest): Promise<LookedUp> {
    if (snapshot.settings.crl.ocspDisable) return { kind: "refused" }
    const { certificates } = request
    const groups = certificates.map((id) => issuersOf(snapshot, id))
    // One responder signs, and it answers for one issuer. The status of other issuers' certificates is unknown (RFC 6960, section
    // 2.2).
    const issuers = groups.find((group) => group !== undefined)
    if (issuers === undefined) return { kind: "refused" }
    const cacheKey = cacheKeyOf(snapshot, request)
    const [only] = certificates
    if (cacheKey === undefined || only === undefined) {
      const statuses: CertificateStatus[] = []
      for (const [index, { serialNumber }] of certificates.entries())
        statuses.push(
          isSameGroup(issuers, groups[index]) ? await statusOf(snapshot, repositories, issuers, serialNumber) : unknown,
        )
      return { kind: "sign", snapshot, issuers, statuses, keeping: undefined }
    }
    const revocations = await repositories.revocations.cacheVersion(snapshot.mount.id)
    const cached = this.#cached(cacheKey, snapshot.version)
    if (cached?.revocations === revocations) return { kind: "cached", answer: cached.answer, statuses: [cached.status] }
    const status = await statusOf(snapshot, repositories, issuers, only.serialNumber)
    if (cached !== undefined && isSameStatus(cached.status, status)) {
      this.#access.context.ocspCache.keep(cacheKey, { ...cached, revocations })
      return { kind: "cached", answer: cached.answer, statuses: [status] }
    }
    // `unknown` is not cached: the certificate may be issued soon, and the number of unknown serial numbers is unlimited.
    const keeping = status.kind === "unknown" ? undefined : { key: cacheKey, revocations }
    return { kind: "sign", snapshot, issuers, statuses: [status], keeping }
  }

  #cached(key: string, version: number): CachedAnswer | undefined {
    const { ocspCache, runtime } = this.#access.context
    const now = runtime.clock.now()
    const cached = ocspCache.find(key)
    if (cached === undefined || cached.version !== version || now >= cached.renewedAt) return undefined
    if (now >= cached.thisUpdate) return cached
    // All responses from the time when the clock was ahead are removed at once, with one warning.
    const removedCount = ocspCache.removeAfter(now)
    if (isAhead(cached.thisUpdate, now))
      runtime.log.warn("ocsp-answers-not-yet-valid", {
        mount: this.#access.mountPath,
        thisUpdate: formatInstant(cached.thisUpdate),
        removedCount,
      })
    return undefined
  }

  async #signed(
    snapshot: MountSnapshot,
    responder: Responder,
    { request, statuses, now }: ToSign,
  ): Promise<ServedOcspAnswer> {
    const { ocspExpiryMs } = snapshot.settings.crl
    const thisUpdate = now - (now % 1_000)
    const nextUpdate = ocspExpiryMs === 0 ? undefined : Math.min(thisUpdate + ocspExpiryMs, responder.notAfter)
    const { algorithm, certificates } = responder
    const key = auditedSigningKey(
      responder.key,
      { mount: this.#access.mountPath, ...responder.use },
      this.#access.recordKeyUse,
    )
    const tbs = encodeResponseData({
      responderKeyHash: subjectKeyIdentifier(key),
      producedAt: thisUpdate,
      responses: request.certificates.map(({ der }, index) => ({
        certificateId: der,
        status: statuses[index] ?? unknown,
        thisUpdate,
        nextUpdate,
      })),
      nonce: request.nonce,
    })
    const der = assembleOcspResponse({
      tbs,
      signatureAlgorithm: signatureAlgorithmIdentifier(algorithm),
      signature: await key.sign(tbs, algorithm),
      certificates,
    })
    const isForAll = request.nonce === undefined && statuses.every(({ kind }) => kind !== "unknown")
    if (nextUpdate === undefined || !isForAll) return { der, keeping: undefined }
    const renewedAt = thisUpdate + Math.floor((nextUpdate - thisUpdate) * renewedAfter)
    return { der, keeping: { thisUpdate, nextUpdate, renewedAt, tag: sha256(der) } }
  }
}

/** Fraction of a response's validity after which it is renewed. A client that gets it then can still use it for the rest. */
const renewedAfter = 0.5

interface CachedResponse {
  readonly kind: "cached"
  readonly answer: ServedOcspAnswer
  readonly statuses: readonly CertificateStatus[]
}

type LookedUp =
  | { readonly kind: "refused" }
  | CachedResponse
  | {
      readonly kind: "sign"
      readonly snapshot: MountSnapshot
      readonly issuers: IssuerGroup
      /** One status for each certificate of the request. */
      readonly statuses: readonly CertificateStatus[]
      /** Undefined if the response must not be cached. */
      readonly keeping: { readonly key: string; readonly revocations: number } | undefined
    }

interface ToSign {
  readonly request: OcspRequest
  readonly statuses: readonly CertificateStatus[]
  readonly now: Instant
}

const unknown: CertificateStatus = { kind: "unknown" }

const failureAnswer = (...failure: Parameters<typeof encodeOcspFailure>): ServedOcspAnswer => ({
  der: encodeOcspFailure(...failure),
  keeping: undefined,
})
const failureAnswers = {
  malformed_request: failureAnswer("malformedRequest"),
  unauthorized: failureAnswer("unauthorized"),
  internal_error: failureAnswer("internalError"),
  try_later: failureAnswer("tryLater"),
} as const satisfies Partial<Record<OcspOutcome, ServedOcspAnswer>>
type OcspErrorName = keyof typeof failureAnswers

interface Answered {
  readonly answer: ServedOcspAnswer
  readonly outcome: OcspOutcome
}

const unauthorized: Answered = { answer: failureAnswers.unauthorized, outcome: "unauthorized" }

/** Errors that may be temporary. */
const temporaryErrors: ReadonlySet<EngineError["code"]> = new Set([
  "busy",
  "unavailable",
  "out-of-service",
  "rate-limited",
])

/**
 * Returns the cache key of a request: the octets of its certificate id, including the digest algorithm, which the response repeats.
 * Undefined for requests that other clients do not repeat.
 */
function cacheKeyOf({ mount }: MountSnapshot, { certificates, nonce }: OcspRequest): string | undefined {
  const [only] = certificates
  if (certificates.length !== 1 || only === undefined || nonce !== undefined) return undefined
  const { der } = only
  return `${mount.id} ${Buffer.from(der.buffer, der.byteOffset, der.byteLength).toString("latin1")}`
}

function isSameStatus(one: CertificateStatus, other: CertificateStatus): boolean {
  if (one.kind === "revoked" && other.kind === "revoked") return one.at === other.at && one.reason === other.reason
  return one.kind === other.kind
}
