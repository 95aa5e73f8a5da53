// Followers of the feed get each event once and in order, across all failures, and a webhook receiver gets each at least once. The feed
// itself reports no lock of a locked workspace.
import { expect } from "vitest"
import type { Engine } from "../../../engine/src/engine.ts"
import type { EventView } from "../../../engine/src/events/feed/events.ts"
import { openEngine } from "../../../engine/src/open.ts"
import { startWebhookReceiver, type WebhookReceiver } from "../../../engine/testing/webhook-receiver.ts"
import type { Load, ReplicaClient } from "./client.ts"

const organization = "default"
const followerCount = 2
/** A server that died keeps its lease on the job for a minute. */
const timeoutMs = 180_000

export class EventLoad implements Load, AsyncDisposable {
  readonly #client: ReplicaClient
  readonly #token: string
  readonly #followers: { readonly engine: Engine; readonly ids: string[]; readonly following: Promise<void> }[] = []
  readonly #closing = new AsyncDisposableStack()
  readonly #stopping = new AbortController()
  #receiver: WebhookReceiver | undefined

  constructor(client: ReplicaClient, token: string) {
    this.#client = client
    this.#token = token
  }

  async prepare(): Promise<void> {
    const receiver = this.#closing.use(await startWebhookReceiver())
    this.#receiver = receiver
    const attributes = { name: "locks", url: receiver.url, kinds: ["workspace.locked"] }
    await this.#client.change("POST", `/api/v2/organizations/${organization}/webhooks`, {
      data: { type: "webhooks", attributes },
    })
    for (let index = 0; index < followerCount; index += 1) {
      const engine = this.#closing.use(await openEngine(this.#client.origin, { token: this.#token }))
      const ids: string[] = []
      const began = Promise.withResolvers<void>()
      const follow = async () => {
        const { signal } = this.#stopping
        const events = await engine.events.follow(organization, { since: beginning }, { signal })
        began.resolve()
        for await (const { id } of events) ids.push(id)
      }
      const following = follow().catch((error: unknown) => {
        this.#client.fault(`a follower is left: ${String(error)}`)
        began.reject(error)
      })
      await began.promise
      this.#followers.push({ engine, ids, following })
    }
  }

  /** Does nothing, because the other loads make the events. */
  async run(): Promise<void> {}

  async verify(): Promise<string> {
    const [first] = this.#followers
    if (first === undefined) throw new Error("not prepared")
    const recorded = await allEvents(first.engine)
    const ids = recorded.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const follower of this.#followers) {
      await expect.poll(() => follower.ids.length, { timeout: timeoutMs }).toBeGreaterThanOrEqual(ids.length)
      expect(follower.ids.slice(0, ids.length)).toEqual(ids)
    }
    expect(lockedTwice(recorded)).toEqual([])
    const locked = recorded.filter(({ kind }) => kind === "workspace.locked").map(({ id }) => id)
    const brought = () => this.#receiver?.seen.map(({ body }): string => JSON.parse(body).data.id) ?? []
    const missing = () => {
      const there = new Set(brought())
      return locked.filter((id) => !there.has(id)).length
    }
    // Deliveries come one after another, so the check is that they continue.
    for (let left = missing(); left > 0; left = missing()) {
      try {
        await expect.poll(missing, { timeout: timeoutMs, interval: 500 }).toBeLessThan(left)
      } catch (error) {
        const recorded = `${left} of ${locked.length} are not brought, and no more come: ${await this.#webhooks()}`
        throw new Error(recorded, { cause: error })
      }
    }
    // In the order of the feed, apart from repetitions.
    expect([...new Set(brought())].slice(0, locked.length)).toEqual(locked)
    const deliveries = new Map<string, Set<string>>()
    for (const { headers, body } of this.#receiver?.seen ?? []) {
      const { id } = JSON.parse(body).data
      deliveries.set(id, (deliveries.get(id) ?? new Set()).add(String(headers["x-chancery-delivery"])))
    }
    expect([...deliveries].filter(([, known]) => known.size > 1)).toEqual([])
    return `${ids.length} events followed by ${followerCount}, ${locked.length} of them brought in ${brought().length} deliveries`
  }

  /** Returns the status of the webhooks as the API reports it. */
  async #webhooks(): Promise<string> {
    const { body } = await this.#client.read(`/api/v2/organizations/${organization}/webhooks`)
    return JSON.stringify(body.data.map(({ attributes }: { readonly attributes: unknown }) => attributes))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#followers.map(({ following }) => following))
    await this.#closing.disposeAsync()
  }
}

const beginning = "c0-0"

async function allEvents(engine: Engine): Promise<readonly EventView[]> {
  const found: EventView[] = []
  for (let since = beginning; ;) {
    const page = await engine.events.list(organization, { since }, 100)
    found.push(...page.items)
    since = page.cursor
    if (!page.more) return found
  }
}

const ends = new Set(["workspace.unlocked", "workspace.force-unlocked", "workspace.lock-expired"])

function lockedTwice(events: readonly EventView[]): readonly string[] {
  const locked = new Set<string>()
  const found: string[] = []
  for (const { id, kind, workspace } of events) {
    if (workspace === null) continue
    const isLocked = locked.has(workspace.id)
    if (kind === "workspace.locked") {
      if (isLocked) found.push(`${id} locks ${workspace.id} again`)
      locked.add(workspace.id)
    } else if (ends.has(kind)) {
      if (!isLocked) found.push(`${id} unlocks ${workspace.id} again`)
      locked.delete(workspace.id)
    }
  }
  return found
}
