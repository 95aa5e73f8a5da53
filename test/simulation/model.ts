// At what rate each resource of an installation is used up, from what an operation costs. What is stored decides how much of an
// insert is found in memory and how many whole pages it writes; both are expectations over places that are equally likely.
import { type Costs, operationNames, type OperationName } from "./costs.ts"

export interface Installation {
  readonly replicas: number
  readonly databaseCores: number
  /** Of the database: for pages of tables and indexes. */
  readonly cacheBytes: number
  readonly walBytesPerSecond: number
  /** Pages, to and from the disk. */
  readonly readsPerSecond: number
  readonly writesPerSecond: number
  /** Until a commit is on the disk. */
  readonly flushMs: number
  readonly roundTripMs: number
  readonly checkpointSeconds: number
  /** What a vacuum looks through. */
  readonly vacuumBytesPerSecond: number
  readonly connectionsPerReplica: number
  readonly connectionsMaximum: number
  readonly certificates: number
  readonly mounts: number
  /** Of all requests; together 1. */
  readonly mix: Readonly<Record<OperationName, number>>
  /** Certificates of one partition lie together, and what has expired goes with its partition. Absent: one table. */
  readonly partitions?: number
}

export const resourceNames = [
  "processors of the replicas",
  "processors of the database",
  "reads of the database's disk",
  "writes of the database's disk",
  "write-ahead log",
  "connections of the database",
  "row of a mount",
  "vacuum",
  "the job that tidies",
] as const
export type ResourceName = (typeof resourceNames)[number]

export interface Capacity {
  readonly resource: ResourceName
  /** All requests together; infinite where nothing of the mix uses it. */
  readonly requestsPerSecond: number
}

const pageBytes = 8_192
/** An entry goes to a page of its own choosing: in the order of serial numbers and of names. */
const scattered = ["certificates_mount_id_serial_number_key", "certificate_names_pkey"]
/** Of a certificate: its common name or first name, and one more. */
const namesPerCertificate = 2
const scatteredEntries = 1 + namesPerCertificate
/** Begin, the statement, commit; and the read before them. */
const tripsPerTransaction = 4
/** After so many transactions every table is looked through (PostgreSQL's `autovacuum_freeze_max_age`, as it comes). */
const transactionsPerVacuum = 200_000_000

/** By resource, the first to be used up at the front. */
export function capacities(costs: Costs, installation: Installation): readonly Capacity[] {
  return resourceNames
    .map((resource) => ({
      resource,
      requestsPerSecond: largestRate((rate) => useOf(resource, rate, costs, installation) <= 1),
    }))
    .toSorted((a, b) => a.requestsPerSecond - b.requestsPerSecond)
}

/** The part of a resource that is in use; 1 is all of it. */
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
    case "reads of the database's disk":
      return (issues * scatteredEntries * missing(costs, at)) / at.readsPerSecond
    case "writes of the database's disk":
      return touchedPages(issues * scatteredEntries, pages, at) / at.writesPerSecond
    case "write-ahead log":
      return (
        (rate * mean(mix, (name) => costs.operations[name].walBytes) +
          issues * expiryOf(costs, at).walBytes +
          touchedPages(issues * scatteredEntries, pages, at) * pageBytes) /
        at.walBytesPerSecond
      )
    case "connections of the database":
      // As if nobody shared a commit.
      return (writes * holdMs(costs, at)) / 1_000 / committers(at)
    case "row of a mount":
      return (issues * costs.mountCheckMs) / 1_000 / at.mounts
    case "vacuum":
      return (writes * storedBytes(costs, at)) / at.vacuumBytesPerSecond / transactionsPerVacuum
    case "the job that tidies":
      return at.partitions === undefined ? issues / costs.tidy.rowsPerSecond : 0
    default:
      return resource satisfies never
  }
}

/** The mean time that the database's processors take for a request, what it leaves to be tidied included. */
export const databaseMs = (costs: Costs, at: Installation): number =>
  mean(at.mix, (name) => costs.operations[name].databaseMs) +
  at.mix.issue * (growth(costs, at) + expiryOf(costs, at).databaseMs)

/** How long a connection is taken by a transaction, when nothing else has to be waited for. */
export const holdMs = (costs: Costs, at: Installation): number =>
  databaseMs(costs, at) + at.flushMs + tripsPerTransaction * at.roundTripMs

/** The connections that all replicas may open, of which half commit. */
export const committers = (at: Installation): number =>
  Math.min(at.replicas * at.connectionsPerReplica, at.connectionsMaximum) / 2

/** What must be issued for so many certificates to be there at any time. */
export const issuesPerSecond = (certificates: number, lifetimeDays: number): number =>
  certificates / (lifetimeDays * 86_400)

/** A tree grows by a level as what is in it is multiplied: the time grows with the logarithm, as between the sizes measured. */
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

/** Of one partition: those that are full are looked through once. */
const storedBytes = ({ bytesPerCertificate }: Costs, { certificates, partitions = 1 }: Installation): number =>
  (Object.values(bytesPerCertificate).reduce((sum, each) => sum + each, 0) * certificates) / partitions

const scatteredPages = (costs: Costs, at: Installation): number => scatteredBytes(costs, at) / pageBytes

/** The part of the scattered pages that is not in memory. */
const missing = (costs: Costs, at: Installation): number => Math.max(0, 1 - at.cacheBytes / scatteredBytes(costs, at))

/** Different pages that are changed between two checkpoints, for each second: each is written once, and once more as a whole to the log. */
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
