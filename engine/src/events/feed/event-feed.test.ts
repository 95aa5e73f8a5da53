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
  const follow = () => {
    const caller = { kind: "user", userId: "user-1", siteAdmin: true } as never
    const filter = {}
    const follower = new Follower(caller, { id, name: "acme" }, filter, beginning, clock.now())
    const heard: string[] = []
    void (async () => {
      for await (const item of feed.follow(follower)) if ("event" in item) heard.push(item.event.kind)
    })()
    return heard
  }
  const first = follow()
  // One query by the follower itself, and one by the reader that it starts.
  await expect.poll(() => looks).toBe(2)

  const [own, reader] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  gates.push(own.promise, reader.promise)
  const second = follow()
  await expect.poll(() => looks).toBe(3)
  stored.push({
    position: { transaction: 1, number: 1 },
    kind: "tag.created",
    at: clock.now(),
    organizationId: id,
    workspace: null,
    changed: [],
    subject: null,
    origin: ownOrigin,
    tags: [],
    formerTags: [],
    readers: null,
  })
  feed.wake(new Set([id]))
  await expect.poll(() => looks).toBe(4)
  own.resolve()
  await new Promise((resolve) => void setImmediate(resolve))
  reader.resolve()
  await expect.poll(() => [first, second]).toEqual([["tag.created"], ["tag.created"]])
})
