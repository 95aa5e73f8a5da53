import { describe, expect, test } from "vitest"
import { CommandError, exitCodes } from "./exit-code.ts"
import { type Environment, telemetryPlan } from "./telemetry.ts"

const plan = (environment: Environment, endpoint?: string) =>
  telemetryPlan({ otlpEndpoint: endpoint === undefined ? undefined : new URL(endpoint) }, environment)

const collector = "http://collector:4318"
const usual = {
  traces: {
    url: `${collector}/v1/traces`,
    protocol: "http/protobuf",
    sampler: { followsParent: true, ratio: 1 },
    batch: {},
  },
  metrics: { url: `${collector}/v1/metrics`, protocol: "http/protobuf", intervalMs: 60_000 },
  resource: { "service.name": "chancery" },
}

test("telemetry is not exported without a destination", () => {
  expect(plan({})).toBe(undefined)
  expect(plan({ OTEL_SERVICE_NAME: "pki", OTEL_TRACES_EXPORTER: "console" })).toBe(undefined)
})

test("traces and metrics are sent to one collector, as OpenTelemetry defines its variables", () => {
  expect(plan({}, collector)).toEqual(usual)
  expect(plan({}, `${collector}/`)).toEqual(usual)
  expect(plan({}, `${collector}/base`)?.traces?.url).toBe(`${collector}/base/v1/traces`)
})

test.each<{ readonly environment: Environment; readonly expected: unknown; readonly why: string }>([
  { environment: { OTEL_SDK_DISABLED: "true" }, expected: undefined, why: "telemetry is off" },
  {
    environment: { OTEL_TRACES_EXPORTER: "none" },
    expected: { metrics: usual.metrics, resource: usual.resource },
    why: "traces are off",
  },
  {
    environment: { OTEL_METRICS_EXPORTER: "prometheus" },
    expected: { traces: usual.traces, resource: usual.resource },
    why: "Prometheus fetches the metrics",
  },
  {
    environment: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://traces.example/in" },
    expected: { ...usual, traces: { ...usual.traces, url: "https://traces.example/in" } },
    why: "traces have a separate URL, used without changes",
  },
  {
    environment: { OTEL_EXPORTER_OTLP_PROTOCOL: "http/json", OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: "http/protobuf" },
    expected: { ...usual, traces: { ...usual.traces, protocol: "http/json" } },
    why: "the variable of one signal takes precedence",
  },
  {
    environment: { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.25" },
    expected: { ...usual, traces: { ...usual.traces, sampler: { followsParent: true, ratio: 0.25 } } },
    why: "one trace in four is sampled",
  },
  {
    environment: { OTEL_TRACES_SAMPLER: "always_off" },
    expected: { ...usual, traces: { ...usual.traces, sampler: { followsParent: false, ratio: 0 } } },
    why: "no trace is sampled",
  },
  {
    environment: {
      OTEL_BSP_MAX_QUEUE_SIZE: "100",
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "10",
      OTEL_BSP_SCHEDULE_DELAY: "1000",
      OTEL_METRIC_EXPORT_INTERVAL: "15000",
    },
    expected: {
      ...usual,
      traces: { ...usual.traces, batch: { maxQueue: 100, maxExport: 10, delayMs: 1_000 } },
      metrics: { ...usual.metrics, intervalMs: 15_000 },
    },
    why: "batch sizes and intervals are set",
  },
  {
    environment: {
      OTEL_RESOURCE_ATTRIBUTES: "service.name=other, deployment.environment.name=staging%2C2,",
      OTEL_SERVICE_NAME: "pki",
    },
    expected: { ...usual, resource: { "service.name": "pki", "deployment.environment.name": "staging,2" } },
    why: "resource attributes are set",
  },
  {
    environment: { OTEL_TRACES_SAMPLER: "", OTEL_EXPORTER_OTLP_PROTOCOL: " " },
    expected: usual,
    why: "an empty variable counts as unset",
  },
])("with $environment: $why", ({ environment, expected }) => {
  expect(plan(environment, collector)).toEqual(expected)
})

test("traces or metrics can be exported alone, to a separate URL", () => {
  expect(plan({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${collector}/v1/metrics` })).toEqual({
    metrics: usual.metrics,
    resource: usual.resource,
  })
})

describe("an invalid variable is rejected by name", () => {
  const refusal = (environment: Environment): CommandError => {
    try {
      plan(environment, collector)
    } catch (error) {
      if (error instanceof CommandError) return error
      throw error
    }
    throw new Error("nothing was refused")
  }
  test.each([
    { name: "OTEL_EXPORTER_OTLP_PROTOCOL", value: "grpc", must: "one of http/protobuf, http/json" },
    { name: "OTEL_TRACES_EXPORTER", value: "zipkin", must: "one of otlp, none, prometheus" },
    { name: "OTEL_TRACES_SAMPLER", value: "sometimes", must: "one of always_on," },
    { name: "OTEL_METRIC_EXPORT_INTERVAL", value: "often", must: "a number from 1 to 3600000" },
    { name: "OTEL_BSP_MAX_QUEUE_SIZE", value: "0", must: "a number from 1 to 1000000" },
  ])("$name=$value", ({ name, value, must }) => {
    const { exitCode, message } = refusal({ [name]: value })
    expect(exitCode).toBe(exitCodes.configuration)
    expect(message).toContain(`The variable ${name} cannot be ${JSON.stringify(value)}; it must be ${must}`)
  })

  test("values that may contain a password are not repeated", () => {
    const { message } = refusal({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "grpc://user:hunter2@collector",
      OTEL_RESOURCE_ATTRIBUTES: "hunter2",
    })
    expect(message).toBe(
      [
        "The variable OTEL_EXPORTER_OTLP_TRACES_ENDPOINT cannot be the given value; it must be an http or https URL, such as http://127.0.0.1:4318/v1/traces.",
        "The variable OTEL_RESOURCE_ATTRIBUTES cannot be the given value; it must be pairs such as deployment.environment.name=staging,team=platform.",
      ].join("\n"),
    )
  })
})
