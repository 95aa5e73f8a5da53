// Serves both APIs. Finds the route of `/api/v2`, resolves the token to a caller, and encodes answers and errors; contracts decode
// documents. Paths below `/v1` are served by `vault/vault-app.ts`.
import type { AuditTrail } from "../core/audit.ts"
import { anonymous, type Caller } from "../core/caller.ts"
import { EngineError, badRequest, isEngineError, notFound, unauthenticated } from "../core/errors.ts"
import { defaultJsonBounds, type JsonBounds, JsonBoundsError, parseBoundedJson } from "../core/json-bounds.ts"
import { logFailure } from "../core/failure-log.ts"
import { newUuid } from "../core/ids.ts"
import type { Runtime } from "../core/runtime.ts"
import type { ServedEngine } from "../engine.ts"
import { encodeError, type Pointers, statusOf } from "../contracts/tfe/json-api/errors.ts"
import { rejectUnstorableQuery } from "../contracts/tfe/json-api/storable-text.ts"
import { boundedBytes } from "./http/body.ts"
import { findEstTarget } from "./est/well-known.ts"
import { plainError } from "./http/responses.ts"
import { bearerToken, tokenIn } from "./http/authenticate.ts"
import { recordRequest } from "./tfe/record-request.ts"
import { type Exchange, isEstPath, isPkiPath, pathOf } from "./http/exchange.ts"
import { type HttpRequest, type HttpResponse, respond } from "./http/message.ts"
import { createPkiApp } from "./vault/vault-app.ts"
import type { ApiRequest, ApiResponse, BodyBounds, OpenRoute, Route } from "./tfe/route.ts"
import { decodedOrAsSent, routerOf } from "./http/router.ts"
import { apiRoutes } from "./tfe/routes.ts"
import { configurationUploadRoutes } from "./tfe/configuration-versions.ts"
import { discoveryRoutes } from "./tfe/discovery.ts"
import { homeRoutes, signInRoutes } from "./tfe/pages.ts"
import { runLogRoutes } from "./tfe/runs.ts"
import { stateDownloadRoutes, stateUploadRoutes } from "./tfe/state-versions.ts"
import { type WebApp, webApp } from "./http/web-fetch.ts"

export interface AppOptions {
  readonly engine: ServedEngine
  readonly runtime: Runtime
  /** URL under which clients reach this server. Default: the URL of the request. */
  readonly publicUrl?: URL
  readonly bodyLimitBytes?: number
  /** Bounds on JSON in requests, checked before parsing. */
  readonly jsonBounds?: JsonBounds
  /** Seconds between state snapshots during an apply; 0 disables them. */
  readonly snapshotIntervalSeconds?: number
}

export const apiPrefix = "/api/v2"
const defaultSnapshotIntervalSeconds = 60
export const defaultBodyLimitBytes = 64 * 1024 * 1024
const mediaTypes = ["application/vnd.api+json", "application/json"]

export function createApp(options: AppOptions): WebApp {
  const find = routerOf(servedRoutes(options), { key: ({ method }) => method, decode: decodedOrAsSent })
  const servePki = createPkiApp(options)
  const serveEst = async (request: HttpRequest, path: string, exchange: Exchange): Promise<HttpResponse> => {
    try {
      const target = await findEstTarget((label) => options.engine.findEstLabel(label), path)
      if (target === undefined) return plainError(404, ["EST is not served at this path"], request.method, {})
      exchange.estLabel = target.label
      return await servePki(request, target.path, exchange)
    } catch (error) {
      return failed(error, options, exchange, undefined)
    }
  }
  return webApp({
    async handle(request, exchange = { requestId: newUuid(options.runtime.random), route: undefined }) {
      const path = pathOf(request.url)
      if (isPkiPath(path)) return servePki(request, path, exchange)
      if (isEstPath(path)) return serveEst(request, path, exchange)
      const found = find(path.slice(1, path.length > 1 && path.endsWith("/") ? -1 : undefined).split("/"))
      const route = found?.routes.get(request.method === "HEAD" ? "GET" : request.method)
      if (found === undefined || route === undefined) return errorResponse(notFound())
      exchange.route = found.pattern
      try {
        return await route.answer({ request, exchange, params: found.params })
      } catch (error) {
        return failed(error, options, exchange, undefined)
      }
    },
  })
}

/** One request and its context. */
interface RouteExchange {
  readonly request: HttpRequest
  readonly exchange: Exchange
  readonly params: Readonly<Record<string, string>>
}

interface ServedRoute {
  readonly method: string
  /** Path from the root. */
  readonly path: string
  readonly answer: (visit: RouteExchange) => Promise<HttpResponse>
}

