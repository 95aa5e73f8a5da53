// One meter for a server. Prometheus and OTLP read the same instruments.
import type { Meter } from "@opentelemetry/api"
import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus"
import { emptyResource } from "@opentelemetry/resources"
import {
  AggregationTemporality,
  type CollectionResult,
  InstrumentType,
  MeterProvider,
  MetricReader,
} from "@opentelemetry/sdk-metrics"
import type { Metrics } from "../core/metrics.ts"
import { processMetrics } from "./process-metrics.ts"

/**
 * Every label value comes from a bounded set. The SDK's own limit of 2,000 series is less than the routes and statuses of a busy server.
 */
const maxSeriesPerInstrument = 100_000

class PullReader extends MetricReader {
  constructor() {
    super({
      // The SDK reports a series of an observable gauge for as long as the process runs (cumulative), or once for each observation
      // (delta). Gauges of removed issuers and roles must end.
      aggregationTemporalitySelector: (type) =>
        type === InstrumentType.OBSERVABLE_GAUGE ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE,
      cardinalitySelector: () => maxSeriesPerInstrument,
      metricProducers: [processMetrics],
    })
  }

  protected onForceFlush(): Promise<void> {
    return Promise.resolve()
  }

  protected onShutdown(): Promise<void> {
    return Promise.resolve()
  }
}

export class ServerMetrics implements Metrics {
  readonly meter: Meter
  readonly #reader = new PullReader()
  readonly #serializer = new PrometheusSerializer(undefined, false, undefined, true, true)
  #collecting: Promise<CollectionResult> | undefined

  constructor(release: string) {
    this.meter = new MeterProvider({ resource: emptyResource(), readers: [this.#reader] }).getMeter("chancery", release)
  }

  /** Reads all instruments. Concurrent callers share one result, because a delta is reported only once. */
  collect(): Promise<CollectionResult> {
    return (this.#collecting ??= this.#reader.collect().finally(() => (this.#collecting = undefined)))
  }

  async expose(): Promise<{ readonly contentType: string; readonly text: string }> {
    const { resourceMetrics } = await this.collect()
    return {
      contentType: "text/plain; version=0.0.4; charset=utf-8",
      text: this.#serializer.serialize(resourceMetrics),
    }
  }
}

export const createMetrics = (release = ""): ServerMetrics => new ServerMetrics(release)
