import { assert, asyncProperty, array, integer, record } from "fast-check"
import { setImmediate as turn } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { manualClock } from "../../../engine/testing/manual-clock.ts"
import { manualTimers } from "../../../engine/testing/manual-timers.ts"
import { ApiError } from "./cluster.ts"
import { Election } from "./election.ts"
import type { KubernetesObject } from "./kubernetes-object.ts"

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** One lease on an API server that can be unreachable, for all clients or for one. */
function openServer() {
  let lease: KubernetesObject | undefined
  let version = 0
  const away = new Set<string>()
  const keep = (object: KubernetesObject) => {
    version += 1
    lease = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } }
    return lease
  }
  const reach = (who: string) => {
    if (away.has(who)) throw new Error("connection refused")
  }
  return {
    away,
    holder: () => (lease?.["spec"] as { holderIdentity?: string } | undefined)?.holderIdentity,
    apiFor: (who: string) => ({
      async get() {
        reach(who)
        if (lease === undefined) throw new ApiError(404, "NotFound", "no lease")
        return lease
      },
      async create(_: unknown, object: KubernetesObject) {
        reach(who)
        if (lease !== undefined) throw new ApiError(409, "AlreadyExists", "there is one")
        return keep(object)
      },
      async replace(_: unknown, __: string, object: KubernetesObject) {
        reach(who)
        if (lease?.metadata.resourceVersion !== object.metadata.resourceVersion)
          throw new ApiError(409, "Conflict", "it was changed")
        return keep(object)
      },
    }),
  }
}

function openPlace() {
  const clock = manualClock()
  const timers = manualTimers(clock)
  const server = openServer()
  const leading = new Set<string>()
  let mostAtOnce = 0
  const start = (identity: string) => {
    const ending = new AbortController()
    // Each replica's clock is wrong by years. Only durations are the same for all.
    const wrong = { now: () => clock.now() + identity.length * 1e11 }
    const runtime = { clock: wrong, log: silent, timers, stopwatch: () => clock.now(), random: () => 0.5 }
    const election = new Election({ api: server.apiFor(identity), runtime, lease: "here/operator", identity })
    const outcome = election.lead(ending.signal, async (signal) => {
      leading.add(identity)
      mostAtOnce = Math.max(mostAtOnce, leading.size)
      await new Promise((resolve) => signal.addEventListener("abort", resolve))
      leading.delete(identity)
    })
    return { election, outcome, end: () => ending.abort() }
  }
  const settled = async () => {
    for (let index = 0; index < 4; index += 1) await turn()
  }
  const pass = async (milliseconds: number) => {
    await settled()
    await timers.advance(milliseconds, settled)
    await settled()
  }
  return { server, leading, start, pass, mostAtOnce: () => mostAtOnce }
}

describe("an election", () => {
  test("has one leader, which leads while it can renew the lease", async () => {
    const { leading, start, pass, mostAtOnce } = openPlace()
    const replicas = [start("a"), start("bb"), start("ccc")]
    await pass(120_000)
    expect(leading.size).toBe(1)
    expect(mostAtOnce()).toBe(1)
    expect(replicas.map(({ election }) => election.leading).filter(Boolean)).toHaveLength(1)
    for (const { end } of replicas) end()
    await pass(5_000)
    expect(await Promise.all(replicas.map(({ outcome }) => outcome))).toEqual(["ended", "ended", "ended"])
  })

  test("has another leader immediately after one stops, and after the lease duration if one dies", async () => {
    const { leading, start, pass, server } = openPlace()
    const first = start("a")
    await pass(0)
    const second = start("bb")
    await pass(5_000)
    expect([...leading]).toEqual(["a"])
    first.end()
    await first.outcome
    await pass(3_000)
    expect([...leading]).toEqual(["bb"])
    expect(second.election.renewalAgeMs).toBeLessThan(3_000)

    // As after kill -9: the lease exists, but is not renewed.
    server.away.add("bb")
    start("ccc")
    await pass(14_000)
    expect(server.holder()).toBe("bb")
    await pass(6_000)
    expect(server.holder()).toBe("ccc")
  })

  test("is lost by a leader that cannot renew before another one can win it", async () => {
    const { leading, start, pass, server } = openPlace()
    const first = start("a")
    await pass(1_000)
    server.away.add("a")
    await pass(12_000)
    expect(leading.size).toBe(0)
    expect(await first.outcome).toBe("lost")
    expect(server.holder()).toBe("a")
  })

  test("never has two leaders for any partitions", async () => {
    const cut = record({
      who: integer({ min: 0, max: 2 }),
      afterMs: integer({ min: 0, max: 20_000 }),
      back: integer({ min: 0, max: 1 }),
    })
    await assert(
      asyncProperty(array(cut, { maxLength: 12 }), async (cuts) => {
        const { server, start, pass, mostAtOnce } = openPlace()
        const names = ["a", "bb", "ccc"]
        const replicas = names.map(start)
        for (const { who, afterMs, back } of cuts) {
          await pass(afterMs)
          if (back === 1) server.away.delete(names[who]!)
          else server.away.add(names[who]!)
        }
        await pass(20_000)
        expect(mostAtOnce()).toBeLessThanOrEqual(1)
        server.away.clear()
        for (const { end } of replicas) end()
        await pass(10_000)
        await Promise.all(replicas.map(({ outcome }) => outcome))
      }),
      { numRuns: 25 },
    )
  })

  test("throws if a leader could lead longer than its lease", () => {
    const runtime = {
      clock: manualClock(),
      log: silent,
      timers: manualTimers(manualClock()),
      stopwatch: () => 0,
      random: () => 0,
    }
    const api = openServer().apiFor("a")
    const options = { api, runtime, lease: "here/operator", identity: "a", durationMs: 10_000, renewDeadlineMs: 10_000 }
    expect(() => new Election(options)).toThrow("the duration of the lease must be longer")
  })
})
