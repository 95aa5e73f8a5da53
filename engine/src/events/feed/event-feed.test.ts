import { expect, onTestFinished, test } from "vitest"
import type { OrganizationId } from "../../core/ids.ts"
import { noopMeter } from "../../core/metrics.ts"
import { silentLog, systemRuntime } from "../../core/runtime.ts"
import { hourMs } from "../../core/time.ts"
import { systemTimers } from "../../core/timers.ts"
import { recordedMetrics } from "../../../testing/recorded-metrics.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"
import { beginning, type EventPosition, isBefore, ownOrigin, type StoredEvent } from "./event.ts"
import { EventFeed, type FeedRepositories, Follower } from "./event-feed.ts"
import { createFeedMetrics } from "./feed-metrics.ts"

const maxChanges = 5_000

const tagEvent: StoredEvent = {
  position: { transaction: 1, number: 1 },
  kind: "tag.created",
  at: 0,
  organizationId: "org-1" as OrganizationId,
  workspace: null,
  changed: [],
  subject: null,
  origin: ownOrigin,
  tags: [],
  formerTags: [],
  readers: null,
}

/** Returns a feed over events that a test makes. It reads when a follower joins, and when it is woken. */
function feedOver(events: Pick<FeedRepositories["events"], "after" | "end">) {
  const repositories = { events, identity: { cacheVersion: async () => 1 } } as unknown as FeedRepositories
  const { clock } = systemRuntime()
  const feed = new EventFeed({
    storage: {
      read: async (work) => work(repositories),
      readReplica: async (work) => work(repositories),
      transact: async (work) => work(repositories),
    },
    runtime: { clock, log: silentLog },
    timers: systemTimers,
    metrics: createFeedMetrics(noopMeter),
    pollMs: hourMs,
  })
  onTestFinished(() => feed.end())
  /** Follows the feed, and returns the kinds of the events that arrive. */
  const follow = (position = beginning) => {
    const caller = { kind: "user", userId: "user-1", siteAdmin: true } as never
    const organization = { id: "org-1" as OrganizationId, name: "acme" }
    const follower = new Follower(caller, organization, {}, position, clock.now())
    const received: string[] = []
    void (async () => {
      for await (const item of feed.follow(follower)) if ("event" in item) received.push(item.event.kind)
    })()
    return received
  }
  return { feed, follow }
}

test("a follower does not receive an event again when the end of the readable events moves back", async () => {
  const newEvent = (number: number, kind: StoredEvent["kind"]): StoredEvent => ({
    ...tagEvent,
    position: { transaction: 1, number },
    kind,
  })
  const known = newEvent(1, "tag.created")
  let readable: readonly StoredEvent[] = []
  let looks = 0
  const { feed, follow } = feedOver({
    after: async (_id, position) => readable.filter((event) => isBefore(position, event.position)),
    async end() {
      looks += 1
      return readable.at(-1)?.position ?? beginning
    },
  })
  // An open transaction of another database hides the event that the client has.
  const received = follow(known.position)
  await expect.poll(() => looks).toBe(2)
  readable = [known, newEvent(2, "tag.deleted")]
  feed.wake(new Set(["org-1" as OrganizationId]))
  await expect.poll(() => received).toEqual(["tag.deleted"])
})

test("concurrent commits delay no event", async () => {
  const metrics = recordedMetrics()
  await using testEngine = await openTestEngine({ metrics })
  const { engine } = testEngine
  await engine.organizations.create({ name: "acme", email: "ops@example.com" })
  const { id } = await engine.workspaces.create("acme", { name: "busy" })
  const ending = new AbortController()
  const received: string[] = []
  const following = (async () => {
    for await (const { kind } of await engine.events.follow("acme", {}, { signal: ending.signal })) received.push(kind)
  })()
  await expect.poll(() => metrics.value("chancery_event_followers")).toBe(1)
  let changes = 0
  for (; received.length === 0 && changes < maxChanges; changes += 1)
    await engine.workspaces.update({ id }, { description: String(changes) })
  expect(changes).toBeLessThan(maxChanges)
  ending.abort()
  await following
})

test("a follower that joins during a read receives the events of that read", async () => {
  const id = "org-1" as OrganizationId
  const stored: StoredEvent[] = []
  /** Promises that successive calls of `end` await, after they have read the position. */
  const gates: Promise<void>[] = []
  let looks = 0
  const events = {
    after: async (_id: OrganizationId, position: EventPosition) =>
      stored.filter((event) => isBefore(position, event.position)),
    async end() {
      const end = stored.at(-1)?.position ?? beginning
      looks += 1
      await gates.shift()
      return end
    },
  }
  const { feed, follow } = feedOver(events)
  const first = follow()
  // One query by the follower itself, and one by the reader that it starts.
  await expect.poll(() => looks).toBe(2)

  const [own, reader] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  gates.push(own.promise, reader.promise)
  const second = follow()
  await expect.poll(() => looks).toBe(3)
  stored.push(tagEvent)
  feed.wake(new Set([id]))
  await expect.poll(() => looks).toBe(4)
  own.resolve()
  await new Promise((resolve) => void setImmediate(resolve))
  reader.resolve()
  await expect.poll(() => [first, second]).toEqual([["tag.created"], ["tag.created"]])
})
