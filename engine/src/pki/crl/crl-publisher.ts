// Serves revocation lists that are as current as required. The first reader of a stale list triggers a build, once for all readers of
// this process and on one server at a time. A current list costs one read (docs/decisions/crl-on-read.md).
import { LRUCache } from "lru-cache"
import type { RecordKeyUse } from "../../core/audit.ts"
import { busy, isStoreFull } from "../../core/errors.ts"
import type { Exclusively } from "../../core/leases.ts"
import type { Storage } from "../../core/storage.ts"
import type { Log } from "../../core/runtime.ts"
import { type Clock, formatInstant, minuteMs, secondMs } from "../../core/time.ts"
import { nextTurn, type Timers } from "../../core/timers.ts"
import { auditedSigningKey } from "../keys/audited-signing-key.ts"
import type { SigningKeys } from "../keys/signing-keys.ts"
import { buildComplete, buildDelta, type CrlBuild, type CrlRepositories } from "./crl-builder.ts"
import {
  type RequestedBy,
  type CrlFacts,
  type CrlPlan,
  isCompleteDue,
  isDeltaDue,
  isNotYetValid,
  jobPauseMs,
} from "./crl-plan.ts"
import { listOfUnknownIssuers } from "./crl-list.ts"
import type { CrlMetrics } from "./crl-metrics.ts"
import { formatShard } from "./shard.ts"
import type { CrlKey, PublishedCrl } from "./crl-repository.ts"

export interface CrlPublisherOptions {
  readonly storage: Storage<CrlRepositories>
  readonly clock: Clock
  readonly timers: Timers
  readonly exclusively: Exclusively
  readonly signingKeys: SigningKeys
  readonly metrics: CrlMetrics
  readonly log: Log
}

export interface ServedCrl extends Pick<PublishedCrl, "number" | "thisUpdate" | "nextUpdate"> {
  readonly der: Uint8Array
}

/** Mount of the list, and the audit function for its signature. */
export interface CrlRequester {
  readonly mountPath: string
  readonly recordKeyUse: RecordKeyUse
}

export type CrlKind = "complete" | "delta"

const buildTimeoutMs = 10 * minuteMs
/** Interval and maximum number of checks while another server builds. */
const retryPauseMs = 100
const maxAttempts = 600
/** Maximum number of builds for one request. A build that began before the request may miss revocations; a later one does not. */
const maxBuilds = 3
/** Maximum size of the lists cached in memory, in octets. */
const maxCachedOctets = 64 * 1_024 * 1_024

