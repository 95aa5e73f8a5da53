import { setImmediate as turn } from "node:timers/promises"
import { expect, test } from "vitest"
import { manualClock } from "../../../engine/testing/manual-clock.ts"
import { manualTimers } from "../../../engine/testing/manual-timers.ts"
import type { StoredCondition } from "./conditions.ts"
import { ApiError } from "../kube/cluster.ts"
import { Controller } from "./controller.ts"
import type { EventToRecord } from "../kube/event-recorder.ts"
import type { KubernetesObject, ObjectMetadata } from "../kube/kubernetes-object.ts"
import { createMetrics } from "../metrics.ts"
import { ObjectStore } from "../kube/object-store.ts"
import { type ReconcileResult, RequeueAfter, stalled, waiting } from "./reconcile-result.ts"
import type { Reconciler, ReconcileRequest } from "./reconciler.ts"
import type { Shard } from "./shard.ts"

const resource = { group: "chancery.dev", version: "v1alpha1", plural: "things", kind: "Thing" }
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const ready: ReconcileResult = {
  health: { is: "ready", reason: "Connected", message: "It is fine." },
  againAfterMs: 600_000,
}
const failing: ReconcileResult = { health: { is: "reconciling", reason: "EngineUnavailable", message: "It is away." } }

interface Status {
  readonly observedGeneration: number
  readonly conditions: readonly StoredCondition[]
  readonly nextAttemptTime?: string
  readonly colour?: string
}

interface Setting {
  readonly shard?: Shard
  readonly mirror?: boolean
  readonly finalizes?: boolean
  readonly compareAll?: boolean
}

