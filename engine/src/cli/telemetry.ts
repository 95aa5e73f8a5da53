// Destinations of traces and metrics, from the settings and from OpenTelemetry's standard variables
// (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/). The exporter itself reads the variables for headers,
// certificates, timeouts and compression.
import { newUuid } from "../core/ids.ts"
import { type Runtime, systemRuntime } from "../core/runtime.ts"
import { minuteMs } from "../core/time.ts"
import { release } from "../server/release.ts"
import type { ServerMetrics } from "../telemetry/metrics.ts"
import type { Destination, OtlpOptions, Sampling } from "../telemetry/otlp.ts"
import { tracedLog } from "../telemetry/traced-log.ts"
import { configurationError } from "./exit-code.ts"
import type { ProcessLog } from "./log.ts"
import type { Settings } from "./settings.ts"

export type Environment = Readonly<Record<string, string | undefined>>

export interface ServerTelemetry extends AsyncDisposable {
  /** The system runtime, with traces of its work if traces are exported. */
  readonly runtime: Runtime
  measure(metrics: Pick<ServerMetrics, "collect">): AsyncDisposable
}

/** Returns undefined if nothing is exported; the exporter is not loaded then. Throws a `CommandError` with all faults. */
export async function openTelemetry(
  settings: Pick<Settings, "otlpEndpoint">,
  environment: Environment,
  log: ProcessLog,
): Promise<ServerTelemetry | undefined> {
  const plan = telemetryPlan(settings, environment)
  if (plan === undefined) return undefined
  const { openOtlp } = await import("../telemetry/otlp.ts")
  const system = systemRuntime(log)
  const { resource, ...rest } = plan
  const telemetry = openOtlp({
    ...rest,
    resource: { "service.version": release, "service.instance.id": newUuid(system.random), ...resource },
    release,
    log,
  })
  const { tracer } = telemetry
  return {
    runtime: tracer === undefined ? system : { ...system, log: tracedLog(log, tracer), tracer },
    measure: (metrics) => telemetry.measure(metrics),
    [Symbol.asyncDispose]: () => telemetry[Symbol.asyncDispose](),
  }
}

export type TelemetryPlan = Pick<OtlpOptions, "traces" | "metrics" | "resource">

/** Returns the destinations of traces and metrics, or undefined if there are none. */
export function telemetryPlan(
  { otlpEndpoint }: Pick<Settings, "otlpEndpoint">,
  environment: Environment,
): TelemetryPlan | undefined {
  const variables = new Variables(environment)
  if (variables.isYes("OTEL_SDK_DISABLED")) return undefined
  const toTraces = destination("traces", otlpEndpoint, variables)
  const toMetrics = destination("metrics", otlpEndpoint, variables)
  if (toTraces === undefined && toMetrics === undefined) {
    variables.rejectFaults()
    return undefined
  }
  const plan = {
    ...(toTraces && { traces: { ...toTraces, sampler: sampling(variables), batch: batch(variables) } }),
    ...(toMetrics && {
      metrics: { ...toMetrics, intervalMs: variables.number("OTEL_METRIC_EXPORT_INTERVAL", 1, hour) ?? minuteMs },
    }),
    resource: resource(variables),
  }
  variables.rejectFaults()
  return plan
}

const hour = 60 * minuteMs

function destination(
  signal: "traces" | "metrics",
  endpoint: URL | undefined,
  variables: Variables,
): Destination | undefined {
  const name = signal.toUpperCase()
  const own = variables.url(`OTEL_EXPORTER_OTLP_${name}_ENDPOINT`)
  const url = own ?? (endpoint && new URL(`${endpoint.pathname.replace(/\/$/, "")}/v1/${signal}`, endpoint))
  if (url === undefined) return undefined
  const exporter = variables.oneOf(`OTEL_${name}_EXPORTER`, ["otlp", "none", "prometheus"]) ?? "otlp"
  // Metrics for Prometheus are always served at `/metrics`.
  if (exporter !== "otlp") return undefined
  const protocol =
    variables.oneOf(`OTEL_EXPORTER_OTLP_${name}_PROTOCOL`, protocols) ??
    variables.oneOf("OTEL_EXPORTER_OTLP_PROTOCOL", protocols) ??
    "http/protobuf"
  return { url: url.href, protocol }
}

