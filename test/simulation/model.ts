// Computes the rate at which each resource of an installation is used up, from the costs of operations. The amount of stored data
// determines the cached part of an insert's pages and the number of its full-page images. Both are expected values over equally likely
// places.
import { type Costs, operationNames, type OperationName } from "./costs.ts"

export interface Installation {
  readonly replicas: number
  readonly databaseCores: number
  /** Cache of the database for pages of tables and indexes. */
  readonly cacheBytes: number
  readonly walBytesPerSecond: number
  /** Pages read from and written to the disk. */
  readonly readsPerSecond: number
  readonly writesPerSecond: number
  /** Duration of a flush to disk at a commit. */
  readonly flushMs: number
  readonly roundTripMs: number
  readonly checkpointSeconds: number
  /** Bytes that a vacuum scans. */
  readonly vacuumBytesPerSecond: number
  readonly connectionsPerReplica: number
  readonly maxConnections: number
  readonly certificates: number
  readonly mounts: number
  /** Share of each operation in all requests; the sum is 1. */
  readonly mix: Readonly<Record<OperationName, number>>
  /** Certificates of one partition are stored together, and expired ones are dropped with their partition. Absent: one table. */
  readonly partitions?: number
}

export const resourceNames = [
  "processors of the replicas",
  "processors of the database",
  "disk reads of the database",
  "disk writes of the database",
  "write-ahead log",
  "connections of the database",
  "row of a mount",
  "vacuum",
  "tidy job",
] as const
export type ResourceName = (typeof resourceNames)[number]

export interface Capacity {
  readonly resource: ResourceName
  /** All requests together; infinite if no operation of the mix uses the resource. */
  readonly requestsPerSecond: number
}

const pageBytes = 8_192
/** Indexes whose entries go to random pages, because they are ordered by serial number or name. */
const scattered = ["certificates_mount_id_serial_number_key", "certificate_names_pkey"]
/** The common name or first name of a certificate, and one more. */
const namesPerCertificate = 2
const scatteredEntries = 1 + namesPerCertificate
/** Begin, the statement, commit; and the preceding read. */
const tripsPerTransaction = 4
/** Every table is scanned after this many transactions (default of PostgreSQL's `autovacuum_freeze_max_age`). */
const transactionsPerVacuum = 200_000_000

/** Returns the capacity of each resource, the first one to be used up first. */
export function capacities(costs: Costs, installation: Installation): readonly Capacity[] {
  return resourceNames
    .map((resource) => ({
      resource,
      requestsPerSecond: largestRate((rate) => useOf(resource, rate, costs, installation) <= 1),
    }))
    .toSorted((a, b) => a.requestsPerSecond - b.requestsPerSecond)
}

/** Returns the used part of a resource; 1 is all of it. */
export function useOf(resource: ResourceName, rate: number, costs: Costs, at: Installation): number {
  const { mix } = at
  const issues = rate * mix.issue
  const writes = rate * (mix.issue + mix.lock)
  const pages = scatteredPages(costs, at)
  switch (resource) {
    case "processors of the replicas":
      return (rate * mean(mix, (name) => costs.operations[name].replicaMs)) / (1_000 * at.replicas)
    case "processors of the database":
      return (rate * databaseMs(costs, at) + at.replicas * costs.idleDatabaseMs) / (1_000 * at.databaseCores)
    case "disk reads of the database":
      return (issues * scatteredEntries * missing(costs, at)) / at.readsPerSecond
    case "disk writes of the database":
      return touchedPages(issues * scatteredEntries, pages, at) / at.writesPerSecond
    case "write-ahead log":
      return (
        (rate * mean(mix, (name) => costs.operations[name].walBytes) +
          issues * expiryOf(costs, at).walBytes +
          touchedPages(issues * scatteredEntries, pages, at) * pageBytes) /
        at.walBytesPerSecond
      )
    case "connections of the database":
      // Upper bound, without group commit.
      return (writes * holdMs(costs, at)) / 1_000 / committers(at)
    case "row of a mount":
      return (issues * costs.mountCheckMs) / 1_000 / at.mounts
    case "vacuum":
      return (writes * storedBytes(costs, at)) / at.vacuumBytesPerSecond / transactionsPerVacuum
    case "tidy job":
      return at.partitions === undefined ? issues / costs.tidy.rowsPerSecond : 0
    default:
      return resource satisfies never
  }
}

