// Handles what is common to all requests: request id, rate limit, metrics, access log and probes. It runs on every request, so each part is
// a plain call and not a chain of wrappers.
import type { ClientCertificate } from "../../core/client-certificate.ts"
import { isEngineError, isStoreFull } from "../../core/errors.ts"
import { logFailure } from "../../core/failure-log.ts"
import type { Metrics } from "../../core/metrics.ts"
import type { Runtime } from "../../core/runtime.ts"
import { during, type Span } from "../../core/tracing.ts"
import { serviceTokenIn, tokenIn } from "./authenticate.ts"
import { clientCertificateOf } from "./client-certificate.ts"
import { clientAddressOf, type ProxyHeader, type TrustedProxies } from "./client-address.ts"
import { type App, type Exchange, isDevicePath, isPkiPath, pathOf, requestIdOf, type Serve } from "./exchange.ts"
import { type HttpRequest, type HttpResponse, respond } from "./message.ts"
import type { Allowance, RateLimiter } from "./rate-limit.ts"
import { errorAnswer } from "./responses.ts"
import { createRequestMetrics } from "./request-metrics.ts"

export interface FrontOptions {
  readonly app: App
  readonly runtime: Runtime
  readonly metrics: Metrics
  readonly rateLimiter: RateLimiter | undefined
  readonly accessLog: "off" | "debug" | "info"
  /** Proxies that may report the client's address. Default: none. */
  readonly proxies?: { readonly trusted: TrustedProxies; readonly header: ProxyHeader } | undefined
  /** Resolves if the database answers; otherwise rejects with the reason. */
  readonly ready: () => Promise<void>
  readonly draining: () => boolean
  /** `/metrics` has its own listener and is not served here. */
  readonly metricsApart?: boolean
  /** Returns fractional milliseconds. For durations only. */
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
    const path = pathOf(request.url)
    const certificate = certificateOrFault(request, proxies?.trusted)
    const exchange: Exchange = {
      requestId: requestIdOf(request.headers.get("x-request-id"), runtime.random),
      remoteAddress,
      clientCertificate: typeof certificate === "string" ? undefined : certificate,
      isDevice: request.deviceConnection !== undefined,
      route: undefined,
    }

    const added: Record<string, string> = { "x-request-id": exchange.requestId }
    let response: HttpResponse
    try {
      response =
        typeof certificate === "string"
          ? errorAnswer(path, 400, "bad request", certificate)
          : await answer(options, request, { path, exchange, added })
    } catch (error) {
      runtime.log.error("request failed", { requestId: exchange.requestId, method: request.method, error })
      response = errorAnswer(path, 500, "internal error", "The server could not complete the request.")
    }

    const durationMs = stopwatch() - began
    requestMetrics.end({ method: request.method, route: exchange.route, status: response.status, durationMs })
    if (span?.isRecorded === true) describe(span, request, path, exchange, response.status)
    if (accessLog !== "off") {
      // Probes arrive every few seconds and would fill the log.
      const level = probeAt(path) !== undefined ? "debug" : accessLog
      // The query is omitted: searches and signed links may contain values that must not be logged.
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
    // Probes arrive every few seconds and would fill the traces.
    if (probeAt(pathOf(request.url)) !== undefined) return serve(request)
    const span = tracer.root(request.method, {
      kind: "server",
      headers: request.headers,
      attributes: { "http.request.method": request.method },
    })
    return during(tracer, span, () => serve(request, span))
  }
}

/** Returns the client's certificate, or the error's text if the client or a trusted proxy sent an unusable one. */
function certificateOrFault(
  request: HttpRequest,
  trusted: TrustedProxies | undefined,
): ClientCertificate | string | undefined {
  try {
    return clientCertificateOf(request, trusted)
  } catch (error) {
    if (isEngineError(error, "bad-request")) return error.message
    throw error
  }
}

/** Sets the span's attributes. Like the access log, it omits queries, and paths that are credentials. */
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

/** The error of a server span is its HTTP status (semantic conventions for HTTP). */
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
  const isDevice = exchange.isDevice === true
  if (isDevice && !isDevicePath(path)) return errorAnswer(path, 404, "not found", "Only devices are served here.")
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
      return errorAnswer(path, 429, "Too many requests", "You have exceeded the API's rate limit.")
    }
  }

  const response = await options.app.handle(request, exchange)
  if (rateLimiter !== undefined && credential !== undefined && exchange.authenticated === true) {
    rateLimiter.prove(credential, runtime.clock.now())
  }
  return response
}

/** Returns a handler that serves only `/metrics`. */
export function createMetricsFront(metrics: Metrics): Serve {
  return async ({ method, url }) => {
    const path = pathOf(url)
    if (path !== metricsPath) return errorAnswer(path, 404, "not found", `Only ${metricsPath} is served here.`)
    if (method === "GET" || method === "HEAD") return exposition({ metrics })
    return errorAnswer(path, 405, "method not allowed", `${metricsPath} accepts only GET and HEAD.`)
  }
}

const metricsPath = "/metrics"

type Probe = (options: FrontOptions) => HttpResponse | Promise<HttpResponse>

/** Returns the probe at a path. The length check avoids map lookups of mostly unique paths, each of which V8 would intern. */
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
      isEngineError(error, "out-of-service") || isStoreFull(error) ? error.message : "the database does not respond",
    )
  }
}

const plain = (status: number, text: string): HttpResponse =>
  respond(`${text}\n`, { status, headers: { "content-type": "text/plain; charset=utf-8" } })

/**
 * Returns the digest of the token that the API at this path reads. Tokens in other headers earn no bucket. The token is hashed and not the
 * header, because each spelling of `Authorization` would get its own allowance.
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
