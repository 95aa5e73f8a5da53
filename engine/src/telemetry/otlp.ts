// Traces and metrics over OTLP. Only this folder imports the OpenTelemetry SDK, and this file is imported only if OTLP is configured.
// Nothing is registered globally, so that two servers in one process have separate telemetry.
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
  /** Traces are not sent if this is left out. */
  readonly traces?: Destination & {
    readonly sampler: Sampling
    readonly batch?: BatchBounds
  }
  readonly metrics?: Destination & { readonly intervalMs: number }
  /** Attributes of the sender, such as `service.name`. */
  readonly resource: Readonly<Record<string, string>>
  readonly release: string
  readonly log: Log
  /** Milliseconds that the last export may take at the end. */
  readonly timeoutMs?: number
}

export interface Destination {
  /** Whole URL, such as `http://127.0.0.1:4318/v1/traces`. Headers and certificates come from the environment variables of the library. */
  readonly url: string
  readonly protocol: "http/protobuf" | "http/json"
}

export interface Sampling {
  /** True to record a request with a trace context if and only if that trace is sampled. */
  readonly followsParent: boolean
  /** Share of the traces begun here that are recorded, from 0 to 1. */
  readonly ratio: number
}

/** Bounds of the export queue. Spans beyond it are dropped. */
export interface BatchBounds {
  readonly maxQueue?: number
  readonly maxExport?: number
  readonly delayMs?: number
}

export interface Telemetry extends AsyncDisposable {
  /** Undefined if no traces are sent. */
  readonly tracer: Tracer | undefined
  /** Exports these metrics at intervals, and once more when disposed. Does nothing if no metrics are sent. */
  measure(metrics: CollectedMetrics): AsyncDisposable
}

type CollectedMetrics = Pick<ServerMetrics, "collect">

const defaultTimeoutMs = 5_000

export function openOtlp({ traces, metrics, resource: attributes, release, log, timeoutMs }: OtlpOptions): Telemetry {
  const resource = resourceFromAttributes(attributes)
  const ended = (ending: Promise<void>) => inTime(ending, timeoutMs ?? defaultTimeoutMs)
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

/** Returns a collector that logs the first failure to read metrics, and again only after a success. */
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

const boundsOf = ({ maxQueue, maxExport, delayMs }: BatchBounds = {}) => ({
  ...(maxQueue === undefined ? {} : { maxQueueSize: maxQueue }),
  ...(maxExport === undefined ? {} : { maxExportBatchSize: maxExport }),
  ...(delayMs === undefined ? {} : { scheduledDelayMillis: delayMs }),
})

const traceExporter = ({ protocol, url }: Destination): SpanExporter =>
  protocol === "http/json" ? new JsonTraceExporter({ url }) : new ProtobufTraceExporter({ url })

const metricExporter = ({ protocol, url }: Destination): PushMetricExporter =>
  protocol === "http/json" ? new JsonMetricExporter({ url }) : new ProtobufMetricExporter({ url })

/**
 * Logs once when exports fail, and once when they succeed again. Batches that cannot be sent are dropped, so that nothing waits for the
 * collector.
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
          advice: "rejected data is dropped; no request waits for the export",
        })
      if (!hasFailed && isFailing) log.info("telemetry-sent-again", { what })
      isFailing = hasFailed
      // Reports success, because the library would log the error again in its own format.
      settled({ code: 0 })
    })
  return Object.assign(exporter, { export: watched })
}

interface ExportResult {
  readonly code: number
  readonly error?: Error
}

/** Waits for the end for at most `timeoutMs`, so that an unresponsive collector does not delay the shutdown. */
async function inTime(ending: Promise<void>, timeoutMs: number): Promise<void> {
  const timer = new AbortController()
  const late = sleep(timeoutMs, undefined, { signal: timer.signal }).catch(() => undefined)
  try {
    await Promise.race([ending.catch(() => undefined), late])
  } finally {
    timer.abort()
  }
}