function servedRoutes(options: AppOptions): readonly ServedRoute[] {
  const { stateTransfers, configurationUploads, runLogs } = options.engine
  const downloads = new Map(stateDownloadRoutes(stateTransfers).map((route) => [route.path, route]))
  const authorized = apiRoutes.map((route): ServedRoute => {
    const path = `${apiPrefix}${route.path}`
    const download = route.method === "GET" ? downloads.get(path) : undefined
    return {
      method: route.method,
      path,
      answer: (visit) =>
        download !== undefined && isSigned(visit.request)
          ? addressed(visit, download, options)
          : answer(visit, route, options),
    }
  })
  const open = [...discoveryRoutes, ...signInRoutes, ...homeRoutes].map((route): ServedRoute => ({
    ...route,
    answer: (visit) =>
      settle(options, visit.exchange, undefined, undefined, async () => route.handle(requestOf(visit, options))),
  }))
  const uploads = [
    ...stateUploadRoutes(stateTransfers),
    ...configurationUploadRoutes(configurationUploads),
    ...runLogRoutes(runLogs),
  ].map((route): ServedRoute => ({ ...route, answer: (visit) => addressed(visit, route, options) }))
  return [...authorized, ...open, ...uploads]
}

/** Returns true if a signed URL is the only credential. A token has precedence, so that its holder can use an expired URL. */
const isSigned = ({ url, headers }: HttpRequest): boolean =>
  queryOf(url).has("credential") && !headers.has("authorization")

/** Serves an endpoint whose URL is the credential. */
const addressed = (visit: RouteExchange, route: OpenRoute, options: AppOptions): Promise<HttpResponse> => {
  const { request, exchange } = visit
  exchange.secretPath = true
  const trail = trailOf(exchange, options)
  return settle(options, exchange, undefined, trail, async () => {
    recordRequest(trail, request, exchange, anonymous, { discloses: route.discloses === true })
    return route.handle(requestOf(visit, options))
  })
}

const answer = (visit: RouteExchange, route: Route, options: AppOptions): Promise<HttpResponse> => {
  const { engine } = options
  const { request, exchange } = visit
  const trail = trailOf(exchange, options)
  return settle(options, exchange, route.pointers, trail, async () => {
    const caller = await callerOf(visit, engine, trail)
    const discloses = route.discloses === true || includesOutputs(request.url)
    recordRequest(trail, request, exchange, caller, { discloses })
    if (caller.kind === "service") throw unauthenticated()
    return route.handle(
      Object.assign(requestOf(visit, options, route), { engine: engine.as(caller, trail, exchange.requestId) }),
    )
  })
}

/** Returns true if `include` names the outputs of states, which other endpoints can return too. */
function includesOutputs(url: string): boolean {
  const query = queryOf(url)
  return query.size > 0 && query.getAll("include").some((paths) => paths.includes("outputs"))
}

const trailOf = ({ requestId }: Exchange, { engine }: AppOptions): AuditTrail => engine.audit.trail({ requestId })

async function callerOf(
  { request, exchange }: RouteExchange,
  engine: ServedEngine,
  trail: AuditTrail,
): Promise<Caller> {
  const header = request.headers.get("authorization")
  try {
    const { remoteAddress } = exchange
    const caller = await engine.authenticate(bearerToken(header), { remoteAddress })
    exchange.authenticated = true
    return caller
  } catch (error) {
    if (isEngineError(error, "unauthenticated"))
      recordRequest(trail, request, exchange, anonymous, { secret: tokenIn(header) })
    throw error
  }
}

async function settle(
  options: AppOptions,
  exchange: Exchange,
  pointers: Pointers | undefined,
  trail: AuditTrail | undefined,
  work: () => Promise<ApiResponse>,
): Promise<HttpResponse> {
  try {
    const answer = await work()
    trail?.response({ status: answer.status })
    const stream = answer.download ?? answer.stream
    return stream === undefined ? response(answer) : streamed(answer, stream, options, exchange)
  } catch (error) {
    const errorAnswer = failed(error, options, exchange, pointers)
    trail?.response({ status: errorAnswer.status, ...(isEngineError(error) ? { errors: [error.message] } : {}) })
    return errorAnswer
  }
}

function failed(error: unknown, options: AppOptions, exchange: Exchange, pointers: Pointers | undefined): HttpResponse {
  if (isEngineError(error)) return errorResponse(error, pointers, sentDocuments.get(exchange))
  options.runtime.log.error("request failed", { requestId: exchange.requestId, error })
  return errorResponse(new EngineError("internal", "The server could not complete the request."))
}

/** Documents by request, so that error documents can name misspelt members. */
const sentDocuments = new WeakMap<Exchange, unknown>()

