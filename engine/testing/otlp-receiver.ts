// A collector for tests: a real HTTP server that decodes OTLP in JSON, and keeps other encodings as bytes.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { gunzipSync } from "node:zlib"

export interface SeenSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number
  readonly attributes: Readonly<Record<string, unknown>>
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  /** 0 unset, 2 error. */
  readonly status: number
  readonly resource: Readonly<Record<string, unknown>>
}

export interface SeenExport {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly octets: Uint8Array
}

export interface OtlpReceiver extends AsyncDisposable {
  readonly url: string
  readonly exports: readonly SeenExport[]
  /** Returns all spans received so far. */
  spans(): readonly SeenSpan[]
  /** Returns the metrics of the last export by name. Loosely typed, because tests read members at any depth. */
  // oxlint-disable-next-line typescript/no-explicit-any
  metrics(): ReadonlyMap<string, any>
  answerWith(answer: (response: ServerResponse) => void): void
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const exports: SeenExport[] = []
  let answer: Parameters<OtlpReceiver["answerWith"]>[0] = (response) =>
    void response.writeHead(200, { "content-type": "application/json" }).end("{}")
  const server = createServer((request, response) => {
    const pieces: Uint8Array[] = []
    request.on("data", (piece: Uint8Array) => pieces.push(piece))
    request.on("end", () => {
      const body = Buffer.concat(pieces)
      const octets = request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body
      exports.push({ path: request.url ?? "", headers: request.headers, octets })
      answer(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    exports,
    spans: () => exports.filter(({ path }) => path.endsWith("/v1/traces")).flatMap(spansOf),
    metrics() {
      const last = exports.findLast(({ path }) => path.endsWith("/v1/metrics"))
      const document = last && documentOf(last)
      const metrics = document?.resourceMetrics[0].scopeMetrics.flatMap((scope: Json) => scope.metrics) ?? []
      return new Map(metrics.map((metric: Json) => [metric.name, metric]))
    },
    answerWith(next) {
      answer = next
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

const documentOf = ({ octets }: SeenExport): Json => JSON.parse(Buffer.from(octets).toString("utf8"))

const spansOf = (seen: SeenExport): readonly SeenSpan[] =>
  documentOf(seen).resourceSpans.flatMap(({ resource, scopeSpans }: Json) =>
    scopeSpans.flatMap(({ spans }: Json) =>
      spans.map((span: Json): SeenSpan => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        name: span.name,
        kind: span.kind,
        attributes: otlpAttributes(span.attributes),
        links: span.links ?? [],
        status: span.status?.code ?? 0,
        resource: otlpAttributes(resource.attributes),
      })),
    ),
  )

export const otlpAttributes = (
  attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[] = [],
): Record<string, unknown> => Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
