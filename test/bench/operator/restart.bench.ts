// An operator that starts when everything is in sync: the time until it knows that, its writes, and its memory.
import { setTimeout as sleep } from "node:timers/promises"
import { request } from "undici"
import { report, target } from "../figures.ts"
import {
  certificateObject,
  issuerObject,
  objectCount,
  openFixture,
  total,
  workspaceObject,
  writesOf,
} from "./fixture.ts"

const quietMs = Number(process.env["CHANCERY_BENCH_QUIET_MS"] ?? 600_000)

await using fixture = await openFixture()
await fixture.makeNamespace("many")
const first = await fixture.startOperator("one")
await fixture.make("issuers", [issuerObject("many")])
const all = Array.from({ length: objectCount }, (_, index) => index)
const begunAt = performance.now()
await fixture.make(
  "workspaces",
  all.map((index) => workspaceObject("many", index)),
)
await fixture.make(
  "certificates",
  all.map((index) => certificateObject("many", index)),
)
await fixture.allReady("workspaces", "many", objectCount, begunAt)
await fixture.allReady("certificates", "many", objectCount, begunAt)
await first.end()

const startedAt = performance.now()
await using operator = await fixture.startOperator("two")
while ((await request(`${operator.url}/readyz`)).statusCode !== 200) await sleep(50)
const syncedMs = performance.now() - startedAt
const before = await writesOf(operator)
await sleep(quietMs)
// The Lease is written with PUT, which does not count.
const writes = total(await writesOf(operator)) - total(before)
const memory = (await operator.metric("process_resident_memory_bytes")) / 1024 / 1024
report(`objects of each of two kinds`, objectCount, "")
target("known after a start", syncedMs / 1_000, { atMost: 10 }, "s")
target(`writes in the ${quietMs / 1_000} s after it`, writes, { atMost: 0 })
target("memory", memory, { atMost: 512 }, "MiB")