function errorResponse(error: EngineError, pointers?: Pointers, sent?: unknown): HttpResponse {
  const headers: Record<string, string> = {}
  if (error.retryAfterMs !== undefined) headers["retry-after"] = String(Math.ceil(error.retryAfterMs / 1000))
  if (error.code === "unauthenticated") headers["www-authenticate"] = "Bearer"
  return response({ status: statusOf(error.code), document: encodeError(error, pointers, sent), headers })
}

function response({ status, document, text, headers = {} }: ApiResponse): HttpResponse {
  if (document === undefined && text === undefined) return respond(null, { status, headers })
  return respond(text ?? JSON.stringify(document), {
    status,
    headers: { "content-type": "application/vnd.api+json", ...headers },
  })
}

/** Streams a response. Logs a failure here, because the status may already have been sent. */
function streamed(
  { status, headers = {} }: ApiResponse,
  stream: AsyncIterable<Uint8Array>,
  options: AppOptions,
  exchange: Exchange,
): HttpResponse {
  const chunks = stream[Symbol.asyncIterator]()
  const failed = (error: unknown): never => {
    logCut(error, options, exchange)
    throw error
  }
  // Not a generator: a generator would learn that the client disconnected only after its next chunk.
  const iterator: AsyncIterableIterator<Uint8Array, undefined> = {
    next: () => chunks.next().catch(failed),
    async return() {
      await chunks.return?.()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => iterator,
  }
  return respond(iterator, { status, headers })
}

function logCut(error: unknown, { runtime }: AppOptions, { requestId }: Exchange): void {
  if (!isEngineError(error)) runtime.log.error("answer cut short", { requestId, error })
  else logFailure(runtime.log, "warn", "answer cut short", { requestId, error })
}

function requestOf(visit: RouteExchange, options: AppOptions, route: BodyBounds = {}): Omit<ApiRequest, "engine"> {
  const { request, params } = visit
  const limitBytes = Math.min(
    options.bodyLimitBytes ?? defaultBodyLimitBytes,
    route.bodyLimitBytes ?? Number.POSITIVE_INFINITY,
  )
  if (request.url.includes("%00")) rejectUnstorable(params, queryOf(request.url))
  let url: URL | undefined
  return {
    params,
    get url() {
      return (url ??= publicAddress(request.url, options.publicUrl))
    },
    get query() {
      return queryOf(request.url)
    },
    get headers() {
      return request.headers
    },
    snapshotIntervalSeconds: options.snapshotIntervalSeconds ?? defaultSnapshotIntervalSeconds,
    bytes: () => boundedBytes(request, limitBytes),
    stream: () => request.stream(),
    body: () => jsonBody(visit, limitBytes, jsonBoundsOf(options, route)),
  }
}

/** Returns the query without parsing the whole URL. Most requests have none and never need the URL. */
function queryOf(address: string): URLSearchParams {
  const start = address.indexOf("?")
  return new URLSearchParams(start < 0 ? "" : address.slice(start + 1))
}

/** Rejects U+0000 in parameters and queries. No name contains it, and PostgreSQL rejects text with it. */
function rejectUnstorable(params: Readonly<Record<string, string>>, query: URLSearchParams): void {
  if (Object.values(params).some((value) => value.includes("\0"))) throw notFound()
  rejectUnstorableQuery(query)
}

function publicAddress(address: string, publicUrl: URL | undefined): URL {
  const url = new URL(address)
  if (publicUrl === undefined) return url
  return new URL(`${publicUrl.pathname.replace(/\/$/, "")}${url.pathname}${url.search}`, publicUrl.origin)
}

function jsonBoundsOf({ jsonBounds = defaultJsonBounds }: AppOptions, { longStrings }: BodyBounds): JsonBounds {
  return longStrings === true ? { ...jsonBounds, stringBytes: Number.POSITIVE_INFINITY } : jsonBounds
}

async function jsonBody(
  { request, exchange }: RouteExchange,
  limitBytes: number,
  bounds: JsonBounds,
): Promise<unknown> {
  const bytes = await boundedBytes(request, limitBytes)
  if (bytes.length === 0) return undefined
  const type = (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? ""
  if (!mediaTypes.includes(type))
    throw new EngineError("unsupported-media-type", `Content-Type must be ${mediaTypes[0]}.`)
  try {
    const document: unknown = parseBoundedJson(bytes, bounds)
    sentDocuments.set(exchange, document)
    return document
  } catch (error) {
    throw badRequest(
      error instanceof JsonBoundsError ? `The body ${error.message}.` : "The body is not valid JSON in UTF-8.",
    )
  }
}
