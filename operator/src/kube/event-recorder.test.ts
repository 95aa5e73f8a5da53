import { expect, test } from "vitest"
import { manualClock } from "../../../engine/testing/manual-clock.ts"
import { EventRecorder } from "./event-recorder.ts"
import type { KubernetesObject } from "./kubernetes-object.ts"

function open({ fails = false } = {}) {
  const clock = manualClock()
  const created: KubernetesObject[] = []
  const patched: { key: string; patch: unknown }[] = []
  let number = 0
  const recorder = new EventRecorder({
    api: {
      async create(_resource, object) {
        if (fails) throw new Error("the API is away")
        created.push(object)
        return object
      },
      async mergePatch(_resource, key, patch) {
        patched.push({ key, patch })
        return { metadata: { name: key } }
      },
    },
    runtime: {
      clock,
      log: { debug() {}, info() {}, warn() {}, error() {} },
      random: () => (number += 1) / 1_000,
    },
    identity: "replica-0",
  })
  return { clock, created, patched, recorder }
}

const thing = { apiVersion: "chancery.dev/v1alpha1", kind: "Thing", metadata: { name: "one", uid: "u1" } }
const away = { type: "Warning", reason: "Away", note: "It is away." } as const

test("an event refers to its object, and is in `default` for cluster-scoped objects", async () => {
  const { created, recorder } = open()
  await recorder.record(thing, away)
  await recorder.record({ ...thing, metadata: { ...thing.metadata, namespace: "team" } }, { ...away, reason: "Back" })
  expect(created).toMatchObject([
    { metadata: { namespace: "default" }, reason: "Away", regarding: { kind: "Thing", name: "one", uid: "u1" } },
    { metadata: { namespace: "team" }, reason: "Back", regarding: { namespace: "team" } },
  ])
  expect(created[0]?.["eventTime"]).toBe("2026-01-01T00:00:00.000000Z")
})

test("repeated events are counted in one event, and a new one is created after six quiet minutes", async () => {
  const { clock, created, patched, recorder } = open()
  await recorder.record(thing, away)
  clock.advance(60_000)
  await recorder.record(thing, away)
  await recorder.record(thing, away)
  expect(created).toHaveLength(1)
  expect(patched.map(({ patch }) => patch)).toMatchObject([{ series: { count: 2 } }, { series: { count: 3 } }])
  clock.advance(360_000)
  await recorder.record(thing, away)
  expect(created).toHaveLength(2)
})

test("an object may record 25 events at once, then one every five minutes, independently of other objects", async () => {
  const { clock, created, recorder } = open()
  for (let number = 0; number < 40; number += 1) await recorder.record(thing, { ...away, reason: `Reason${number}` })
  expect(created).toHaveLength(25)
  await recorder.record({ ...thing, metadata: { name: "two", uid: "u2" } }, away)
  expect(created).toHaveLength(26)
  clock.advance(300_000)
  for (let number = 50; number < 55; number += 1) await recorder.record(thing, { ...away, reason: `Reason${number}` })
  expect(created).toHaveLength(27)
})

test("a failed write of an event does not fail the reconciliation", async () => {
  const { recorder } = open({ fails: true })
  await expect(recorder.record(thing, away)).resolves.toBeUndefined()
})