const protocols = ["http/protobuf", "http/json"] as const

const samplers: Readonly<Record<string, { readonly followsParent: boolean; readonly ratio: number | "argument" }>> = {
  always_on: { followsParent: false, ratio: 1 },
  always_off: { followsParent: false, ratio: 0 },
  traceidratio: { followsParent: false, ratio: "argument" },
  parentbased_always_on: { followsParent: true, ratio: 1 },
  parentbased_always_off: { followsParent: true, ratio: 0 },
  parentbased_traceidratio: { followsParent: true, ratio: "argument" },
}

function sampling(variables: Variables): Sampling {
  const name = variables.oneOf("OTEL_TRACES_SAMPLER", Object.keys(samplers)) ?? "parentbased_always_on"
  const { followsParent, ratio } = samplers[name] ?? { followsParent: true, ratio: 1 }
  return {
    followsParent,
    ratio: ratio === "argument" ? (variables.number("OTEL_TRACES_SAMPLER_ARG", 0, 1) ?? 1) : ratio,
  }
}

const maxSpans = 1_000_000

function batch(variables: Variables) {
  const maxQueue = variables.number("OTEL_BSP_MAX_QUEUE_SIZE", 1, maxSpans)
  const maxExport = variables.number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 1, maxSpans)
  const delayMs = variables.number("OTEL_BSP_SCHEDULE_DELAY", 1, hour)
  return {
    ...(maxQueue === undefined ? {} : { maxQueue }),
    ...(maxExport === undefined ? {} : { maxExport }),
    ...(delayMs === undefined ? {} : { delayMs }),
  }
}

function resource(variables: Variables): Record<string, string> {
  const name = variables.text("OTEL_SERVICE_NAME")
  return {
    "service.name": "chancery",
    ...variables.pairs("OTEL_RESOURCE_ATTRIBUTES"),
    ...(name === undefined ? {} : { "service.name": name }),
  }
}

/** Reads variables and collects their faults. An empty variable counts as unset, as OpenTelemetry defines it. */
class Variables {
  readonly #environment: Environment
  readonly #faults = new Set<string>()

  constructor(environment: Environment) {
    this.#environment = environment
  }

  text(name: string): string | undefined {
    const text = this.#environment[name]?.trim()
    return text === "" ? undefined : text
  }

  isYes(name: string): boolean {
    return this.text(name)?.toLowerCase() === "true"
  }

  oneOf<const Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    return words.find((word) => word === text) ?? this.#refuse(name, text, `one of ${words.join(", ")}`)
  }

  number(name: string, minimum: number, maximum: number): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const value = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN
    return value >= minimum && value <= maximum
      ? value
      : this.#refuse(name, text, `a number from ${minimum} to ${maximum}`)
  }

  /** The value is not repeated in the fault, because it may contain a password. */
  url(name: string): URL | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const url = URL.parse(text)
    if (url !== null && /^https?:$/.test(url.protocol)) return url
    return this.#refuse(name, undefined, "an http or https URL, such as http://127.0.0.1:4318/v1/traces")
  }

  /** Parses `name=value,name=value`, percent-decoded. */
  pairs(name: string): Record<string, string> {
    const expected = "pairs such as deployment.environment.name=staging,team=platform"
    try {
      return Object.fromEntries(
        (this.text(name) ?? "").split(",").flatMap((pair) => {
          if (pair.trim() === "") return []
          const [, key, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? []
          if (key === undefined || value === undefined) throw new URIError("no pair")
          return [[decodeURIComponent(key), decodeURIComponent(value)]]
        }),
      )
    } catch {
      this.#refuse(name, undefined, expected)
      return {}
    }
  }

  rejectFaults(): void {
    if (this.#faults.size > 0) throw configurationError([...this.#faults].join("\n"))
  }

  #refuse(name: string, text: string | undefined, expected: string): undefined {
    const value = text === undefined ? "the given value" : JSON.stringify(text)
    this.#faults.add(`The variable ${name} cannot be ${value}; it must be ${expected}.`)
    return undefined
  }
}
