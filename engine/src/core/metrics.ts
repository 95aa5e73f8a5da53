// The port of metrics: code records on instruments of the OpenTelemetry API, `telemetry/metrics.ts` reads them.
import { type Attributes, type Counter, createNoopMeter, type Meter } from "@opentelemetry/api"

export interface Metrics {
  readonly meter: Meter
  /** Returns all metrics in the text exposition format of Prometheus. */
  expose(): Promise<{ readonly contentType: string; readonly text: string }>
}

/** Records nothing. */
export const noopMeter: Meter = createNoopMeter()

/** Creates a counter whose series begin with 0, because a `rate()` ignores the first sample of a series. */
export function createCounter<Labels extends Attributes>(
  meter: Meter,
  name: string,
  description: string,
  series: readonly Labels[],
): Counter<Labels> {
  const counter = meter.createCounter<Labels>(name, { description })
  for (const labels of series) counter.add(0, labels)
  return counter
}
