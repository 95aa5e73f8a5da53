// Traces and metrics over OTLP. Only this folder knows the SDK of OpenTelemetry, and this file is loaded only where it is asked for.
// Nothing here is registered with the process: two servers in one are two of these.
import { AsyncLocalStorage } from "node:async_hooks"
import { setTimeout as sleep } from "node:timers/promises"
import { OTLPMetricExporter as JsonMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http"
import { OTLPMetricExporter as ProtobufMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto"
import { OTLPTraceExporter as JsonTraceExporter } from "@opentelemetry/exporter-trace-otlp-http"
import { OTLPTraceExporter as ProtobufTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto"
import { type Resource, resourceFromAttributes } from "@opentelemetry/resources"
import {
  type CollectionResult,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from "@opentelemetry/sdk-metrics"
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace"
import type { Log } from "../core/runtime.ts"
import type { Tracer } from "../core/tracing.ts"
import type { ServerMetrics } from "./metrics.ts"
import { OtlpTracer } from "./otlp-tracer.ts"

export interface OtlpOptions {
  /** None are sent without it. */
  readonly traces?: Destination & {
    readonly sampler: Sampling
    readonly batch?: BatchBounds
  }
  readonly metrics?: Destination & { readonly intervalMs: number }
  /** Who sends: `service.name` and the like. */
  readonly resource: Readonly<Record<string, string>>
  readonly release: string
  readonly log: Log
  /** How long what is left may take to be sent in the end. */
  readonly patienceMs?: number
}

export interface Destination {
  /** Whole, such as `http://127.0.0.1:4318/v1/traces`. Headers and certificates for it are in the library's own variables. */
  readonly url: string
  readonly protocol: "http/protobuf" | "http/json"
}

export interface Sampling {
  /** Whether a request that comes with a trace is recorded if and only if that is. */
  readonly followsParent: boolean
  /** Of those that begin here, from 0 to 1. */
  readonly ratio: number
}

/** What is beyond the queue is dropped. */
export interface BatchBounds {
  readonly queueMaximum?: number
  readonly exportMaximum?: number
  readonly delayMs?: number
}

export interface Telemetry extends AsyncDisposable {
  /** Undefined where no traces are sent. */
  readonly tracer: Tracer | undefined
  /** Sends what these tell from now on, at intervals and once more when it ends. Nothing where no metrics are sent. */
  measure(metrics: CollectedMetrics): AsyncDisposable
}

type CollectedMetrics = Pick<ServerMetrics, "collect">

const defaultPatienceMs = 5_000

export function openOtlp({ traces, metrics, resource: attributes, release, log, patienceMs }: OtlpOptions): Telemetry {
  const resource = resourceFromAttributes(attributes)
  const ended = (ending: Promise<void>) => inTime(ending, patienceMs ?? defaultPatienceMs)
  const provider =
    traces &&
    new TracerProvider({
      resource,
      sampler: samplerOf(traces.sampler),
      spanProcessors: [
        new BatchSpanProcessor({
          exporter: outspoken(traceExporter(traces), "traces", traces.url, log),
          ...boundsOf(traces.batch),
        }),
      ],
    })
  return {
    tracer: provider && new OtlpTracer(provider.getTracer("chancery", release), new AsyncLocalStorage()),
    measure(source) {
      if (metrics === undefined) return { [Symbol.asyncDispose]: () => Promise.resolve() }
      const reader = new PeriodicExportingMetricReader({
        exporter: outspoken(metricExporter(metrics), "metrics", metrics.url, log),
        exportIntervalMillis: metrics.intervalMs,
      })
      reader.setMetricProducer({ collect: collector(source, resource, log) })
      return { [Symbol.asyncDispose]: () => ended(reader.shutdown()) }
    },
    [Symbol.asyncDispose]: () => ended(provider?.shutdown() ?? Promise.resolve()),
  }
}

/** Logs once that metrics cannot be read, and again after they could. */
function collector(source: CollectedMetrics, resource: Resource, log: Log): () => Promise<CollectionResult> {
  let isFailing = false
  const warn = (error: unknown) => {
    if (!isFailing) log.warn("metrics-not-read", { error })
    isFailing = true
  }
  return async () => {
    try {
      const { resourceMetrics, errors } = await source.collect()
      if (errors.length > 0) warn(errors[0])
      else isFailing = false
      return { resourceMetrics: { ...resourceMetrics, resource }, errors: [] }
    } catch (error) {
      warn(error)
      // Without a scope nothing is sent: an empty message would mean that there are no metrics any more.
      return { resourceMetrics: { resource, scopeMetrics: [] }, errors: [] }
    }
  }
}

function samplerOf({ followsParent, ratio }: Sampling): Sampler {
  const own =
    ratio === 1 ? new AlwaysOnSampler() : ratio === 0 ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio)
  return followsParent ? new ParentBasedSampler({ root: own }) : own
}

const boundsOf = ({ queueMaximum, exportMaximum, delayMs }: BatchBounds = {}) => ({
  ...(queueMaximum === undefined ? {} : { maxQueueSize: queueMaximum }),
  ...(exportMaximum === undefined ? {} : { maxExportBatchSize: exportMaximum }),
  ...(delayMs === undefined ? {} : { scheduledDelayMillis: delayMs }),
})

const traceExporter = ({ protocol, url }: Destination): SpanExporter =>
  protocol === "http/json" ? new JsonTraceExporter({ url }) : new ProtobufTraceExporter({ url })

const metricExporter = ({ protocol, url }: Destination): PushMetricExporter =>
  protocol === "http/json" ? new JsonMetricExporter({ url }) : new ProtobufMetricExporter({ url })

/**
 * Says once that nothing arrives, and once that it does again. What could not be sent is lost: whoever waits for it, nobody
 * may wait for.
 */
function outspoken<Exporter extends SpanExporter | PushMetricExporter>(
  exporter: Exporter,
  what: "traces" | "metrics",
  url: string,
  log: Log,
): Exporter {
  let isFailing = false
  const send = exporter.export.bind(exporter) as (batch: unknown, settled: (result: ExportResult) => void) => void
  const watched: typeof send = (batch, settled) =>
    send(batch, (result) => {
      const hasFailed = result.code !== 0
      if (hasFailed && !isFailing)
        log.warn("telemetry-not-sent", {
          what,
          to: URL.parse(url)?.origin,
          reason: result.error?.message,
          advice: "what is not taken is dropped; nothing waits for it",
        })
      if (!hasFailed && isFailing) log.info("telemetry-sent-again", { what })
      isFailing = hasFailed
      // Said already; the library would say it again, in its own way.
      settled({ code: 0 })
    })
  return Object.assign(exporter, { export: watched })
}

interface ExportResult {
  readonly code: number
  readonly error?: Error
}

/** A collector that does not answer holds up no end. */
async function inTime(ending: Promise<void>, patienceMs: number): Promise<void> {
  const timer = new AbortController()
  const late = sleep(patienceMs, undefined, { signal: timer.signal }).catch(() => undefined)
  try {
    await Promise.race([ending.catch(() => undefined), late])
  } finally {
    timer.abort()
  }
}