/** Returns the mean time of the database's processors for a request, including the later deletion of its data. */
export const databaseMs = (costs: Costs, at: Installation): number =>
  mean(at.mix, (name) => costs.operations[name].databaseMs) +
  at.mix.issue * (growth(costs, at) + expiryOf(costs, at).databaseMs)

/** Returns the time that a transaction occupies a connection without contention. */
export const holdMs = (costs: Costs, at: Installation): number =>
  databaseMs(costs, at) + at.flushMs + tripsPerTransaction * at.roundTripMs

/** Returns half of the connections that all replicas may open: that many commit. */
export const committers = (at: Installation): number =>
  Math.min(at.replicas * at.connectionsPerReplica, at.maxConnections) / 2

/** Returns the rate of issuing at which this many certificates exist at any time. */
export const issuesPerSecond = (certificates: number, lifetimeDays: number): number =>
  certificates / (lifetimeDays * 86_400)

/**
 * Returns the growth of an issue's cost. A tree grows by a level as its content is multiplied, so the time grows with the logarithm, as
 * between the measured sizes.
 */
function growth({ grown, operations }: Costs, { certificates, partitions = 1 }: Installation): number {
  const [first, last] = [grown.at(0), grown.at(-1)]
  if (first === undefined || last === undefined || first === last) return 0
  const perDecade = (last.issueDatabaseMs - first.issueDatabaseMs) / Math.log10(last.rows / first.rows)
  const decades = Math.log10(certificates / partitions / last.rows)
  return Math.max(0, last.issueDatabaseMs + Math.max(0, perDecade) * Math.max(0, decades) - operations.issue.databaseMs)
}

const expiryOf = ({ tidy }: Costs, { partitions }: Installation) =>
  partitions === undefined ? tidy : { databaseMs: 0, walBytes: 0 }

const scatteredBytes = ({ bytesPerCertificate }: Costs, { certificates, partitions = 1 }: Installation): number =>
  (scattered.reduce((sum, name) => sum + (bytesPerCertificate[name] ?? 0), 0) * certificates) / partitions

/** Returns the bytes of one partition, because full partitions are scanned only once. */
const storedBytes = ({ bytesPerCertificate }: Costs, { certificates, partitions = 1 }: Installation): number =>
  (Object.values(bytesPerCertificate).reduce((sum, each) => sum + each, 0) * certificates) / partitions

const scatteredPages = (costs: Costs, at: Installation): number => scatteredBytes(costs, at) / pageBytes

/** Returns the part of the randomly accessed pages that is not in memory. */
const missing = (costs: Costs, at: Installation): number => Math.max(0, 1 - at.cacheBytes / scatteredBytes(costs, at))

/**
 * Returns the distinct pages changed between two checkpoints, per second. Each is written once, and once more as a full-page image to the
 * WAL.
 */
function touchedPages(entriesPerSecond: number, pages: number, { checkpointSeconds }: Installation): number {
  const count = entriesPerSecond * checkpointSeconds
  return (pages * -Math.expm1(-count / pages)) / checkpointSeconds
}

const mean = (mix: Installation["mix"], of: (name: OperationName) => number): number =>
  operationNames.reduce((sum, name) => sum + mix[name] * of(name), 0)

const largestPlausible = 1e9

function largestRate(isServed: (rate: number) => boolean): number {
  if (isServed(largestPlausible)) return Number.POSITIVE_INFINITY
  let [low, high] = [0, largestPlausible]
  for (let step = 0; step < 100; step += 1) {
    const middle = (low + high) / 2
    if (isServed(middle)) low = middle
    else high = middle
  }
  return low
}
