import { setImmediate as turn } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { manualClock } from "../../../engine/testing/manual-clock.ts"
import { manualTimers } from "../../../engine/testing/manual-timers.ts"
import type { WatchEvent } from "./api-client.ts"
import { ApiError } from "./cluster.ts"
import type { KubernetesObject } from "./kubernetes-object.ts"
import { ObjectStore } from "./object-store.ts"
import { Reflector, type WatchedApi } from "./reflector.ts"

const resource = { group: "chancery.dev", version: "v1alpha1", plural: "things", kind: "Thing" }
const silent = { debug() {}, info() {}, warn() {}, error() {} }

const thing = (name: string, resourceVersion: string): KubernetesObject => ({ metadata: { name, resourceVersion } })
const bookmark = (resourceVersion: string, annotations = {}): WatchEvent => ({
  type: "BOOKMARK",
  object: { metadata: { name: "", resourceVersion, annotations } },
})
const endOfList = (resourceVersion: string) => bookmark(resourceVersion, { "k8s.io/initial-events-end": "true" })
const added = (name: string, version: string): WatchEvent => ({ type: "ADDED", object: thing(name, version) })
const modified = (name: string, version: string): WatchEvent => ({ type: "MODIFIED", object: thing(name, version) })
const deleted = (name: string, version: string): WatchEvent => ({ type: "DELETED", object: thing(name, version) })
const gone: WatchEvent = {
  type: "ERROR",
  object: { code: 410, reason: "Expired", message: "too old" } as unknown as KubernetesObject,
}

/** Content of one watch: events, then an end, an error, or silence. */
type Script = readonly (WatchEvent | Error | "hangs")[]

interface Page {
  readonly items: readonly KubernetesObject[]
  readonly resourceVersion: string
  readonly next: string
}

function open({ watches, pages = [] }: { watches: readonly Script[]; pages?: readonly (Page | Error)[] }) {
  const clock = manualClock()
  const timers = manualTimers(clock)
  const asked: Record<string, string>[] = []
  const scripts = [...watches]
  const lists = [...pages]
  const api: WatchedApi = {
    async list(_resource, _namespace, query) {
      asked.push({ ...query })
      const page = lists.shift()
      if (page === undefined) throw new Error("no more pages")
      if (page instanceof Error) throw page
      return page
    },
    async *watch(_resource, _namespace, query, signal) {
      asked.push({ ...query })
      for (const each of scripts.shift() ?? (["hangs"] as const)) {
        if (each instanceof Error) throw each
        if (each !== "hangs") yield each
        else
          await new Promise((_, reject) =>
            signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true }),
          )
      }
    },
  }
  const store = new ObjectStore()
  const told: string[] = []
  const reflector = new Reflector({
    api,
    resource,
    store,
    runtime: { log: silent, random: () => 0.5, timers },
    changed: (key, how, previous) => {
      const now = store.get(key)?.metadata.resourceVersion ?? "gone"
      told.push(`${key} ${how} ${previous?.metadata.resourceVersion ?? "new"}→${now}`)
    },
  })
  const ending = new AbortController()
  const running = reflector.run(ending.signal)
  const settled = async () => {
    for (let index = 0; index < 6; index += 1) await turn()
  }
  return {
    reflector,
    store,
    told,
    asked,
    async pass(milliseconds: number) {
      await settled()
      await timers.advance(milliseconds, settled)
      await settled()
    },
    async [Symbol.asyncDispose]() {
      ending.abort()
      await running
      expect(timers.pendingCount).toBe(0)
    },
  }
}

