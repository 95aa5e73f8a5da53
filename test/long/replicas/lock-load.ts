// Several holders compete for the same few workspaces. Each records the interval in which it held a lock for certain: from the
// acknowledgement until the unlock request was sent, or until the lock could have expired. No two of these may overlap.
import { createHash } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { expect } from "vitest"
import { stateFile, stateVersionDocument } from "../../../engine/testing/state-file.ts"
import { type Answered, type Load, type ReplicaClient, settled, NoAnswerError } from "./client.ts"

export interface Holder {
  readonly name: string
  readonly userId: string
  readonly token: string
}

/** One lock of one holder. */
interface LockPeriod {
  readonly workspace: string
  /** Unique to this lock. */
  readonly reason: string
  /** Start of the interval in which the lock was held for certain. */
  readonly from: number
  /** Earliest expiry. */
  endsAt: number
  /** End of the interval in which the lock was held for certain. */
  until: number
}

interface StateWrite extends Pick<Answered, "sentAt" | "answeredAt"> {
  readonly id: string
  readonly md5: string
  readonly workspace: string
  readonly reason: string
}

/** In seconds; undefined for a lock without expiry. */
const ttls = [undefined, undefined, 2, 30] as const
const longestPauseMs = 40
/** Servers read another clock than this process, in whole milliseconds. */
const clockGrainMs = 10

export class LockLoad implements Load {
  readonly #client: ReplicaClient
  readonly #holders: readonly Holder[]
  readonly #workspaces: readonly string[]
  readonly #random: (limit: number) => number
  readonly #periods: LockPeriod[] = []
  readonly #writes: StateWrite[] = []
  #count = 0
  #unansweredCount = 0