function open({ shard, mirror = true, finalizes = false, compareAll = false }: Setting = {}) {
  const clock = manualClock()
  const timers = manualTimers(clock)
  const store = new ObjectStore()
  const writes: Status[] = []
  const looks: string[] = []
  const happenings: EventToRecord[] = []
  const held: string[] = []
  let version = 100
  let finalizersRejection: ApiError | undefined
  let answer: (object: KubernetesObject, request: ReconcileRequest) => Promise<ReconcileResult> = async () => ready
  let goodbye: (object: KubernetesObject) => Promise<ReconcileResult | undefined> = async () => undefined
  const reconciler: Reconciler = {
    async reconcile(object, request) {
      looks.push(object.metadata.name)
      return answer(object, request)
    },
    ...(finalizes
      ? {
          finalizer: { name: "chancery.dev/test", needed: ({ metadata }) => metadata.labels?.["keep"] !== "true" },
          finalize: (object) => goodbye(object),
        }
      : {}),
  }
  const metrics = createMetrics({ name: "", leading: () => true })
  const put = (object: KubernetesObject, how: "found" | "changed" = "changed") =>
    controller.changed(object.metadata.name, how, store.set(object))
  const wrote = (object: KubernetesObject) => {
    version += 1
    const written = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } }
    if (mirror) put(written)
    return written
  }
  const controller: Controller = new Controller({
    compareAll,
    cluster: {
      async applyStatus(_resource, object, status, _manager, { resourceVersion } = {}) {
        const { metadata } = store.get(object.metadata.name) ?? object
        if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
          throw new ApiError(409, "Conflict", "it was changed")
        writes.push(status as Status)
        return wrote({ ...object, status })
      },
      async setFinalizers(_resource, object, finalizers) {
        if (finalizersRejection !== undefined) throw finalizersRejection
        held.push(finalizers.join())
        return wrote({ ...object, metadata: { ...object.metadata, finalizers } })
      },
    },
    runtime: { clock, log: silent, timers, stopwatch: () => clock.now(), random: () => 0.5 },
    resource,
    store,
    reconciler,
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
    held,
    looks,
    happenings,
    metrics,
    object,
    put,
    rejectFinalizers: (rejection: ApiError | undefined) => void (finalizersRejection = rejection),
    answerWith: (next: typeof answer) => (answer = next),
    partWith: (next: typeof goodbye) => (goodbye = next),
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

test("the controller writes and records a result once, and reconciles again without a write", async () => {
  const it = open()
  it.put(it.object(), "found")
  await it.pass(0)
  expect(it.writes).toMatchObject([{ observedGeneration: 1, conditions: [{ type: "Ready", status: "True" }] }])
  expect(it.happenings).toEqual([{ type: "Normal", reason: "Connected", note: "It is fine." }])
  await it.pass(3 * 600_000 + 1)
  expect(it.looks).toHaveLength(4)
  expect(it.writes).toHaveLength(1)
  expect(it.happenings).toHaveLength(1)
  await it.end()
})

test("a new generation or annotation triggers a reconciliation; the controller's own writes and a pending deletion do not", async () => {
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
  expect(await change({ deletionTimestamp: "2026-01-01T00:00:00Z" })).toBe(3)
  await it.end()
})

test("failures are retried with growing delays, and changes are reconciled immediately", async () => {
  const it = open()
  it.answerWith(async () => failing)
  it.put(it.object())
  await it.pass(0)
  expect(it.writes).toMatchObject([{ conditions: [{ type: "Ready", status: "False" }, { type: "Reconciling" }] }])
  expect(it.happenings).toMatchObject([{ type: "Warning", reason: "EngineUnavailable" }])
  await it.pass(10_000)
  expect(it.looks).toHaveLength(4)
  expect(it.writes).toHaveLength(1)
  it.answerWith(async () => ready)
  it.controller.touch("one")
  await it.pass(0)
  expect(it.writes.at(-1)).toMatchObject({ conditions: [{ type: "Ready", status: "True" }] })
  await it.end()
})

test("an exception is retried, and its text is not shown to users", async () => {
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

test.each([
  [new TypeError("this is no function"), "controller_runtime_reconcile_panics_total"],
  [
    Object.assign(new Error("late"), { code: "UND_ERR_HEADERS_TIMEOUT" }),
    "controller_runtime_reconcile_timeouts_total",
  ],
])("%o is counted as %s, and as an error", async (error, counter) => {
  const it = open()
  let left = 1
  it.answerWith(async () => {
    if (left === 0) return ready
    left -= 1
    throw error
  })
  it.put(it.object())
  await it.pass(5_000)
  const { text } = await it.metrics.expose()
  const counted = (name: string) => text.includes(`${name}{controller="things"} 1`)
  const counters = ["panics", "timeouts", "errors"].map((what) => `controller_runtime_reconcile_${what}_total`)
  expect(counters.filter(counted)).toEqual(counters.filter((name) => name === counter || name.includes("errors")))
  await it.end()
})

test("an object is not reconciled before the watch shows the controller's own write", async () => {
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

test("a paused object is not reconciled, has the condition Paused and keeps its readiness", async () => {
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

test("an object edited while it is paused keeps the generation of its last reconciliation", async () => {
  const it = open()
  it.put(it.object())
  await it.pass(0)
  const annotations = { "chancery.dev/paused": "true" }
  const before = it.store.get("one")!
  it.put({ ...before, metadata: { ...before.metadata, generation: 2, annotations } })
  await it.pass(0)
  const { observedGeneration, conditions } = it.writes.at(-1)!
  expect(observedGeneration).toBe(1)
  expect(conditions.map((one) => `${one.type}=${one.status} ${one.observedGeneration}`)).toEqual([
    "Ready=True 1",
    "Paused=True 2",
  ])
  const paused = it.store.get("one")!
  it.put({ ...paused, metadata: { ...paused.metadata, annotations: {} } })
  await it.pass(0)
  expect(it.looks).toHaveLength(2)
  expect(it.writes.at(-1)?.observedGeneration).toBe(2)
  await it.end()
})

test("a new object that is paused has no observed generation", async () => {
  const it = open()
  it.put(it.object({ annotations: { "chancery.dev/paused": "true" } }))
  await it.pass(0)
  expect(it.looks).toHaveLength(0)
  const { observedGeneration, conditions } = it.writes.at(-1)!
  expect(observedGeneration).toBe(0)
  expect(conditions.map(({ type, status }) => `${type}=${status}`)).toEqual(["Ready=False", "Paused=True"])
  await it.end()
})

test("a stalled object stays stalled while it is paused", async () => {
  const it = open()
  it.answerWith(() => Promise.reject(stalled("TokenRefused", "The token is unknown.")))
  it.put(it.object())
  await it.pass(0)
  const before = it.store.get("one")!
  it.put({ ...before, metadata: { ...before.metadata, annotations: { "chancery.dev/paused": "true" } } })
  await it.pass(0)
  expect(it.writes.at(-1)?.conditions.map(({ type }) => type)).toEqual(["Ready", "Stalled", "Paused"])
  await it.end()
})

test("the controller ignores objects of other shards", async () => {
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

test("the controller finishes running reconciliations and starts none when it stops", async () => {
  const it = open()
  const begun = Promise.withResolvers<ReconcileResult>()
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

test("the controller writes nothing after it lost leadership, not even a finished result", async () => {
  const it = open()
  const begun = Promise.withResolvers<ReconcileResult>()
  it.answerWith(() => begun.promise)
  it.put(it.object())
  await it.pass(0)
  const lost = it.lose()
  begun.resolve(ready)
  await lost
  expect(it.looks).toEqual(["one"])
  expect(it.writes).toEqual([])
})

const conditions = (status: Status | undefined) => status?.conditions.map(({ type, status }) => `${type}=${status}`)

test("the finalizer is added before the first reconciliation, and removed after the cleanup", async () => {
  const it = open({ finalizes: true })
  let heldAtLook: readonly string[] | undefined
  it.answerWith(async (object) => {
    heldAtLook = object.metadata.finalizers
    return ready
  })
  it.put(it.object({ finalizers: ["others/own"] }))
  await it.pass(0)
  expect(heldAtLook).toEqual(["others/own", "chancery.dev/test"])

  const blocked = waiting("ConnectionInUse", "It is in use.").outcome
  it.partWith(async () => blocked)
  const deleted = () => {
    const seen = it.store.get("one")!
    it.put({ ...seen, metadata: { ...seen.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } })
  }
  deleted()
  await it.pass(0)
  expect(conditions(it.writes.at(-1))).toEqual(["Ready=False", "Reconciling=True"])
  it.partWith(async () => undefined)
  await it.pass(2_000)
  expect(it.held).toEqual(["others/own,chancery.dev/test", "others/own"])
  expect(it.looks).toHaveLength(1)
  await it.end()
})

test("an object that needs no cleanup has no finalizer, and loses one that it no longer needs", async () => {
  const it = open({ finalizes: true })
  it.put(it.object({ labels: { keep: "true" } }))
  await it.pass(0)
  expect(it.held).toEqual([])
  it.put(it.object({ finalizers: ["chancery.dev/test"], labels: { keep: "true" }, generation: 2 }))
  await it.pass(10_000)
  expect(it.held).toEqual([""])
  await it.end()
})

test("a paused object can be deleted", async () => {
  const it = open({ finalizes: true })
  const annotations = { "chancery.dev/paused": "true" }
  it.put(it.object({ annotations, finalizers: ["chancery.dev/test"], deletionTimestamp: "2026-01-01T00:00:00Z" }))
  await it.pass(0)
  expect(it.held).toEqual([""])
  expect(it.writes).toEqual([])
  await it.end()
})

test("a kind's conditions and status members stay until its next reconciliation", async () => {
  const it = open()
  const synced = {
    type: "Synced",
    status: "True",
    reason: "Connected",
    message: "The object matches the spec.",
  } as const
  it.answerWith(async () => ({ ...ready, conditions: [synced], status: { colour: "red" } }))
  it.put(it.object())
  await it.pass(0)
  expect(conditions(it.writes.at(-1))).toEqual(["Ready=True", "Synced=True"])
  it.answerWith(async () => {
    throw stalled("SecretMissing", "There is no Secret.")
  })
  const seen = it.store.get("one")!
  it.put({ ...seen, metadata: { ...seen.metadata, generation: 2 } })
  await it.pass(0)
  expect(conditions(it.writes.at(-1))).toEqual(["Ready=False", "Stalled=True", "Synced=True"])
  expect(it.writes.at(-1)).toMatchObject({ colour: "red" })
  const { text } = await it.metrics.expose()
  expect(text).toContain('controller_runtime_terminal_reconcile_errors_total{controller="things"} 1')
  const generations = it.writes.at(-1)?.conditions.map(({ observedGeneration }) => observedGeneration)
  expect(generations).toEqual([2, 2, 1])
  it.answerWith(async () => ({ ...ready, conditions: [], status: {} }))
  it.controller.touch("one")
  await it.pass(0)
  expect(conditions(it.writes.at(-1))).toEqual(["Ready=True"])
  expect(it.writes.at(-1)?.colour).toBeUndefined()
  await it.end()
})

test("saveStatus writes during a reconciliation, unless the object was changed", async () => {
  const it = open()
  it.answerWith(async (_object, request) => {
    await request.saveStatus({ colour: "planned" })
    expect(request.status).toEqual({ colour: "planned" })
    return { ...ready, status: { colour: "done" } }
  })
  it.put(it.object())
  await it.pass(0)
  expect(it.writes.map(({ colour }) => colour)).toEqual(["planned", "done"])

  let done = 0
  it.answerWith(async (object, request) => {
    if (object.metadata.generation === 2) it.put(it.object({ generation: 3, resourceVersion: "500" }))
    await request.saveStatus({ colour: "planned again" })
    done += 1
    return ready
  })
  it.put(it.object({ generation: 2, resourceVersion: "400" }))
  await it.pass(10_000)
  expect(done).toBe(1)
  expect(it.writes.filter(({ colour }) => colour === "planned again")).toHaveLength(2)
  await it.end()
})

test.each([{ compareAll: false }, { compareAll: true }])(
  "a quiet reconciliation is partial unless compareAll is $compareAll",
  async ({ compareAll }) => {
    const it = open({ compareAll })
    const seen: unknown[] = []
    it.answerWith(async (_object, { quiet, partial }) => {
      seen.push({ quiet, partial })
      return ready
    })
    it.put(it.object())
    await it.pass(700_000)
    expect(seen).toEqual([
      { quiet: false, partial: false },
      { quiet: true, partial: !compareAll },
    ])
    await it.end()
  },
)

test("a reconciliation is quiet if nothing changed since the last successful one", async () => {
  const it = open()
  const quiet: boolean[] = []
  const turns: number[] = []
  it.answerWith(async (_object, request) => {
    quiet.push(request.quiet)
    if (request.quiet) turns.push(request.turn)
    return ready
  })
  it.put(it.object())
  await it.pass(700_000)
  const seen = it.store.get("one")!
  const annotations = { "chancery.dev/reconcile-requested-at": "now" }
  it.put({ ...seen, metadata: { ...seen.metadata, annotations } })
  await it.pass(700_000)
  expect(quiet).toEqual([false, true, false, true])
  expect(turns).toEqual([0, 1])
  await it.end()
})

test("a retry in half a minute is shown in the status, and a scheduled one runs at its time", async () => {
  const it = open()
  it.answerWith(async () => failing)
  it.put(it.object())
  await it.pass(20_000)
  expect(it.writes.map(({ nextAttemptTime }) => nextAttemptTime)).toEqual([undefined])
  await it.pass(20_000)
  expect(it.writes.at(-1)?.nextAttemptTime).toMatch(/^\d{4}-.*Z$/)
  const looks = it.looks.length
  const nextAttemptAt = Date.parse("2030-01-01T00:00:00Z")
  it.answerWith(async (_object, { now }) => ({ ...ready, nextAttemptAt: Math.max(nextAttemptAt, now + 90_000) }))
  it.controller.touch("one")
  await it.pass(0)
  expect(it.looks).toHaveLength(looks + 1)
  expect(it.writes.at(-1)?.nextAttemptTime).toBe("2030-01-01T00:00:00Z")
  await it.end()
})

test("a reconciliation that hangs is aborted, writes nothing afterwards and is repeated", async () => {
  const it = open()
  const hanging: { signal?: AbortSignal; go?: () => void } = {}
  let answers = 0
  it.answerWith(async (_object, { signal, saveStatus }) => {
    if ((answers += 1) > 1) return ready
    hanging.signal = signal
    await new Promise<void>((resolve) => void (hanging.go = resolve))
    await saveStatus({ colour: "late" })
    return ready
  })
  it.put(it.object())
  await it.pass(299_000)
  expect([answers, hanging.signal?.aborted, it.writes.length]).toEqual([1, false, 0])
  await it.pass(5_000)
  expect([answers, hanging.signal?.aborted]).toEqual([2, true])
  hanging.go?.()
  await it.pass(1_000)
  expect(it.writes.map(({ colour }) => colour)).not.toContain("late")
  expect(it.writes.length).toBeGreaterThan(0)
  await it.end()
})

test("a requeued reconciliation is not a failure, and writes nothing", async () => {
  const it = open()
  it.answerWith(async () => {
    throw new RequeueAfter(3_000)
  })
  it.put(it.object())
  await it.pass(2_900)
  expect(it.looks).toHaveLength(1)
  await it.pass(7_000)
  expect(it.looks).toHaveLength(4)
  expect(it.writes).toEqual([])
  const { text } = await it.metrics.expose()
  expect(text).not.toContain("controller_runtime_reconcile_errors_total{")
  await it.end()
})

test.each([
  { why: "a look", finalizes: false },
  { why: "the finalizer", finalizes: true },
])(
  "[F-K1] a request of $why that the API server rejects is reported in the status and an event",
  async ({ finalizes }) => {
    const it = open({ finalizes })
    const rejected = new ApiError(403, "Forbidden", 'secrets "tls" is forbidden')
    if (finalizes) it.rejectFinalizers(rejected)
    else
      it.answerWith(async () => {
        throw rejected
      })
    it.put(it.object())
    await it.pass(0)
    expect(it.writes.at(-1)?.conditions).toMatchObject([
      { type: "Ready", status: "False", reason: "RequestRejected" },
      { type: "Stalled", status: "True", reason: "RequestRejected" },
    ])
    expect(it.writes.at(-1)?.conditions[0]?.message).toContain('secrets "tls" is forbidden')
    expect(it.happenings).toMatchObject([{ type: "Warning", reason: "RequestRejected" }])
    // The object is retried with growing delays.
    it.rejectFinalizers(undefined)
    it.answerWith(async () => ready)
    await it.pass(60_000)
    expect(it.writes.at(-1)?.conditions).toMatchObject([{ type: "Ready", status: "True" }])
    await it.end()
  },
)
