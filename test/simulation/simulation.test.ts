import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import packageJson from "../../package.json" with { type: "json" }
import { codeBlocks } from "../readme/shell-blocks.ts"
import type { Costs } from "./costs.ts"
import { capacities, type Installation, issuesPerSecond, resourceNames, useOf } from "./model.ts"
import { type Run, simulate, type Station } from "./queueing.ts"
import { atPart, firstQueuedBottleneck, runOf, scenarios } from "./scenarios.ts"
import { documentFile, measuredCosts, tablesOf, withTables } from "./tables.ts"

const runThrough = (station: Station, requestsPerSecond: number, seconds: number): Run => ({
  stations: [station],
  routes: [{ share: 1, stations: () => [0] }],
  requestsPerSecond,
  seconds,
  seed: 7,
})

/** Returns the mean wait for one of `servers`, by Erlang's formula; `load` is in servers. */
function meanWaitMs(servers: number, serviceMs: number, load: number): number {
  let term = 1
  let sum = 1
  for (let n = 1; n < servers; n += 1) sum += term *= load / n
  const last = (term * load) / servers / (1 - load / servers)
  return (last / (sum + last)) * (serviceMs / (servers - load))
}

describe("the simulation of queues", () => {
  test.each([
    { servers: 1, part: 0.5 },
    { servers: 1, part: 0.8 },
    { servers: 4, part: 0.8 },
    { servers: 32, part: 0.9 },
  ])("waits match Erlang's formula, with $servers servers at $part of their capacity", ({ servers, part }) => {
    const serviceMs = 10
    const rate = (servers * part * 1_000) / serviceMs
    const station = { name: "one", servers, serviceMs, times: "exponential" } as const
    const { waitedMs, busy, meanMs } = simulate(runThrough(station, rate, 200_000 / rate))
    const expected = meanWaitMs(servers, serviceMs, servers * part)
    // Long queues grow and shrink slowly, so the mean varies.
    expect(Math.abs((waitedMs[0] ?? 0) / expected - 1)).toBeLessThan(0.15)
    expect(Math.abs((busy[0] ?? 0) / part - 1)).toBeLessThan(0.02)
    expect(Math.abs(meanMs / (expected + serviceMs) - 1)).toBeLessThan(0.1)
  })

  test("waits halve with constant service times (Pollaczek and Khinchine)", () => {
    const station = { name: "one", servers: 1, serviceMs: 10, times: "constant" } as const
    const { waitedMs } = simulate(runThrough(station, 80, 3_000))
    expect(Math.abs((waitedMs[0] ?? 0) / (meanWaitMs(1, 10, 0.8) / 2) - 1)).toBeLessThan(0.1)
  })

  test("serves all waiting requests at once at a batch station, which no rate overloads", () => {
    const station = { name: "flush", servers: 1, serviceMs: 10, times: "constant", together: true } as const
    const { completedPerSecond, meanMs } = simulate(runThrough(station, 5_000, 10))
    expect(completedPerSecond).toBeGreaterThan(4_900)
    // On average, half of the current flush, and one complete flush.
    expect(Math.abs(meanMs / 15 - 1)).toBeLessThan(0.05)
  })

  test("falls behind beyond the capacity of its stations, and is deterministic for a seed", () => {
    const station = { name: "one", servers: 2, serviceMs: 10, times: "exponential" } as const
    const run = runThrough(station, 300, 60)
    const outcome = simulate(run)
    expect(outcome.completedPerSecond).toBeLessThan(210)
    expect(outcome.completedPerSecond).toBeGreaterThan(190)
    expect(simulate(run)).toEqual(outcome)
    expect(simulate({ ...run, seed: 8 })).not.toEqual(outcome)
  })
})

const costs: Costs = {
  operations: {
    issue: { replicaMs: 2, databaseMs: 1, walBytes: 1_000 },
    lock: { replicaMs: 1, databaseMs: 1, walBytes: 500 },
    show: { replicaMs: 1, databaseMs: 0.5, walBytes: 0 },
  },
  idleDatabaseMs: 0,
  flushMs: 1,
  mountCheckMs: 0.01,
  grown: [{ rows: 1_000, issueDatabaseMs: 1 }],
  bytesPerCertificate: { certificates: 500, certificates_mount_id_serial_number_key: 100, certificate_names_pkey: 100 },
  tidy: { databaseMs: 0, walBytes: 0, rowsPerSecond: 1_000 },
}

