// The installations that docs/scale.md is about, and the simulation of requests to one of them.
import type { Costs } from "./costs.ts"
import { capacities, databaseMs, type Capacity, type Installation, type ResourceName } from "./model.ts"
import { type Outcome, type Run, simulate, type Station } from "./queueing.ts"

const gibibyte = 2 ** 30

const base: Omit<Installation, "mix" | "mounts"> = {
  replicas: 50,
  databaseCores: 32,
  cacheBytes: 192 * gibibyte,
  walBytesPerSecond: 500e6,
  readsPerSecond: 40_000,
  writesPerSecond: 20_000,
  flushMs: 1,
  roundTripMs: 0.5,
  checkpointSeconds: 900,
  vacuumBytesPerSecond: 200e6,
  connectionsPerReplica: 10,
  maxConnections: 250,
  certificates: 1e9,
}
const onlyIssues = { issue: 1, lock: 0, show: 0 }
const mixed = { issue: 0.2, lock: 0.1, show: 0.7 }

export const scenarios = {
  "issue only": { ...base, mounts: 100, mix: onlyIssues },
  "issue only, one mount": { ...base, mounts: 1, mix: onlyIssues },
  "issue only, 13 partitions": { ...base, mounts: 100, mix: onlyIssues, partitions: 13 },
  "20 % issue, 10 % lock, 70 % read": { ...base, mounts: 100, mix: mixed },
  "the same, 13 partitions": { ...base, mounts: 100, mix: mixed, partitions: 13 },
} satisfies Record<string, Installation>

/** Resources that requests queue for; the others are used in the background. */
const queuedResources: readonly ResourceName[] = [
  "processors of the replicas",
  "processors of the database",
  "row of a mount",
]

/** Returns the first of those resources to be used up. */
export const firstQueuedBottleneck = (costs: Costs, at: Installation): Capacity => {
  const [first] = capacities(costs, at).filter(({ resource }) => queuedResources.includes(resource))
  if (first === undefined) throw new Error("requests use no resource")
  return first
}

export function runOf(costs: Costs, at: Installation, requestsPerSecond: number, seconds: number, seed = 1): Run {
  const { mix, replicas, mounts } = at
  const { operations } = costs
  const replicaMs =
    mix.issue * operations.issue.replicaMs + mix.lock * operations.lock.replicaMs + mix.show * operations.show.replicaMs
  // The work of idle replicas is deducted from the database's processors.
  const cores = at.databaseCores - (replicas * costs.idleDatabaseMs) / 1_000
  const database = replicas
  const flush = replicas + 1
  const firstMount = replicas + 2
  const stations: Station[] = [
    ...Array.from({ length: replicas }, (_, index) => exponential(`replica ${index}`, 1, replicaMs)),
    exponential("database", at.databaseCores, (databaseMs(costs, at) * at.databaseCores) / cores),
    { name: "flush", servers: 1, serviceMs: at.flushMs, times: "constant", together: true },
    ...Array.from({ length: mounts }, (_, index) => exponential(`mount ${index}`, 1, costs.mountCheckMs)),
  ]
  const replica = (uniform: () => number) => Math.floor(uniform() * replicas)
  const mount = (uniform: () => number) => firstMount + Math.floor(uniform() * mounts)
  return {
    stations,
    routes: [
      { share: mix.issue, stations: (uniform) => [replica(uniform), mount(uniform), database, flush] },
      { share: mix.lock, stations: (uniform) => [replica(uniform), database, flush] },
      { share: mix.show, stations: (uniform) => [replica(uniform), database] },
    ],
    requestsPerSecond,
    seconds,
    seed,
  }
}

const exponential = (name: string, servers: number, serviceMs: number): Station => ({
  name,
  servers,
  serviceMs,
  times: "exponential",
})

/** Simulates requests at a part of the rate at which the first of those resources is used up. */
export const atPart = (costs: Costs, at: Installation, part: number, seconds = 1): Outcome =>
  simulate(runOf(costs, at, firstQueuedBottleneck(costs, at).requestsPerSecond * part, seconds))
