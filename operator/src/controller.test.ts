import { setImmediate as turn } from "node:timers/promises"
import { expect, test } from "vitest"
import { manualClock } from "../../engine/src/testing/manual-clock.ts"
import { manualTimers } from "../../engine/src/testing/manual-timers.ts"
import type { StoredCondition } from "./conditions.ts"
import { Controller, type Outcome } from "./controller.ts"
import type { Happening } from "./event-recorder.ts"
import type { KubernetesObject, ObjectMetadata } from "./kubernetes-object.ts"
import { createMetrics } from "./metrics.ts"
import { ObjectStore } from "./object-store.ts"
import type { Shard } from "./shard.ts"

const resource = { group: "chancery.dev", version: "v1alpha1", plural: "things", kind: "Thing" }
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const ready: Outcome = { health: { is: "ready", reason: "Fine", message: "It is fine." }, againAfterMs: 600_000 }
const failing: Outcome = { health: { is: "reconciling", reason: "Away", message: "It is away." } }

interface Status {
  readonly conditions: readonly StoredCondition[]
}

function open({ shard, mirror = true }: { readonly shard?: Shard; readonly mirror?: boolean } = {}) {
  const clock = manualClock()
  const timers = manualTimers(clock)
  const store = new ObjectStore()
  const writes: Status[] = []
  const looks: string[] = []
  const happenings: Happening[] = []
  let version = 100
  let answer: (object: KubernetesObject) => Promise<Outcome> = async () => ready
  const metrics = createMetrics({ name: "", leading: () => true })
  const put = (object: KubernetesObject, how: "found" | "changed" = "changed") =>
    controller.changed(object.metadata.name, how, store.set(object))
  const controller = new Controller({
    api: {
      async applyStatus(_resource, object, status) {
        writes.push(status as Status)
        version += 1
        const written = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) }, status }
        if (mirror) put(written)
        return written
      },
    },
    runtime: { clock, log: silent, timers, stopwatch: () => clock.now(), random: () => 0.5 },
    resource,
    store,
    async reconcile(object) {
      looks.push(object.metadata.name)
      return answer(object)
    },
    recorder: { record: async (_object, happening) => void happenings.push(happening) },
    metrics,
    ...(shard === undefined ? {} : { shard }),
  })
  const ending = new AbortController()
  const losing = new AbortController()
  const running = controller.run(AbortSignal.any([ending.signal, losing.signal]), ending.signal)
  const settled = async () => {
    for (let index = 0; index < 6; index += 1) await turn()
  }
  const object = (metadata: Partial<ObjectMetadata> = {}): KubernetesObject => ({
    metadata: { name: "one", uid: "u1", generation: 1, resourceVersion: "1", ...metadata },
  })
  return {
    controller,
    store,
    writes,
    looks,
    happenings,
    metrics,
    object,
    put,
    answerWith: (next: typeof answer) => (answer = next),
    async pass(milliseconds: number) {
      await settled()
      await timers.advance(milliseconds, settled)
      await settled()
    },
    async end() {
      ending.abort()
      await running
    },
    async lose() {
      losing.abort()
      await running
    },
  }
}

test("what is found is written once, told once, and looked at again without another write", async () => {
  const it = open()
  it.put(it.object(), "found")
  await it.pass(0)
  expect(it.writes).toMatchObject([{ observedGeneration: 1, conditions: [{ type: "Ready", status: "True" }] }])
  expect(it.happenings).toEqual([{ type: "Normal", reason: "Fine", note: "It is fine." }])
  await it.pass(3 * 600_000 + 1)
  expect(it.looks).toHaveLength(4)
  expect(it.writes).toHaveLength(1)
  expect(it.happenings).toHaveLength(1)
  await it.end()
})

test("its own writes are nothing to look at; a new generation, an annotation and a deletion are", async () => {
  const it = open()
  it.put(it.object())
  await it.pass(0)
  const seen = () => it.store.get("one")!
  const change = async (metadata: Partial<ObjectMetadata>) => {
    it.put({ ...seen(), metadata: { ...seen().metadata, ...metadata } })
    await it.pass(0)
    return it.looks.length
  }
  expect(it.looks).toHaveLength(1)
  expect(await change({ labels: { colour: "red" } })).toBe(1)
  expect(await change({ generation: 2 })).toBe(2)
  expect(it.writes.at(-1)).toMatchObject({ observedGeneration: 2 })
  expect(await change({ annotations: { "chancery.dev/reconcile-requested-at": "now" } })).toBe(3)
  expect(it.writes.at(-1)).toMatchObject({ lastHandledReconcileAt: "now" })
  expect(await change({ deletionTimestamp: "2026-01-01T00:00:00Z" })).toBe(4)
  await it.end()
})