  constructor(
    client: ReplicaClient,
    {
      holders,
      workspaces,
      random,
    }: {
      readonly holders: readonly Holder[]
      readonly workspaces: readonly string[]
      readonly random: (limit: number) => number
    },
  ) {
    this.#client = client
    this.#holders = holders
    this.#workspaces = workspaces
    this.#random = random
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(
      this.#holders.map(async (holder) => {
        while (!signal.aborted) await this.#turn(holder)
      }),
    )
  }

  async #turn(holder: Holder): Promise<void> {
    const workspace = this.#workspaces[this.#random(this.#workspaces.length)] ?? ""
    const ttl = ttls[this.#random(ttls.length)]
    const period = await this.#acquire(holder, workspace, ttl)
    if (period === undefined) return sleep(this.#random(longestPauseMs))
    for (let steps = this.#random(4); steps > 0; steps -= 1) {
      if (ttl !== undefined && this.#random(2) === 0) await this.#extend(holder, period, ttl)
      else await this.#writeState(holder, period)
    }
    await this.#release(holder, period)
  }

  async #acquire(holder: Holder, workspace: string, ttl: number | undefined): Promise<LockPeriod | undefined> {
    this.#count += 1
    const reason = `${holder.name} ${this.#count}`
    const periodFrom = (from: number, sentAt: number): LockPeriod => {
      const endsAt = ttl === undefined ? Number.POSITIVE_INFINITY : sentAt + ttl * 1_000 - clockGrainMs
      const period = { workspace, reason, from, endsAt, until: endsAt }
      this.#periods.push(period)
      return period
    }
    const sentAt = performance.now()
    let answer: Answered
    try {
      const body = { reason, ...(ttl === undefined ? {} : { ttl }) }
      answer = await this.#client.send("POST", `/api/v2/workspaces/${workspace}/actions/lock`, body, holder)
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error
      this.#unansweredCount += 1
      await settled()
      const look = await this.#look(holder, workspace)
      return look.reason === reason ? periodFrom(look.answeredAt, sentAt) : undefined
    }
    if (answer.status === 200) return periodFrom(answer.answeredAt, answer.sentAt)
    const by = answer.body?.errors?.[0]?.meta?.["locked-by"]
    if (answer.status !== 409 || by === undefined) this.#unexpected("lock", answer)
    else if (by.id === holder.userId)
      this.#client.fault(`${reason}: its own lock is left over: ${JSON.stringify(answer.body)}`)
    return undefined
  }

  async #extend(holder: Holder, period: LockPeriod, ttl: number): Promise<void> {
    const path = `/api/v2/workspaces/${period.workspace}/actions/extend-lock`
    const answer = await this.#answerIfAny(this.#client.send("POST", path, { ttl }, holder))
    if (answer === undefined) return
    if (answer.status === 200) {
      // The lock was held without a gap: extending an expired lock is refused.
      period.endsAt = answer.sentAt + ttl * 1_000 - clockGrainMs
      period.until = period.endsAt
    } else if (answer.status !== 409 || answer.answeredAt < period.endsAt)
      this.#unexpected(`extend ${period.reason}`, answer)
  }

  async #writeState(holder: Holder, period: LockPeriod): Promise<void> {
    this.#count += 1
    const state = stateFile({
      serial: this.#count,
      lineage: "replicas",
      outputs: { by: { value: period.reason, type: "string" } },
    })
    const path = `/api/v2/workspaces/${period.workspace}/state-versions`
    const document = stateVersionDocument(state, { inline: true })
    const answer = await this.#answerIfAny(this.#client.send("POST", path, document, holder))
    if (answer === undefined) return
    const { sentAt, answeredAt } = answer
    if (answer.status === 201)
      this.#writes.push({
        id: answer.body.data.id,
        md5: state.md5,
        workspace: period.workspace,
        reason: period.reason,
        sentAt,
        answeredAt,
      })
    else if (answer.status !== 409 || answeredAt < period.endsAt) this.#unexpected(`state of ${period.reason}`, answer)
  }

  async #release(holder: Holder, period: LockPeriod): Promise<void> {
    period.until = Math.min(period.endsAt, performance.now())
    const path = `/api/v2/workspaces/${period.workspace}/actions/unlock`
    for (;;) {
      const answer = await this.#answerIfAny(this.#client.send("POST", path, undefined, holder))
      if (answer !== undefined) {
        const isOver = answer.status === 409 && answer.answeredAt >= period.endsAt
        if (answer.status !== 200 && !isOver) this.#unexpected(`unlock ${period.reason}`, answer)
        return
      }
      await settled()
      if ((await this.#look(holder, period.workspace)).reason !== period.reason) return
    }
  }

  async #answerIfAny(pendingAnswer: Promise<Answered>): Promise<Answered | undefined> {
    try {
      return await pendingAnswer
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error
      this.#unansweredCount += 1
      return undefined
    }
  }

  async #look(
    holder: Holder,
    workspace: string,
  ): Promise<{ readonly reason: string | null; readonly answeredAt: number }> {
    const { body, answeredAt } = await this.#client.read(`/api/v2/workspaces/${workspace}`, holder)
    return { reason: body.data.attributes["locked-reason"], answeredAt }
  }

  #unexpected(what: string, { status, body }: Answered): void {
    this.#client.fault(`${what}: ${status} ${JSON.stringify(body)}`)
  }

  async verify(): Promise<string> {
    expect(overlaps(this.#periods)).toEqual([])
    const certain = this.#periods.filter(({ from, until }) => from < until)
    const invalidWrites = this.#writes.filter(({ workspace, reason, sentAt, answeredAt }) =>
      certain.some(
        (other) =>
          other.workspace === workspace && other.reason !== reason && other.from <= sentAt && answeredAt <= other.until,
      ),
    )
    expect(invalidWrites).toEqual([])
    for (const { id, md5 } of this.#writes) {
      const { status, bytes } = await this.#client.read(`/api/v2/state-versions/${id}/download`)
      expect([id, status, md5Of(bytes)]).toEqual([id, 200, md5])
    }
    return `${this.#periods.length} locks and ${this.#writes.length} states acknowledged, ${this.#unansweredCount} not heard of`
  }
}

function overlaps(periods: readonly LockPeriod[]): readonly (readonly [LockPeriod, LockPeriod])[] {
  const found: (readonly [LockPeriod, LockPeriod])[] = []
  const latest = new Map<string, LockPeriod>()
  for (const period of periods.filter(({ from, until }) => from < until).toSorted((a, b) => a.from - b.from)) {
    const before = latest.get(period.workspace)
    if (before !== undefined && before.until > period.from) found.push([before, period])
    if (before === undefined || before.until < period.until) latest.set(period.workspace, period)
  }
  return found
}

const md5Of = (bytes: Uint8Array): string => createHash("md5").update(bytes).digest("hex")