export class CrlPublisher {
  readonly #options: CrlPublisherOptions
  readonly #building = new Map<string, Promise<void>>()
  readonly #cache = new LRUCache<string, ServedCrl>({
    maxSize: maxCachedOctets,
    sizeCalculation: ({ der }) => der.length,
  })
  #refreshRequestedAt = 0

  constructor(options: CrlPublisherOptions) {
    this.#options = options
  }

  /** Returns true if the job should refresh lists now: at most once in `jobPauseMs`, however many certificates are revoked. */
  isRefreshDue(): boolean {
    const now = this.#options.clock.now()
    if (Math.abs(now - this.#refreshRequestedAt) < jobPauseMs) return false
    this.#refreshRequestedAt = now
    return true
  }

  async serve(plan: CrlPlan, kind: CrlKind, requester: CrlRequester): Promise<ServedCrl> {
    const { latest } = await this.#facts(plan)
    for (let builds = 0; ; builds += 1) {
      const facts = { ...(await this.#facts(plan)), latest }
      const due = dueOf(plan, kind, facts, "reader")
      if (due === undefined) return this.#published(plan.key, kind)
      if (builds >= maxBuilds) throw busy("The revocation list changes faster than it is built; try again.")
      try {
        await this.#build(plan, due, requester, "reader")
      } catch (error) {
        // Verifiers prefer an outdated list to none, and a full disk does not record revocations.
        if (!isStoreFull(error) || facts.state?.[kind] === undefined) throw error
        return this.#published(plan.key, kind)
      }
    }
  }

  /** Builds the list even if it is current. It contains all revocations before this call. */
  async rotate(plan: CrlPlan, kind: CrlKind, requester: CrlRequester): Promise<void> {
    // A build that began earlier may have read the revocations earlier. A build that begins from now on can be joined.
    await this.#building.get(nameOf(plan.key))?.catch(() => {})
    const { state } = await this.#facts(plan)
    if (kind === "delta" && state?.complete === undefined) await this.#build(plan, "complete", requester, "reader")
    const before = (await this.#facts(plan)).state?.[kind]?.number ?? 0
    for (let builds = 0; builds < maxBuilds; builds += 1) {
      await this.#build(plan, kind, requester, "rotation")
      if (((await this.#facts(plan)).state?.[kind]?.number ?? 0) > before) return
    }
    throw busy("The revocation list is being built by another server.")
  }

  /** Builds the lists that should be ready before clients request them. */
  async refresh(plan: CrlPlan, requester: CrlRequester): Promise<void> {
    for (const kind of ["complete", "delta"] as const) {
      if (kind === "delta" && !plan.settings.enableDelta) continue
      const due = dueOf(plan, kind, await this.#facts(plan), "job")
      if (due !== undefined) await this.#build(plan, due, requester, "job")
    }
  }

  async #facts({ key, adopts }: CrlPlan): Promise<CrlFacts> {
    const { storage, clock } = this.#options
    const look = () =>
      storage.read(async ({ crls, revocations }) => ({
        state: await crls.find(key),
        latest: await revocations.latest(key.mountId, key.list),
        unlisted: adopts ? await revocations.latest(key.mountId, listOfUnknownIssuers) : 0,
        now: clock.now(),
      }))
    const found = await look()
    if (found.unlisted === 0) return found
    try {
      await adoptUnlisted(storage, key)
    } catch (error) {
      // They are adopted when the disk has space again.
      if (!isStoreFull(error)) throw error
      return found
    }
    return look()
  }

  /** Joins a build of the same list in this process, or waits for one on another server. */
  #build(plan: CrlPlan, kind: CrlKind, requester: CrlRequester, by: RequestedBy | "rotation"): Promise<void> {
    const name = nameOf(plan.key)
    const going = this.#building.get(name)
    if (going !== undefined) return going.catch(() => {})
    const building = this.#buildAlone(name, plan, kind, requester, by).finally(() => this.#building.delete(name))
    this.#building.set(name, building)
    return building
  }

  async #buildAlone(
    name: string,
    plan: CrlPlan,
    kind: CrlKind,
    requester: CrlRequester,
    by: RequestedBy | "rotation",
  ): Promise<void> {
    const { exclusively, timers } = this.#options
    for (let look = 0; look < maxAttempts; look += 1) {
      const { held } = await exclusively({ name: `crl/${name}`, timeoutMs: buildTimeoutMs }, async (lease) => {
        // The previous holder of the lease may have built the list.
        const facts = await this.#facts(plan)
        const due = by === "rotation" ? kind : dueOf(plan, kind, facts, by)
        if (due !== kind) return
        this.#warnIfNotYetValid(plan, kind, facts, requester)
        await this.#buildUnder(lease, plan, kind, requester)
      })
      if (held || by === "job") return
      await new Promise<void>((resolve) => void timers.after(retryPauseMs, resolve))
    }
    throw busy("The revocation list is being built by another server.")
  }

  #warnIfNotYetValid(plan: CrlPlan, kind: CrlKind, { state, now }: CrlFacts, { mountPath }: CrlRequester): void {
    const replaced = state?.[kind]
    if (replaced === undefined || !isNotYetValid(replaced, now)) return
    this.#options.log.warn("crl-not-yet-valid", {
      mount: mountPath,
      issuer: plan.signer.id,
      kind,
      thisUpdate: formatInstant(replaced.thisUpdate),
    })
  }

  async #buildUnder(
    { fence, signal }: { readonly fence: number; readonly signal: AbortSignal },
    plan: CrlPlan,
    kind: CrlKind,
    { mountPath, recordKeyUse }: CrlRequester,
  ): Promise<void> {
    const { storage, clock, signingKeys } = this.#options
    const { id: issuerId, keyId } = plan.signer
    if (keyId === null) throw new TypeError("an issuer without a key cannot sign")
    const use = { mount: mountPath, keyId, issuerId, purpose: "crl" } as const
    const key = auditedSigningKey(await signingKeys.open(keyId), use, recordKeyUse)
    const build: CrlBuild = { storage, clock, plan, key, fence, signal }
    const { crl, der } = await this.#counted(kind, async () =>
      kind === "complete" ? await buildComplete(build) : await buildDelta(build),
    )
    this.#store(plan.key, kind, { der, number: crl.number, thisUpdate: crl.thisUpdate, nextUpdate: crl.nextUpdate })
  }

  async #counted<T>(kind: CrlKind, build: () => Promise<T>): Promise<T> {
    const { metrics, clock } = this.#options
    const began = clock.now()
    try {
      const built = await build()
      // The clock may have stepped back.
      const seconds = Math.max(0, clock.now() - began) / secondMs
      metrics.builds.add(1, { kind, outcome: "done" })
      metrics.lastBuildSeconds.record(seconds, { kind })
      metrics.buildSeconds.add(seconds, { kind })
      return built
    } catch (error) {
      metrics.builds.add(1, { kind, outcome: "failed" })
      throw error
    }
  }

  /** Returns the published list, read in one transaction. */
  async #published(key: CrlKey, kind: CrlKind): Promise<ServedCrl> {
    const { storage } = this.#options
    return storage.read(async ({ crls }) => {
      const published = (await crls.find(key))?.[kind]
      if (published === undefined) throw busy("The revocation list is being replaced; try again.")
      const cached = this.#cache.get(`${kind}/${nameOf(key)}`)
      if (cached?.number === published.number) return cached
      const { number, thisUpdate, nextUpdate } = published
      const der = kind === "delta" ? await crls.delta(key) : await this.#joined(key, crls)
      if (der === undefined) throw new Error("a recorded revocation list is missing")
      const served = { der, number, thisUpdate, nextUpdate }
      this.#store(key, kind, served)
      return served
    })
  }

  async #joined(key: CrlKey, crls: CrlRepositories["crls"]): Promise<Uint8Array | undefined> {
    const complete = (await crls.find(key))?.complete
    const frame = await crls.frame(key)
    if (complete === undefined || frame === undefined) return undefined
    const octets = Buffer.allocUnsafeSlow(complete.length)
    octets.set(frame.head, 0)
    let at = frame.head.length
    for (let position = 0; position < complete.segmentCount; position += 1) {
      const entries = await crls.segment(key, complete.epoch, position)
      if (entries === undefined) return undefined
      octets.set(entries, at)
      at += entries.length
      await nextTurn()
    }
    octets.set(frame.tail, at)
    return octets
  }

  #store(key: CrlKey, kind: CrlKind, served: ServedCrl): void {
    this.#cache.set(`${kind}/${nameOf(key)}`, served)
  }
}

const adoptedPerWrite = 256
/** Maximum number for one build. There are few: certificates of issuers that left the mount. The next build adopts the rest. */
const maxAdoptions = 4_096

async function adoptUnlisted(storage: Storage<CrlRepositories>, { mountId, list }: CrlKey): Promise<void> {
  for (let adopted = 0; adopted < maxAdoptions; adopted += adoptedPerWrite) {
    const count = await storage.transact(({ revocations }) => revocations.adopt(mountId, list, adoptedPerWrite))
    if (count < adoptedPerWrite) return
  }
}

/** Returns the kind of list to build first. A delta needs a current complete list. */
function dueOf(plan: CrlPlan, kind: CrlKind, facts: CrlFacts, by: RequestedBy): CrlKind | undefined {
  if (kind === "complete") return isCompleteDue(plan, facts, by) ? kind : undefined
  const complete = facts.state?.complete
  if (complete === undefined || complete.content !== plan.content || isNotYetValid(complete, facts.now))
    return "complete"
  return isDeltaDue(plan, facts) ? kind : undefined
}

const nameOf = ({ mountId, list, shard }: CrlKey): string => `${mountId}/${list}/${formatShard(shard)}`