test("failures wait longer each time, until a change is looked at at once", async () => {
  const it = open()
  it.answerWith(async () => failing)
  it.put(it.object())
  await it.pass(0)
  expect(it.writes).toMatchObject([{ conditions: [{ type: "Ready", status: "False" }, { type: "Reconciling" }] }])
  expect(it.happenings).toMatchObject([{ type: "Warning", reason: "Away" }])
  await it.pass(10_000)
  expect(it.looks).toHaveLength(4)
  expect(it.writes).toHaveLength(1)
  it.answerWith(async () => ready)
  it.controller.touch("one")
  await it.pass(0)
  expect(it.writes.at(-1)).toMatchObject({ conditions: [{ type: "Ready", status: "True" }] })
  await it.end()
})

test("an exception is a failure like others: it is repeated, and says nothing to the user that it should not", async () => {
  const it = open()
  let left = 2
  it.answerWith(async () => {
    if (left === 0) return ready
    left -= 1
    throw new Error("a token: s.ecret")
  })
  it.put(it.object())
  await it.pass(5_000)
  expect(it.looks).toHaveLength(3)
  expect(JSON.stringify(it.writes)).not.toContain("s.ecret")
  const { text } = await it.metrics.expose()
  expect(text).toContain('controller_runtime_reconcile_errors_total{controller="things"} 2')
  expect(text).toContain('workqueue_retries_total{name="things"} 2')
  await it.end()
})

test("an object is not looked at before the watch has shown what was written to it", async () => {
  const it = open({ mirror: false })
  it.put(it.object())
  await it.pass(0)
  it.controller.touch("one")
  await it.pass(1_000)
  expect(it.looks).toHaveLength(1)
  const before = it.store.get("one")!
  it.put({ ...before, metadata: { ...before.metadata, resourceVersion: "101" }, status: it.writes[0] })
  await it.pass(0)
  expect(it.looks).toHaveLength(2)
  expect(it.writes).toHaveLength(1)
  await it.end()
})

test("a paused object is not looked at and says so, and stays as ready as it was", async () => {
  const it = open()
  it.put(it.object())
  await it.pass(0)
  const annotations = { "chancery.dev/paused": "true" }
  const before = it.store.get("one")!
  it.put({ ...before, metadata: { ...before.metadata, annotations } })
  await it.pass(0)
  expect(it.looks).toHaveLength(1)
  const shown = () => it.writes.at(-1)?.conditions.map(({ type, status }) => `${type}=${status}`)
  expect(shown()).toEqual(["Ready=True", "Paused=True"])
  const paused = it.store.get("one")!
  it.put({ ...paused, metadata: { ...paused.metadata, annotations: {} } })
  await it.pass(0)
  expect(it.looks).toHaveLength(2)
  expect(shown()).toEqual(["Ready=True"])
  await it.end()
})

test("objects of another shard are another leader's", async () => {
  const it = open({ shard: { index: 0, count: 2 } })
  for (let number = 0; number < 20; number += 1) it.put(it.object({ name: `n${number}`, uid: `u${number}` }))
  await it.pass(0)
  const other = open({ shard: { index: 1, count: 2 } })
  for (let number = 0; number < 20; number += 1) other.put(other.object({ name: `n${number}`, uid: `u${number}` }))
  await other.pass(0)
  expect(it.looks.length).toBeGreaterThan(0)
  expect(other.looks.length).toBeGreaterThan(0)
  expect(new Set([...it.looks, ...other.looks]).size).toBe(20)
  expect(it.looks.length + other.looks.length).toBe(20)
  await Promise.all([it.end(), other.end()])
})

test("whoever ends finishes what was begun, and begins nothing", async () => {
  const it = open()
  const begun = Promise.withResolvers<Outcome>()
  it.answerWith(() => begun.promise)
  it.put(it.object())
  await it.pass(0)
  const ended = it.end()
  it.put(it.object({ name: "two", uid: "u2" }))
  begun.resolve(ready)
  await ended
  expect(it.looks).toEqual(["one"])
  expect(it.writes).toHaveLength(1)
})

test("whoever leads no more writes nothing more, not even what it has just found", async () => {
  const it = open()
  const begun = Promise.withResolvers<Outcome>()
  it.answerWith(() => begun.promise)
  it.put(it.object())
  await it.pass(0)
  const lost = it.lose()
  begun.resolve(ready)
  await lost
  expect(it.looks).toEqual(["one"])
  expect(it.writes).toEqual([])
})
