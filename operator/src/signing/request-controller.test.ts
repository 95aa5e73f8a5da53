import { expect, test } from "vitest"
import { manualClock } from "../../../engine/testing/manual-clock.ts"
import { manualTimers } from "../../../engine/testing/manual-timers.ts"
import { ApiError } from "../kube/cluster.ts"
import type { EventToRecord } from "../kube/event-recorder.ts"
import type { KubernetesObject } from "../kube/kubernetes-object.ts"
import { ObjectStore } from "../kube/object-store.ts"
import { createMetrics } from "../metrics.ts"
import { certificateRequests } from "./cert-manager/certificate-request.ts"
import { type Answer, RequestController } from "./request-controller.ts"

const key = "web/one"
const conflict = new ApiError(409, "Conflict", "the object has been modified")
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const settle = () => new Promise((resolve) => setImmediate(resolve))

/** A running controller, and what it asked and wrote. `answers` are given in turn, then the last one is repeated. */
async function start(
  answers: readonly (Answer | undefined)[],
  failures: (Error | undefined)[] = [],
  answered: (put: (uid?: string) => void) => void = () => {},
) {
  const clock = manualClock()
  const timers = manualTimers(clock)
  const store = new ObjectStore()
  const written: unknown[] = []
  const recorded: EventToRecord[] = []
  let asked = 0
  let version = 1
  const put = (uid = "uid") => {
    version += 1
    const object = { metadata: { namespace: "web", name: "one", uid, resourceVersion: String(version) } }
    store.set(object)
    return object
  }
  const controller = new RequestController({
    cluster: {
      async applyStatus(_resource, object, status, _manager, { resourceVersion } = {}) {
        if (resourceVersion !== store.get(key)?.metadata.resourceVersion) throw conflict
        const failure = failures.shift()
        if (failure !== undefined) throw failure
        written.push(status)
        return put(object.metadata.uid)
      },
    },
    runtime: { clock, timers, stopwatch: () => clock.now(), random: () => 0.5, log: silent },
    resource: certificateRequests,
    store,
    answerer: {
      async answer() {
        asked += 1
        if (asked === 1) answered(put)
        return answers[Math.min(asked, answers.length) - 1]
      },
    },
    recorder: { record: async (_object: KubernetesObject, event) => void recorded.push(event) },
    metrics: createMetrics({ name: "test", leading: () => true }),
  })
  put()
  controller.changed(key, "found", undefined)
  const ending = new AbortController()
  const running = controller.run(ending.signal, ending.signal)
  await settle()
  return {
    controller,
    written,
    recorded,
    put,
    store,
    asked: () => asked,
    async advance(ms: number) {
      await timers.advance(ms)
      await settle()
    },
    async [Symbol.asyncDispose]() {
      ending.abort()
      await running
    },
  }
}

test("an answer is written once, and the object is not asked about again", async () => {
  await using world = await start([{ status: { certificate: "one" } }, undefined])
  expect(world.written).toEqual([{ certificate: "one" }])
  world.controller.changed(key, "changed", undefined)
  await settle()
  await world.advance(3_600_000)
  expect(world.written).toHaveLength(1)
})

test("an answer that could not be written is kept, and not asked for again", async () => {
  await using world = await start(
    [{ status: { certificate: "one" } }, { status: { certificate: "two" } }],
    [new Error("the connection was reset")],
  )
  expect([world.asked(), world.written]).toEqual([1, []])
  await world.advance(2_000)
  expect([world.asked(), world.written]).toEqual([1, [{ certificate: "one" }]])
})

test("an answer is dropped when the object was deleted and created again with the same name", async () => {
  await using world = await start(
    [{ status: { certificate: "one" } }, { status: { certificate: "two" } }],
    [new Error("the connection was reset")],
  )
  world.put("another")
  await world.advance(2_000)
  expect([world.asked(), world.written]).toEqual([2, [{ certificate: "two" }]])
})

test("an answer is kept when the object has changed before it was written", async () => {
  await using world = await start([{ status: { certificate: "one" } }, { status: { certificate: "two" } }], [], (put) =>
    put(),
  )
  expect([world.asked(), world.written]).toEqual([1, []])
  await world.advance(2_000)
  expect([world.asked(), world.written]).toEqual([1, [{ certificate: "one" }]])
})

test("an answer is not written to a new object of the same name when the old one was deleted before", async () => {
  await using world = await start([{ status: { certificate: "one" } }, { status: { certificate: "two" } }], [], (put) =>
    put("another"),
  )
  expect([world.asked(), world.written]).toEqual([1, []])
  await world.advance(2_000)
  expect([world.asked(), world.written]).toEqual([2, [{ certificate: "two" }]])
})

test("an answer that the API server rejects is recorded as an event, and asked for again only after ten minutes", async () => {
  await using world = await start(
    [{ status: { certificate: "one" } }],
    [new ApiError(422, "Invalid", "the lifetime is too long")],
  )
  expect(world.recorded).toEqual([
    {
      type: "Warning",
      reason: "RequestRejected",
      note: "The API server rejects the answer: the lifetime is too long",
    },
  ])
  await world.advance(599_000)
  expect(world.asked()).toBe(1)
  await world.advance(2_000)
  expect(world.asked()).toBe(2)
})

test("an event with the same note is recorded once, and a new note again", async () => {
  const event = (note: string) => ({ type: "Warning", reason: "EngineUnavailable", note }) as const
  await using world = await start([
    { event: event("away"), again: "backoff" },
    { event: event("away"), again: "backoff" },
    { event: event("refused"), again: 60_000 },
  ])
  await world.advance(2_000)
  expect([world.asked(), world.recorded.length]).toEqual([2, 1])
  await world.advance(4_000)
  expect([world.asked(), world.recorded.map(({ note }) => note)]).toEqual([3, ["away", "refused"]])
  await world.advance(59_000)
  expect(world.asked()).toBe(3)
  await world.advance(2_000)
  expect(world.asked()).toBe(4)
})