describe("a reflector", () => {
  test("reads a complete streamed list, then each change, with the query parameters that the server requires", async () => {
    await using it = open({
      watches: [
        [
          added("a", "1"),
          added("b", "2"),
          endOfList("5"),
          modified("a", "6"),
          deleted("b", "7"),
          added("c", "8"),
          "hangs",
        ],
      ],
    })
    await it.pass(0)
    expect(it.told).toEqual(["a found new→1", "b found new→2", "a changed 1→6", "b changed 2→gone", "c changed new→8"])
    expect(it.asked).toMatchObject([
      { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: "true" },
    ])
  })

  test("is not synced before the list is complete", async () => {
    await using it = open({ watches: [[added("a", "1"), "hangs"]] })
    await it.pass(0)
    expect(it.reflector.hasSynced).toBe(false)
    expect(it.store.size).toBe(0)
  })

  test("resumes an ended watch from the last resource version, also one of a bookmark", async () => {
    await using it = open({
      watches: [
        [added("a", "1"), endOfList("5"), bookmark("9")],
        [modified("a", "12"), "hangs"],
      ],
    })
    await it.pass(2_000)
    expect(it.asked[1]).toMatchObject({ resourceVersion: "9" })
    expect(it.asked[1]).not.toHaveProperty("sendInitialEvents")
    expect(it.told.at(-1)).toBe("a changed 1→12")
  })

  test.each([
    { how: "as an event", end: gone },
    { how: "as a status", end: new ApiError(410, "Expired", "too old") },
  ])("lists again when its version expired ($how), and reports only differences", async ({ end }) => {
    await using it = open({
      watches: [
        [added("a", "1"), added("b", "2"), added("c", "3"), endOfList("5"), end],
        [added("a", "1"), added("b", "20"), added("d", "21"), endOfList("30"), "hangs"],
      ],
    })
    await it.pass(2_000)
    expect(it.told.slice(3)).toEqual(["c changed 3→gone", "b changed 2→20", "d changed new→21"])
  })

  test("retries every failure with a growing backoff", async () => {
    const failures = Array.from({ length: 12 }, () => [new Error("connection refused")])
    await using it = open({ watches: [...failures, [added("a", "1"), endOfList("5"), "hangs"]] })
    await it.pass(10_000)
    expect(it.asked.length).toBeLessThan(6)
    // Every second attempt lists pages instead, which this server refuses too.
    await it.pass(600_000)
    expect(it.store.size).toBe(1)
  })

  test.each([
    {
      why: "the server does not know them",
      watch: [new ApiError(422, "Invalid", "sendInitialEvents is forbidden")],
      afterMs: 1_000,
    },
    {
      why: "[F-K11] etcd refuses them: etcd 3.5.1 answers 200, and an ERROR event of code 500",
      watch: [
        {
          type: "ERROR",
          object: {
            kind: "Status",
            apiVersion: "v1",
            metadata: {},
            status: "Failure",
            message: "etcdserver: mvcc: required revision is a future revision",
            code: 500,
          } as unknown as KubernetesObject,
        },
      ] as Script,
      afterMs: 1_000,
    },
    {
      why: "[F-K11] the connection breaks",
      watch: [added("a", "1"), new Error("ECONNRESET")] as Script,
      afterMs: 1_000,
    },
    { why: "[F-K11] the stream ends before the list does", watch: [added("a", "1")] as Script, afterMs: 1_000 },
    { why: "they never end (etcd before 3.4.31)", watch: [added("a", "1"), "hangs"] as Script, afterMs: 61_000 },
  ])("lists pages instead of a stream if $why", async ({ watch, afterMs }) => {
    await using it = open({
      watches: [watch, [modified("b", "9"), "hangs"]],
      pages: [
        { items: [thing("a", "1")], resourceVersion: "8", next: "more" },
        { items: [thing("b", "2")], resourceVersion: "8", next: "" },
      ],
    })
    await it.pass(afterMs)
    expect(it.told).toEqual(["a found new→1", "b found new→2", "b changed 2→9"])
    expect(it.asked.slice(1)).toMatchObject([
      { limit: "500" },
      { limit: "500", continue: "more" },
      { resourceVersion: "8" },
    ])
  })

  test("restarts the paged list when the continue token expires", async () => {
    await using it = open({
      watches: [[new ApiError(400, "BadRequest", "no streams")], ["hangs"]],
      pages: [
        { items: [thing("a", "1")], resourceVersion: "8", next: "more" },
        new ApiError(410, "Expired", "the continue token is too old"),
        { items: [thing("b", "9")], resourceVersion: "10", next: "" },
      ],
    })
    await it.pass(5_000)
    expect(it.told).toEqual(["b found new→9"])
  })
})
