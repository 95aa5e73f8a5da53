import type { Attributes, Counter, Gauge, Meter } from "@opentelemetry/api"
import { createCounter } from "../../core/metrics.ts"

const kinds = ["complete", "delta"] as const
type CrlKind = (typeof kinds)[number]

interface KindLabel extends Attributes {
  readonly kind: CrlKind
}

export interface CrlMetrics {
  readonly builds: Counter<{ kind: CrlKind; outcome: "done" | "failed" }>
  readonly buildSeconds: Counter<KindLabel>
  readonly lastBuildSeconds: Gauge<KindLabel>
}

export const createCrlMetrics = (meter: Meter): CrlMetrics => ({
  builds: createCounter(
    meter,
    "chancery_crl_builds_total",
    "Revocation lists built by this server, by kind (complete, delta) and outcome (done, failed).",
    kinds.flatMap((kind) => [
      { kind, outcome: "done" },
      { kind, outcome: "failed" },
    ]),
  ),
  buildSeconds: createCounter(
    meter,
    "chancery_crl_build_duration_seconds_total",
    "Time that this server spent building revocation lists, in seconds, by kind (complete, delta).",
    kinds.map((kind) => ({ kind })),
  ),
  lastBuildSeconds: meter.createGauge("chancery_crl_last_build_duration_seconds", {
    description:
      "Duration of the last build of a revocation list on this server, in seconds, by kind (complete, delta). Absent before the first build.",
  }),
})
