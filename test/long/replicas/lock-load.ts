// Several holders compete for the same few workspaces. Each records the interval in which it held a lock for certain: from the
// acknowledgement until the unlock request was sent, or until the lock could have expired. No two of these may overlap.
import { createHash } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { expect } from "vitest"
import { stateFile, stateVersionDocument } from "../../../engine/testing/state-file.ts"
import { type Answered, type Load, type ReplicaClient, settled, Unheard } from "./client.ts"

export interface Holder {
  readonly name: string
  readonly userId: string
  readonly token: string
}

/** One lock of one holder. */
interface Tenure {
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

interface StateWrite extends Pick<Answered, "askedAt" | "answeredAt"> {
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
  readonly #tenures: Tenure[] = []
  readonly #writes: StateWrite[] = []
  #count = 0
  #unheard = 0

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
    const tenure = await this.#taken(holder, workspace, ttl)
    if (tenure === undefined) return sleep(this.#random(longestPauseMs))
    for (let steps = this.#random(4); steps > 0; steps -= 1) {
      if (ttl !== undefined && this.#random(2) === 0) await this.#extend(holder, tenure, ttl)
      else await this.#writeState(holder, tenure)
    }
    await this.#giveBack(holder, tenure)
  }

  async #taken(holder: Holder, workspace: string, ttl: number | undefined): Promise<Tenure | undefined> {
    this.#count += 1
    const reason = `${holder.name} ${this.#count}`
    const tenureFrom = (from: number, askedAt: number): Tenure => {
      const endsAt = ttl === undefined ? Number.POSITIVE_INFINITY : askedAt + ttl * 1_000 - clockGrainMs
      const tenure = { workspace, reason, from, endsAt, until: endsAt }
      this.#tenures.push(tenure)
      return tenure
    }
    const askedAt = performance.now()
    let answer: Answered
    try {
      const body = { reason, ...(ttl === undefined ? {} : { ttl }) }
      answer = await this.#client.send("POST", `/api/v2/workspaces/${workspace}/actions/lock`, body, holder)
    } catch (error) {
      if (!(error instanceof Unheard)) throw error
      this.#unheard += 1
      await settled()
      const look = await this.#look(holder, workspace)
      return look.reason === reason ? tenureFrom(look.answeredAt, askedAt) : undefined
    }
    if (answer.status === 200) return tenureFrom(answer.answeredAt, answer.askedAt)
    const by = answer.body?.errors?.[0]?.meta?.["locked-by"]
    if (answer.status !== 409 || by === undefined) this.#unexpected("lock", answer)
    else if (by.id === holder.userId)
      this.#client.fault(`${reason}: its own lock is left over: ${JSON.stringify(answer.body)}`)
    return undefined
  }

  async #extend(holder: Holder, tenure: Tenure, ttl: number): Promise<void> {
    const path = `/api/v2/workspaces/${tenure.workspace}/actions/extend-lock`
    const answer = await this.#heard(this.#client.send("POST", path, { ttl }, holder))
    if (answer === undefined) return
    if (answer.status === 200) {
      // The lock was held without a gap: extending an expired lock is refused.
      tenure.endsAt = answer.askedAt + ttl * 1_000 - clockGrainMs
      tenure.until = tenure.endsAt
    } else if (answer.status !== 409 || answer.answeredAt < tenure.endsAt)
      this.#unexpected(`extend ${tenure.reason}`, answer)
  }

  async #writeState(holder: Holder, tenure: Tenure): Promise<void> {
    this.#count += 1
    const state = stateFile({
      serial: this.#count,
      lineage: "replicas",
      outputs: { by: { value: tenure.reason, type: "string" } },
    })
    const path = `/api/v2/workspaces/${tenure.workspace}/state-versions`
    const document = stateVersionDocument(state, { inline: true })
    const answer = await this.#heard(this.#client.send("POST", path, document, holder))
    if (answer === undefined) return
    const { askedAt, answeredAt } = answer
    if (answer.status === 201)
      this.#writes.push({
        id: answer.body.data.id,
        md5: state.md5,
        workspace: tenure.workspace,
        reason: tenure.reason,
        askedAt,
        answeredAt,
      })
    else if (answer.status !== 409 || answeredAt < tenure.endsAt) this.#unexpected(`state of ${tenure.reason}`, answer)
  }

  async #giveBack(holder: Holder, tenure: Tenure): Promise<void> {
    tenure.until = Math.min(tenure.endsAt, performance.now())
    const path = `/api/v2/workspaces/${tenure.workspace}/actions/unlock`
    for (;;) {
      const answer = await this.#heard(this.#client.send("POST", path, undefined, holder))
      if (answer !== undefined) {
        const isOver = answer.status === 409 && answer.answeredAt >= tenure.endsAt
        if (answer.status !== 200 && !isOver) this.#unexpected(`unlock ${tenure.reason}`, answer)
        return
      }
      await settled()
      if ((await this.#look(holder, tenure.workspace)).reason !== tenure.reason) return
    }
  }

  async #heard(asking: Promise<Answered>): Promise<Answered | undefined> {
    try {
      return await asking
    } catch (error) {
      if (!(error instanceof Unheard)) throw error
      this.#unheard += 1
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
    expect(overlaps(this.#tenures)).toEqual([])
    const certain = this.#tenures.filter(({ from, until }) => from < until)
    const usurped = this.#writes.filter(({ workspace, reason, askedAt, answeredAt }) =>
      certain.some(
        (other) =>
          other.workspace === workspace &&
          other.reason !== reason &&
          other.from <= askedAt &&
          answeredAt <= other.until,
      ),
    )
    expect(usurped).toEqual([])
    for (const { id, md5 } of this.#writes) {
      const { status, bytes } = await this.#client.read(`/api/v2/state-versions/${id}/download`)
      expect([id, status, md5Of(bytes)]).toEqual([id, 200, md5])
    }
    return `${this.#tenures.length} locks and ${this.#writes.length} states acknowledged, ${this.#unheard} not heard of`
  }
}

function overlaps(tenures: readonly Tenure[]): readonly (readonly [Tenure, Tenure])[] {
  const found: (readonly [Tenure, Tenure])[] = []
  const latest = new Map<string, Tenure>()
  for (const tenure of tenures.filter(({ from, until }) => from < until).toSorted((a, b) => a.from - b.from)) {
    const before = latest.get(tenure.workspace)
    if (before !== undefined && before.until > tenure.from) found.push([before, tenure])
    if (before === undefined || before.until < tenure.until) latest.set(tenure.workspace, tenure)
  }
  return found
}

const md5Of = (bytes: Uint8Array): string => createHash("md5").update(bytes).digest("hex")
