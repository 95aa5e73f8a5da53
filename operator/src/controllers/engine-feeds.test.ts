// Event feeds of a real server over HTTP.
import { type Engine, type EventKind, openEngine } from "@chancery/engine"
import { expect, onTestFinished, test } from "vitest"
import { startServer } from "../../../engine/src/server/server.ts"
import { recordedMetrics } from "../../../engine/testing/recorded-metrics.ts"
import { openTestEngine } from "../../../engine/testing/test-engine.ts"
import { EngineFeeds } from "./engine-feeds.ts"
import { systemRuntime } from "../runtime.ts"

const silent = { debug() {}, info() {}, warn() {}, error() {} }

async function setting(more: { readonly events?: { readonly on: boolean } } = {}) {
  const metrics = recordedMetrics()
  const world = await openTestEngine({ ...more, metrics })
  await world.engine.organizations.create({ name: "acme", email: "ops@example.com" })
  const server = await startServer({ engine: world.engine })
  let asked = 0
  const engine: Engine = await openEngine(server.url, {
    token: world.rootToken,
    nameRequest: () => `operator-one-${(asked += 1)}`,
    attempts: 1,
  })
  const changed: string[] = []
  const minded = new Set<string>()
  const ended: unknown[] = []
  const log = { ...silent, info: (_event: string, facts: unknown) => void ended.push(facts) }
  let stopwatch = 0
  const feeds = new EngineFeeds({
    runtime: { ...systemRuntime(log), stopwatch: () => stopwatch },
    ownRequests: "operator-one-",
    changed(id) {
      changed.push(id)
      return minded.has(id)
    },
  })
  onTestFinished(async () => {
    feeds.stop()
    await engine[Symbol.asyncDispose]()
    await server.close()
    await world[Symbol.asyncDispose]()
  })
  return {
    world,
    engine,
    feeds,
    changed,
    minded,
    /** Log entries of feeds that were refused or have ended. */
    ended,
    asked: () => asked,
    pass: (ms: number) => void (stopwatch += ms),
    need: () => feeds.need({ engine, url: server.url }, "acme"),
    following: () => metrics.value("chancery_event_followers"),
  }
}

const sorted = (kinds: ReadonlySet<EventKind>) => [...kinds].toSorted()

test("a feed reports changes of other clients once, and not those of the operator", async () => {
  const { world, engine, feeds, changed, minded, need, following } = await setting()
  const { id } = await engine.workspaces.create("acme", { name: "web" })
  minded.add(id)
  need()
  need()
  await expect.poll(following).toBe(1)
  await engine.workspaces.lock({ id }, { reason: "mine" })
  await engine.workspaces.unlock({ id })
  await engine.tags.bind(id, [{ key: "mine", value: "x" }])
  const theirs = world.engine
  await theirs.tags.bind(id, [{ key: "env", value: "prod" }])
  await theirs.workspaces.update({ id }, { description: "theirs" })
  await theirs.variables.create(
    { id },
    { key: "A", value: "1", category: "env", description: "", hcl: false, sensitive: false },
  )
  await expect.poll(() => changed.length).toBe(3)
  expect(new Set(changed)).toEqual(new Set([id]))
  expect(sorted(feeds.taken(id))).toEqual(["tag-bindings.updated", "variable.created", "workspace.updated"])
  expect(sorted(feeds.taken(id))).toEqual([])
})

test("a feed stores nothing about workspaces without an object", async () => {
  const { world, feeds, changed, need, following } = await setting()
  need()
  await expect.poll(following).toBe(1)
  const { id } = await world.engine.workspaces.create("acme", { name: "theirs" })
  await expect.poll(() => changed).toEqual([id])
  expect(sorted(feeds.taken(id))).toEqual([])
})

test("[F-T1] a rejected feed is requested again after a pause", async () => {
  const { need, asked, pass, ended } = await setting({ events: { on: false } })
  need()
  await expect.poll(() => ended).toHaveLength(1)
  expect(asked()).toBe(1)
  need()
  need()
  expect(asked()).toBe(1)
  pass(300_000)
  need()
  await expect.poll(() => ended).toHaveLength(2)
  expect(asked()).toBe(2)
})

test("[F-T1] an engine of this process has no feed, and no feed is opened after the end", async () => {
  const followed: string[] = []
  // Records the call at once, not when the feed is read.
  const engine = {
    events: {
      async follow(organization: string) {
        followed.push(organization)
        return (async function* () {})()
      },
    },
  } as unknown as Engine
  const feeds = new EngineFeeds({ runtime: systemRuntime(silent), ownRequests: "", changed: () => true })
  feeds.need({ engine }, "embedded")
  feeds.need({ engine, url: "https://engine.example" }, "acme")
  expect(followed).toEqual(["acme"])
  feeds.stop()
  feeds.need({ engine, url: "https://engine.example" }, "other")
  expect(followed).toEqual(["acme"])
})
