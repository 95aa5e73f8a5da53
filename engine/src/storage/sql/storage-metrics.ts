import type { Attributes, Counter, Meter, UpDownCounter } from "@opentelemetry/api"
import { createCounter, noopMeter } from "../../core/metrics.ts"
import { secondMs } from "../../core/time.ts"

export type UnitKind = "read" | "write"

/** `refused`: a rule rejected it. `busy`: contention or an unreachable database outlasted the retries. */
export type UnitOutcome = "done" | "refused" | "busy" | "failed"

export interface StorageMetrics {
  readonly transactions: Counter<{ kind: UnitKind; outcome: UnitOutcome }>
  readonly waiting: UpDownCounter<KindLabel>
  readonly waitSeconds: Counter<KindLabel>
  readonly retries: Counter
}

interface KindLabel extends Attributes {
  readonly kind: UnitKind
}

const kinds = ["read", "write"] as const
const outcomes = ["done", "refused", "busy", "failed"] as const

export function createStorageMetrics(meter: Meter): StorageMetrics {
  const waiting = meter.createUpDownCounter<KindLabel>("chancery_storage_waiting", {
    description: "Transactions that wait for the writer, a reader or a connection now, by kind.",
  })
  for (const kind of kinds) waiting.add(0, { kind })
  return {
    transactions: createCounter(
      meter,
      "chancery_storage_transactions_total",
      "Transactions, by kind (read, write) and outcome (done, refused by a rule, busy, failed).",
      kinds.flatMap((kind) => outcomes.map((outcome) => ({ kind, outcome }))),
    ),
    waiting,
    waitSeconds: createCounter(
      meter,
      "chancery_storage_wait_seconds_total",
      "Time that transactions waited for the writer, a reader or a connection, by kind.",
      kinds.map((kind) => ({ kind })),
    ),
    retries: createCounter(
      meter,
      "chancery_storage_retries_total",
      "Transactions retried because of a concurrent one.",
      [{}],
    ),
  }
}

export const noStorageMetrics = createStorageMetrics(noopMeter)

export interface ReplicaState {
  /** Host, port and database of the replica. */
  readonly name: string
  /** True if reads are sent to the replica. */
  readonly isUp: boolean
  /** Replication lag in milliseconds; undefined until it is known. */
  readonly lagMs: number | undefined
}

/** Creates the counter of reads that a replica may answer, and the gauges of the replicas' state. */
export function createReplicaMetrics(
  meter: Meter,
  replicas: readonly ReplicaState[],
): Counter<{ target: "replica" | "primary" }> {
  const up = meter.createObservableGauge("chancery_storage_read_replica_up", {
    description: "1 while reads are sent to the read replica.",
  })
  up.addCallback((result) => {
    for (const { name, isUp } of replicas) result.observe(isUp ? 1 : 0, { replica: name })
  })
  const lag = meter.createObservableGauge("chancery_storage_read_replica_lag_seconds", {
    description: "Time since the primary was at the current log position of the read replica; absent while unknown.",
  })
  lag.addCallback((result) => {
    for (const { name, lagMs } of replicas) if (lagMs !== undefined) result.observe(lagMs / secondMs, { replica: name })
  })
  return createCounter(
    meter,
    "chancery_storage_read_replica_reads_total",
    "Reads that a read replica may answer, by the target that answered (replica, primary).",
    [{ target: "replica" }, { target: "primary" }],
  )
}
