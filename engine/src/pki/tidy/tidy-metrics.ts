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
    "Tidy runs that ended on this server, by outcome (finished, error, cancelled).",
    [{ outcome: "finished" }, { outcome: "error" }, { outcome: "cancelled" }],
  ),
  removed: createCounter(
    meter,
    "chancery_tidy_removed_total",
    "Expired records that this server removed, by kind (certificates, revocations, metadata, issuers, leases).",
    [{ kind: "certificates" }, { kind: "revocations" }, { kind: "metadata" }, { kind: "issuers" }, { kind: "leases" }],
  ),
})
