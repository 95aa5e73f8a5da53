// What `/metrics` tells, for OTLP: one registry with two doors, so that names and values cannot differ.
import { type HrTime, ValueType } from "@opentelemetry/api"
import type { Resource } from "@opentelemetry/resources"
import {
  AggregationTemporality,
  type CollectionResult,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from "@opentelemetry/sdk-metrics"
import type { MetricFamily, MetricSample } from "../core/metric-family.ts"
import { type Log, systemRuntime } from "../core/runtime.ts"

export class FamilyProducer implements MetricProducer {
  readonly #read: () => Promise<readonly MetricFamily[]>
  readonly #release: string
  readonly #resource: Resource
  readonly #log: Log
  #isFailing = false
  readonly #clock = systemRuntime().clock
  /** Counters count from here on, or from earlier in this process; collectors take a smaller number for a new beginning. */
  readonly #startTime: HrTime = hrTime(this.#clock.now())

  constructor(read: () => Promise<readonly MetricFamily[]>, { release, resource, log }: ProducerOptions) {
    this.#read = read
    this.#release = release
    this.#resource = resource
    this.#log = log
  }

  async collect(): Promise<CollectionResult> {
    const times = { startTime: this.#startTime, endTime: hrTime(this.#clock.now()) }
    const metrics = await this.#metrics(times)
    // Where there is no scope nothing is sent: an empty one would say that there are no metrics any more.
    const scopeMetrics =
      metrics === undefined ? [] : [{ scope: { name: "chancery", version: this.#release }, metrics: [...metrics] }]
    return { resourceMetrics: { resource: this.#resource, scopeMetrics }, errors: [] }
  }

  async #metrics(times: Times): Promise<readonly MetricData[] | undefined> {
    try {
      const families = await this.#read()
      this.#isFailing = false
      return families.flatMap((family) => metricsOf(family, times))
    } catch (error) {
      if (!this.#isFailing) this.#log.warn("metrics-not-read", { error })
      this.#isFailing = true
      return undefined
    }
  }
}

interface ProducerOptions {
  readonly release: string
  readonly resource: Resource
  readonly log: Log
}

interface Times {
  readonly startTime: HrTime
  readonly endTime: HrTime
}

const hrTime = (ms: number): HrTime => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1_000_000)]

/** Without what has no value yet. */
function metricsOf(family: MetricFamily, times: Times): readonly MetricData[] {
  const samples = family.samples.filter(({ value }) => !Number.isNaN(value))
  if (samples.length === 0) return []
  const around = {
    // The names say their unit already, as Prometheus has it.
    descriptor: { name: family.name, description: family.help, unit: "", valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  switch (family.type) {
    case "counter":
      return [{ ...around, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: pointsOf(samples, times) }]
    case "histogram":
      return [{ ...around, dataPointType: DataPointType.HISTOGRAM, dataPoints: histogramsOf(family, times) }]
    // The metrics library has no summaries of its own to send on: each of their series is a number that changes.
    case "summary":
    case "gauge":
      return Object.entries(Object.groupBy(samples, ({ name }) => name)).map(([name, own = []]) => ({
        ...around,
        descriptor: { ...around.descriptor, name },
        dataPointType: DataPointType.GAUGE,
        dataPoints: pointsOf(own, times),
      }))
    default:
      return family.type satisfies never
  }
}

const pointsOf = (samples: readonly MetricSample[], times: Times): DataPoint<number>[] =>
  samples.map(({ labels, value }) => ({ ...times, attributes: attributesOf(labels), value }))

const attributesOf = ({ le: _, ...labels }: MetricSample["labels"]): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]))

/** Prometheus counts in each bucket what is in those below as well; OTLP counts it once. */
function histogramsOf({ name, samples }: MetricFamily, times: Times): DataPoint<Histogram>[] {
  const series = Map.groupBy(samples, ({ labels }) => keyOf(attributesOf(labels)))
  return Array.from(series.values(), (own) => {
    const valueOf = (suffix: string) => own.find((sample) => sample.name === `${name}${suffix}`)?.value ?? 0
    const buckets = own
      .filter((sample) => sample.name === `${name}_bucket`)
      .map(({ labels, value }) => ({ bound: boundOf(labels["le"]), value }))
      .toSorted((one, other) => one.bound - other.bound)
    return {
      ...times,
      attributes: attributesOf(own[0]?.labels ?? {}),
      value: {
        buckets: {
          boundaries: buckets.map(({ bound }) => bound).filter(Number.isFinite),
          counts: buckets.map(({ value }, index) => value - (buckets[index - 1]?.value ?? 0)),
        },
        sum: valueOf("_sum"),
        count: valueOf("_count"),
      },
    }
  })
}

const keyOf = (attributes: Readonly<Record<string, string>>): string =>
  JSON.stringify(
    Object.keys(attributes)
      .toSorted()
      .map((name) => [name, attributes[name]]),
  )

const boundOf = (le: string | number | undefined): number =>
  le === undefined || le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le)
