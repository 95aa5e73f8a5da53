// Metrics that tests read without an export. Observable instruments are read only if their callbacks are synchronous.
import type { Attributes, Meter, ObservableCallback } from "@opentelemetry/api"
import { type Metrics, noopMeter } from "../src/core/metrics.ts"

interface Series {
  readonly labels: Attributes
  /** Value of a counter or gauge; for a histogram the number of recorded values. */
  value: number
}

export interface RecordedMetrics extends Metrics {
  /** Returns 0 for a series without a value. */
  value(name: string, labels?: Attributes): number
  series(name: string): readonly Readonly<Series>[]
  isJobRunning(): boolean
}

const keyOf = (labels: Attributes): string => JSON.stringify(Object.entries(labels).map(String).toSorted())

export function recordedMetrics(): RecordedMetrics {
  const metrics = new Map<string, Map<string, Series>>()
  const seriesAt = (name: string, labels: Attributes = {}): Series => {
    const known = metrics.get(name) ?? new Map<string, Series>()
    metrics.set(name, known)
    const key = keyOf(labels)
    const series = known.get(key) ?? { labels, value: 0 }
    known.set(key, series)
    return series
  }
  const callbacks = new Map<string, ObservableCallback[]>()
  const observable = (name: string) => ({
    addCallback: (callback: ObservableCallback) => void callbacks.set(name, [...(callbacks.get(name) ?? []), callback]),
    removeCallback: () => {},
  })
  const observed = (name: string): readonly Series[] => {
    const found: Series[] = []
    const observe = (value: number, labels: Attributes = {}) => void found.push({ labels, value })
    for (const callback of callbacks.get(name) ?? []) void callback({ observe })
    return found
  }
  const counter = (name: string) => ({
    add: (value: number, labels?: Attributes) => void (seriesAt(name, labels).value += value),
  })
  const meter = Object.assign(Object.create(noopMeter) as Meter, {
    createCounter: counter,
    createUpDownCounter: counter,
    createObservableCounter: observable,
    createObservableGauge: observable,
    createGauge: (name: string) => ({
      record: (value: number, labels?: Attributes) => void (seriesAt(name, labels).value = value),
    }),
    createHistogram: (name: string) => ({
      record: (_value: number, labels?: Attributes) => void (seriesAt(name, labels).value += 1),
    }),
  })
  const series = (name: string) => [...(metrics.get(name)?.values() ?? []), ...observed(name)]
  return {
    meter,
    expose: async () => ({ contentType: "text/plain", text: "" }),
    value: (name, labels = {}) => series(name).find((one) => keyOf(one.labels) === keyOf(labels))?.value ?? 0,
    series,
    isJobRunning: () => series("chancery_job_running").some(({ value }) => value > 0),
  }
}
