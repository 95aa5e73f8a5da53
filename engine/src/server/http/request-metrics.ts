import type { Meter } from "@opentelemetry/api"
import { secondMs } from "../../core/time.ts"

export interface RequestMetrics {
  begin(): void
  /** Records a finished request. `route` is a pattern and never a path, because each label value must come from a bounded set. */
  end(request: { method: string; route: string | undefined; status: number; durationMs: number }): void
}

export function createRequestMetrics(meter: Meter): RequestMetrics {
  const durations = meter.createHistogram("chancery_http_request_duration_seconds", {
    description: "Time from the last header of a request to its response, by method, route pattern and status.",
    advice: {
      explicitBucketBoundaries: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    },
  })
  const inFlight = meter.createUpDownCounter("chancery_http_requests_in_flight", {
    description: "Requests in progress.",
  })
  inFlight.add(0)
  return {
    begin() {
      inFlight.add(1)
    },
    end({ method, route = "unmatched", status, durationMs }) {
      inFlight.add(-1)
      durations.record(durationMs / secondMs, { method, route, status: String(status) })
    },
  }
}
