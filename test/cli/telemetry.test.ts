// A server with the standard variables of OpenTelemetry, and a collector.
import { request } from "undici"
import { expect, test } from "vitest"
import { startOtlpReceiver } from "../../engine/testing/otlp-receiver.ts"
import { typedPage } from "../documents/typed-page.ts"
import { run, serve, temporaryFolder } from "./chancery.ts"

const guide = typedPage(import.meta.url, "docs/operations.md")

test("a server with a collector exports the rest when it stops, and logs the trace id", async () => {
  await using folder = await temporaryFolder()
  await using receiver = await startOtlpReceiver()
  await using served = await serve(["serve", "--data", folder.path], {
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_HEADERS: "x-api-key=sesame",
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
    },
  })
  const answer = await request(`${served.url}/api/v2/account/details`)
  expect(answer.statusCode).toBe(401)
  served.child.kill("SIGTERM")
  const { code, stderr } = await served.ended
  expect(code).toBe(0)
  expect(receiver.exports.map(({ headers }) => headers["x-api-key"])).toContain("sesame")
  const [span] = receiver.spans().filter(({ name }) => name === "GET /api/v2/account/details")
  expect(span?.attributes["http.response.status_code"]).toBe(401)
  expect(span?.resource).toMatchObject({ "service.name": "chancery", "deployment.environment.name": "test" })
  expect(span?.resource["service.instance.id"]).toMatch(/^[0-9a-f-]{36}$/)
  const line = stderr
    .split("\n")
    .filter((text) => text.includes('"event":"request"'))
    .map((text) => JSON.parse(text) as { readonly route?: string; readonly traceId?: string })
    .find(({ route }) => route === "/api/v2/account/details")
  expect(line?.traceId).toBe(span?.traceId)
  // Probes come every few seconds and carry no information.
  expect(receiver.spans().map(({ name }) => name)).not.toContain("GET /readyz")
  expect([...receiver.metrics().keys()]).toContain("chancery_http_request_duration_seconds")
})

test("the default protocol is protocol buffers, and a missing collector does not delay requests", async () => {
  await using folder = await temporaryFolder()
  await using receiver = await startOtlpReceiver()
  await using served = await serve(["serve", "--data", folder.path, "--otlp-endpoint", receiver.url])
  await (await request(`${served.url}/api/v2/account/details`)).body.dump()
  served.child.kill("SIGTERM")
  expect((await served.ended).code).toBe(0)
  const traces = receiver.exports.filter(({ path }) => path === "/v1/traces")
  expect(new Set(traces.map(({ headers }) => headers["content-type"]))).toEqual(new Set(["application/x-protobuf"]))
  // In addition to the spans of jobs.
  expect(traces.flatMap(({ octets }) => spanNames(octets))).toContain("GET /api/v2/account/details")
  await receiver[Symbol.asyncDispose]()

  await using alone = await serve(["serve", "--data", folder.path, "--otlp-endpoint", receiver.url])
  expect((await request(`${alone.url}/api/v2/account/details`)).statusCode).toBe(401)
  alone.child.kill("SIGTERM")
  expect((await alone.ended).code).toBe(0)
})

test("the documented collector gets data with the documented command", async () => {
  await using folder = await temporaryFolder()
  await using receiver = await startOtlpReceiver()
  const words = guide.block("Tracing").words().slice(1)
  const flags = words.map((word) => word.replace("http://127.0.0.1:4318", receiver.url))
  expect(flags).not.toEqual(words)
  await using served = await serve([...flags, "--data", folder.path])
  await (await request(`${served.url}/api/v2/account/details`)).body.dump()
  served.child.kill("SIGTERM")
  expect((await served.ended).code).toBe(0)
  expect(receiver.exports.map(({ path }) => path)).toContain("/v1/traces")
})

test("an invalid variable ends the command before it serves, with one sentence and exit code 78", async () => {
  await using folder = await temporaryFolder()
  const { code, stderr } = await run(["serve", "--data", folder.path, "--otlp-endpoint", "http://127.0.0.1:4318"], {
    environment: { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
  })
  expect(code).toBe(78)
  expect(stderr).toContain(
    'The variable OTEL_EXPORTER_OTLP_PROTOCOL cannot be "grpc"; it must be one of http/protobuf, http/json.',
  )
})

/**
 * Returns the names of root spans. Field numbers: resource_spans 1, scope_spans 2, spans 2, name 5; spans with a parent_span_id (4) are
 * left out.
 */
function spanNames(octets: Uint8Array): readonly string[] {
  return fields(octets, 1)
    .flatMap((resourceSpans) => fields(resourceSpans, 2))
    .flatMap((scopeSpans) => fields(scopeSpans, 2))
    .filter((span) => fields(span, 4).every((parent) => parent.length === 0))
    .map((span) => Buffer.from(fields(span, 5)[0] ?? []).toString("utf8"))
}

/** Returns the contents of a message's length-delimited fields with this number. */
function fields(octets: Uint8Array, wanted: number): readonly Uint8Array[] {
  const found: Uint8Array[] = []
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const octet = octets[at] ?? 0
      at += 1
      value += (octet & 0x7f) * 2 ** shift
      if (octet < 0x80) return value
    }
  }
  while (at < octets.length) {
    const key = varint()
    const [number, type] = [Math.floor(key / 8), key % 8]
    if (type === 0) varint()
    else if (type === 1) at += 8
    else if (type === 5) at += 4
    else {
      const length = varint()
      if (number === wanted) found.push(octets.subarray(at, at + length))
      at += length
    }
  }
  return found
}
