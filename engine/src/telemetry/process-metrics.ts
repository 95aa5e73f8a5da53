// Metrics of the process under their usual Prometheus names, which the OpenTelemetry packages do not use.
import { ValueType } from "@opentelemetry/api"
import { emptyResource } from "@opentelemetry/resources"
import {
  AggregationTemporality,
  type CollectionResult,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from "@opentelemetry/sdk-metrics"
import { collectDefaultMetrics, Registry } from "prom-client"
import { systemRuntime } from "../core/runtime.ts"

interface Sample {
  readonly metricName?: string
  readonly value: number
  readonly labels: Readonly<Record<string, string | number>>
}

interface Family {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly values: readonly Sample[]
}

const { clock } = systemRuntime()

let shared: Registry | undefined

// The collectors register observers that cannot be removed, so all servers of a process share one set.
function sharedRegistry(): Registry {
  if (shared === undefined) {
    shared = new Registry()
    collectDefaultMetrics({ register: shared })
  }
  return shared
}

type Times = Pick<DataPoint<number>, "startTime" | "endTime">

const hrTime = (ms: number): Times["endTime"] => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1_000_000)]

const startTime = hrTime(clock.now() - process.uptime() * 1_000)

export const processMetrics: MetricProducer = {
  async collect(): Promise<CollectionResult> {
    const families = (await sharedRegistry().getMetricsAsJSON()) as unknown as readonly Family[]
    const times = { startTime, endTime: hrTime(clock.now()) }
    const metrics = families.flatMap((family) => toMetricData(family, times))
    return {
      resourceMetrics: { resource: emptyResource(), scopeMetrics: [{ scope: { name: "chancery.process" }, metrics }] },
      errors: [],
    }
  },
}

/** Leaves out series without a value. */
function toMetricData({ name, help, type, values }: Family, times: Times): readonly MetricData[] {
  const samples = values.filter(({ value }) => !Number.isNaN(value))
  if (samples.length === 0) return []
  const common = {
    descriptor: { name, description: help, unit: "", valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  if (type === "histogram")
    return [{ ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints: toHistograms(name, samples, times) }]
  const dataPoints = samples.map(({ labels, value }) => ({ ...times, attributes: labels, value }))
  return type === "counter"
    ? [{ ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }]
    : [{ ...common, dataPointType: DataPointType.GAUGE, dataPoints }]
}

/** Prometheus buckets are cumulative; OpenTelemetry buckets are not. */
function toHistograms(name: string, samples: readonly Sample[], times: Times): DataPoint<Histogram>[] {
  const series = Map.groupBy(samples, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels))
  return Array.from(series, ([key, own]) => {
    const valueOf = (suffix: string) => own.find(({ metricName }) => metricName === `${name}${suffix}`)?.value ?? 0
    const buckets = own.filter(({ metricName }) => metricName === `${name}_bucket`)
    return {
      ...times,
      attributes: JSON.parse(key) as Record<string, string>,
      value: {
        buckets: {
          boundaries: buckets.map(({ labels: { le } }) => Number(le)).filter(Number.isFinite),
          counts: buckets.map(({ value }, index) => value - (buckets[index - 1]?.value ?? 0)),
        },
        sum: valueOf("_sum"),
        count: valueOf("_count"),
      },
    }
  })
}
