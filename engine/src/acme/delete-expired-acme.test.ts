import { expect, test } from "vitest"
import { systemRuntime } from "../core/runtime.ts"
import { dayMs, type Instant } from "../core/time.ts"
import type { MountId } from "../pki/mounts/mount.ts"
import { recordedMetrics } from "../../testing/recorded-metrics.ts"
import { createAcmeMetrics } from "./acme-metrics.ts"
import { ExpiredOrders } from "./delete-expired-acme.ts"

interface Asked {
  readonly mountId: MountId
  readonly after: Instant
  readonly until: Instant
}

/** Creates a fake database that records each call and has a settable number of expired orders. */
function fixture(mounts: readonly string[]) {
  const asked: Asked[] = []
  let [now, waiting, fails] = [10 * dayMs, 0, false]
  const metrics = recordedMetrics()
  const acmeOrders = {
    async endExpired(mountId: MountId, time: { after: Instant; until: Instant }, limit: number) {
      if (fails) throw new Error("no store")
      asked.push({ mountId, ...time })
      const ended = Math.min(waiting, limit)
      waiting -= ended
      return { ended, newly: ended }
    },
  }
  const context = {
    acmeTools: { metrics: createAcmeMetrics(metrics.meter) },
    runtime: { ...systemRuntime(), clock: { now: () => now } },
    mountDirectory: { current: async () => ({ mounts: mounts.map((id) => ({ id })) }) },
    storage: { transact: (work: (stores: object) => Promise<unknown>) => work({ acmeOrders }) },
  } as unknown as ConstructorParameters<typeof ExpiredOrders>[0]
  const expired = new ExpiredOrders(context)
  return {
    asked,
    invalid: () => metrics.value("chancery_acme_orders_total", { status: "invalid" }),
    run: (signal = new AbortController().signal) => expired.end({ signal }),
    set: (changed: { readonly now?: Instant; readonly waiting?: number; readonly fails?: boolean }) =>
      void ([now, waiting, fails] = [changed.now ?? now, changed.waiting ?? 0, changed.fails ?? false]),
  }
}

test("the job ends orders that expired within a day, and later those that expired since its last run", async () => {
  const { asked, run, set } = fixture(["one", "two"])
  await run()
  set({ now: 10 * dayMs + 5 })
  await run()
  const [first, second] = [
    { after: 9 * dayMs, until: 10 * dayMs },
    { after: 10 * dayMs, until: 10 * dayMs + 5 },
  ]
  expect(asked).toEqual([
    { mountId: "one", ...first },
    { mountId: "two", ...first },
    { mountId: "one", ...second },
    { mountId: "two", ...second },
  ])
})

test("the job counts each expired order as invalid once", async () => {
  const { asked, invalid, run, set } = fixture(["one"])
  set({ waiting: 1_200 })
  await run()
  await run()
  expect(invalid()).toBe(1_200)
  expect(asked).toHaveLength(4)
})

test("the job reads the remaining orders again after a failure", async () => {
  const { asked, run, set } = fixture(["one"])
  set({ fails: true })
  await expect(run()).rejects.toThrow("no store")
  set({ now: 10 * dayMs + 5 })
  await expect(run(AbortSignal.abort(new Error("the engine closes")))).rejects.toThrow("closes")
  await run()
  expect(asked).toEqual([{ mountId: "one", after: 9 * dayMs + 5, until: 10 * dayMs + 5 }])
})
