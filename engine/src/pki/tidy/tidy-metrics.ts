import type { Counter, Meter } from "@opentelemetry/api"
import { createCounter } from "../../core/metrics.ts"
import type { TidyEnd } from "./tidy-run.ts"

export interface TidyMetrics {
  readonly runs: Counter<{ outcome: TidyEnd["state"] }>
  readonly removed: Counter<{ kind: RemovedKind }>
}

type RemovedKind = "certificates" | "revocations" | "metadata" | "issuers" | "leases"

export const createTidyMetrics = (meter: Meter): TidyMetrics => ({
  runs: createCounter(
    meter,
    "chancery_tidy_runs_total",
    "Tidy runs that this server brought to their end, by outcome (finished, cancelled, error).",
    [{ outcome: "finished" }, { outcome: "error" }, { outcome: "cancelled" }],
  ),
  removed: createCounter(
    meter,
    "chancery_tidy_removed_total",
    "What this server has taken away because it had expired, by kind.",
    [{ kind: "certificates" }, { kind: "revocations" }, { kind: "metadata" }, { kind: "issuers" }, { kind: "leases" }],
  ),
})
