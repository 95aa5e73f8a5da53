// Everything around the app that is the same for every request: its id, the rate limit, metrics, the access log and the
// probes. It runs on every request, so each piece is a plain call and not a chain of wrappers.
import { isEngineError, isStoreFull } from "../../core/errors.ts"
import { logFailure } from "../../core/failure-log.ts"
import type { Metrics } from "../../core/metrics.ts"
import type { Runtime } from "../../core/runtime.ts"
import { during, type Span } from "../../core/tracing.ts"
import { serviceTokenIn, tokenIn } from "./authenticate.ts"
import { clientAddressOf, type ProxyHeader, type TrustedProxies } from "./client-address.ts"
import { type App, type Exchange, isPkiPath, pathOf, requestIdOf, type Serve } from "./exchange.ts"
import { type HttpRequest, type HttpResponse, respond } from "./message.ts"
import type { Allowance, RateLimiter } from "./rate-limit.ts"
import { refusal } from "./responses.ts"
import { createRequestMetrics } from "./request-metrics.ts"

export interface FrontOptions {
  readonly app: App
  readonly runtime: Runtime
  readonly metrics: Metrics
  readonly rateLimiter: RateLimiter | undefined
  readonly accessLog: "off" | "debug" | "info"
  /** Whose word counts for where a request came from; nobody's unless given. */
  readonly proxies?: { readonly trusted: TrustedProxies; readonly header: ProxyHeader } | undefined
  /** Resolves when the store answers; rejects with the reason why it does not. */
  readonly ready: () => Promise<void>
  readonly draining: () => boolean
  /** `/metrics` has a listener of its own and is no path of this one. */
  readonly metricsApart?: boolean
  /** Milliseconds with fractions, for durations only. */
  readonly stopwatch: () => number
}

export function createFront(options: FrontOptions): Serve {
  const { runtime, accessLog, stopwatch, proxies } = options
  const requestMetrics = createRequestMetrics(options.metrics.meter)

  const serve = async (request: HttpRequest, span?: Span): Promise<HttpResponse> => {
    const began = stopwatch()
    requestMetrics.begin()
    const peer = request.remoteAddress
    const remoteAddress = proxies === undefined ? peer : clientAddressOf(peer, request.headers, proxies)
    const exchange: Exchange = {
      requestId: requestIdOf(request.headers.get("x-request-id"), runtime.random),
      remoteAddress,
      route: undefined,
    }
    const path = pathOf(request.url)

    const added: Record<string, string> = { "x-request-id": exchange.requestId }
    let response: HttpResponse
    try {
      response = await answer(options, request, { path, exchange, added })
    } catch (error) {
      runtime.log.error("request failed", { requestId: exchange.requestId, method: request.method, error })
      response = refusal(path, 500, "internal error", "The server could not complete the request.")
    }

    const durationMs = stopwatch() - began
    requestMetrics.end({ method: request.method, route: exchange.route, status: response.status, durationMs })
    if (span?.isRecorded === true) describe(span, request, path, exchange, response.status)
    if (accessLog !== "off") {
      // Probes come every few seconds and say nothing new.
      const level = probeAt(path) !== undefined ? "debug" : accessLog
      // The path without its query: searches and signed links may hold what a log must not.
      runtime.log[level]("request", {
        requestId: exchange.requestId,
        method: request.method,
        path: exchange.secretPath === true ? undefined : path,
        route: exchange.route,
        status: response.status,
        durationMs: Math.round(durationMs * 1000) / 1000,
        remoteAddress,
      })
    }
    return { ...response, headers: { ...added, ...response.headers } }
  }

  const { tracer } = runtime
  if (tracer === undefined) return serve
  return (request) => {
    // Probes come every few seconds and say nothing new.
    if (probeAt(pathOf(request.url)) !== undefined) return serve(request)
    const span = tracer.root(request.method, {
      kind: "server",
      headers: request.headers,
      attributes: { "http.request.method": request.method },
    })
    return during(tracer, span, () => serve(request, span))
  }
}

/** By what the access log tells of it as well: a path that is itself a credential, and every query, stay unsaid. */
function describe(span: Span, { method, url }: HttpRequest, path: string, exchange: Exchange, status: number): void {
  const { route, secretPath, remoteAddress, requestId } = exchange
  if (route !== undefined) span.rename(`${method} ${route}`)
  span.set({
    "http.route": route,
    "url.path": secretPath === true ? undefined : path,
    "url.scheme": url.startsWith("https:") ? "https" : "http",
    "http.response.status_code": status,
    "client.address": remoteAddress,
    "chancery.request_id": requestId,
  })
  if (status >= 500) span.fail(new FailedAnswer(status))
}