const small: Installation = {
  replicas: 4,
  databaseCores: 8,
  cacheBytes: 1e9,
  walBytesPerSecond: 1e9,
  readsPerSecond: 1e6,
  writesPerSecond: 1e6,
  flushMs: 1,
  roundTripMs: 1,
  checkpointSeconds: 60,
  vacuumBytesPerSecond: 1e9,
  connectionsPerReplica: 10,
  maxConnections: 100,
  certificates: 1e6,
  mounts: 1,
  mix: { issue: 1, lock: 0, show: 0 },
}

const capacityOf = (at: Installation, resource: (typeof resourceNames)[number]) =>
  capacities(costs, at).find((one) => one.resource === resource)?.requestsPerSecond

describe("the model of an installation", () => {
  test("gives each resource the rate computed by hand", () => {
    expect(capacityOf(small, "processors of the replicas")).toBeCloseTo(2_000, 3)
    expect(capacityOf(small, "processors of the database")).toBeCloseTo(8_000, 3)
    expect(capacityOf(small, "row of a mount")).toBeCloseTo(100_000, 3)
    expect(capacityOf(small, "tidy job")).toBeCloseTo(1_000, 3)
    // 20 of 40 commit, each for 1 + 1 + 4 ms.
    expect(capacityOf(small, "connections of the database")).toBeCloseTo(20_000 / 6, 3)
    // All randomly accessed pages are in memory.
    expect(capacityOf(small, "disk reads of the database")).toBe(Number.POSITIVE_INFINITY)
    expect(capacities(costs, small)[0]?.resource).toBe("tidy job")
  })

  test("reads from disk only pages that are not in memory", () => {
    // 200 GB of randomly accessed pages, half of them in memory; three entries each.
    const at = { ...small, certificates: 1e9, cacheBytes: 100e9 }
    expect(capacityOf(at, "disk reads of the database")).toBeCloseTo(1e6 / 1.5, 0)
    const parted = { ...at, partitions: 2 }
    expect(capacityOf(parted, "disk reads of the database")).toBe(Number.POSITIVE_INFINITY)
    expect(capacityOf(parted, "tidy job")).toBe(Number.POSITIVE_INFINITY)
  })

  test("writes a page once between two checkpoints, however often it changes", () => {
    const few = { ...small, certificates: 8_192 * 10, writesPerSecond: 1_000 }
    // 2,000 pages in a minute at most, whatever the rate.
    expect(capacityOf(few, "disk writes of the database")).toBe(Number.POSITIVE_INFINITY)
    const many = { ...small, certificates: 1e12, writesPerSecond: 3_000 }
    expect((capacityOf(many, "disk writes of the database") ?? 0) / 1_000).toBeCloseTo(1, 2)
  })

  test("never uses less of any resource at a higher rate", () => {
    for (const resource of resourceNames)
      expect(useOf(resource, 2_000, costs, small)).toBeGreaterThanOrEqual(useOf(resource, 1_000, costs, small))
  })

  test("computes the issuing rate for a number of live certificates", () => {
    expect(issuesPerSecond(8_640_000, 1)).toBe(100)
  })
})

describe("the installations of docs/scale.md", () => {
  const measured = measuredCosts()

  test.each(Object.entries(scenarios))("%s: requests queue where the model predicts saturation", (_name, at) => {
    const { requestsPerSecond } = firstQueuedBottleneck(measured, at)
    const seconds = 3_000 / requestsPerSecond + 0.5
    const below = simulate(runOf(measured, at, requestsPerSecond * 0.9, seconds))
    const beyond = simulate(runOf(measured, at, requestsPerSecond * 1.5, seconds))
    expect(below.completedPerSecond / (requestsPerSecond * 0.9)).toBeGreaterThan(0.95)
    expect(beyond.completedPerSecond / (requestsPerSecond * 1.5)).toBeLessThan(0.8)
    expect(atPart(measured, at, 0.5, seconds).p99Ms).toBeLessThan(beyond.p99Ms)
  })

  test("match the results of the simulation", () => {
    const document = readFileSync(documentFile, "utf8")
    expect(withTables(document, tablesOf(measured))).toBe(document)
    expect(() => withTables("", tablesOf(measured))).toThrow("no place for the table")
  })

  test("can be reproduced with existing commands", async () => {
    const commands = (await codeBlocks("docs/scale.md", "Repeat the measurement", "sh")).join("").trim().split("\n")
    const scripts = commands.map((line) => /^npm run ([\w:]+)(?: -- .*)?$/.exec(line)?.[1] ?? line)
    expect(scripts).toEqual(["bench:scale", "simulate"])
    for (const script of scripts) expect(Object.keys(packageJson.scripts)).toContain(script)
  })
})