/** What the server's side of a request failed with is its status (semantic conventions for HTTP). */
class FailedAnswer extends Error {
  constructor(status: number) {
    super(`answered ${status}`)
    this.name = String(status)
  }
}

async function answer(
  options: FrontOptions,
  request: HttpRequest,
  { path, exchange, added }: { path: string; exchange: Exchange; added: Record<string, string> },
): Promise<HttpResponse> {
  const probe = options.metricsApart === true && path === metricsPath ? undefined : probeAt(path)
  if (probe !== undefined && (request.method === "GET" || request.method === "HEAD")) {
    exchange.route = path
    return probe(options)
  }

  const { rateLimiter, runtime } = options
  const credential = rateLimiter === undefined ? undefined : credentialOf(request, path, runtime)
  if (rateLimiter !== undefined) {
    const address = exchange.remoteAddress ?? "local"
    const allowance = rateLimiter.charge({ credential, address, now: runtime.clock.now() })
    Object.assign(added, allowanceHeaders(allowance))
    if (!allowance.allowed) {
      added["retry-after"] = "1"
      return refusal(path, 429, "Too many requests", "You have exceeded the API's rate limit.")
    }
  }

  const response = await options.app.handle(request, exchange)
  if (rateLimiter !== undefined && credential !== undefined && exchange.authenticated === true) {
    rateLimiter.prove(credential, runtime.clock.now())
  }
  return response
}

/** What a listener for metrics alone answers. */
export function createMetricsFront(metrics: Metrics): Serve {
  return async ({ method, url }) => {
    const path = pathOf(url)
    if (path !== metricsPath) return refusal(path, 404, "not found", `Only ${metricsPath} is served here.`)
    if (method === "GET" || method === "HEAD") return exposition({ metrics })
    return refusal(path, 405, "method not allowed", `${metricsPath} can only be read.`)
  }
}

const metricsPath = "/metrics"

type Probe = (options: FrontOptions) => HttpResponse | Promise<HttpResponse>

/** Most paths are longer, and each another: to look one up in a map has V8 keep it among all names that it knows. */
const probeAt = (path: string): Probe | undefined => (path.length <= longestProbe ? probes.get(path) : undefined)

const probes: ReadonlyMap<string, Probe> = new Map<string, Probe>([
  ["/healthz", () => plain(200, "ok")],
  ["/readyz", readiness],
  [metricsPath, exposition],
])

const longestProbe = Math.max(...Array.from(probes.keys(), (path) => path.length))

async function exposition({ metrics }: Pick<FrontOptions, "metrics">): Promise<HttpResponse> {
  const { contentType, text } = await metrics.expose()
  return respond(text, { headers: { "content-type": contentType } })
}

async function readiness({ ready, draining, runtime }: FrontOptions): Promise<HttpResponse> {
  if (draining()) return plain(503, "shutting down")
  try {
    await ready()
    return plain(200, "ok")
  } catch (error) {
    logFailure(runtime.log, "warn", "not ready", { error })
    return plain(
      503,
      isEngineError(error, "out-of-service") || isStoreFull(error) ? error.message : "the store does not answer",
    )
  }
}

const plain = (status: number, text: string): HttpResponse =>
  respond(`${text}\n`, { status, headers: { "content-type": "text/plain; charset=utf-8" } })

/**
 * The token that the API at this path looks at, so that none beside it earns a bucket. Not the header that it stands in: in
 * `Authorization` one token can be spelt in many ways, each of which would be another allowance.
 */
function credentialOf({ headers }: HttpRequest, path: string, runtime: Runtime): string | undefined {
  const token = isPkiPath(path) ? serviceTokenIn(headers) : tokenIn(headers.get("authorization"))
  return token === undefined ? undefined : runtime.digest(token)
}

const allowanceHeaders = ({ limit, remaining, resetSeconds }: Allowance): Readonly<Record<string, string>> => ({
  "x-ratelimit-limit": String(limit),
  "x-ratelimit-remaining": String(remaining),
  "x-ratelimit-reset": String(resetSeconds),
})
