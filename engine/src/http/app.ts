// fetch(Request) → Response. Decodes nothing itself: it finds the route, turns the token into a caller, and encodes errors. What
// is below `/v1` goes to `pki-app.ts`.
import { Hono } from "hono"
import type { Context } from "hono"
import type { AuditTrail } from "../core/audit.ts"
import { anonymous, type Caller } from "../core/caller.ts"
import { EngineError, badRequest, isEngineError, notFound, unauthenticated } from "../core/errors.ts"
import { defaultJsonBounds, type JsonBounds, JsonBoundsError, parseBoundedJson } from "../core/json-bounds.ts"
import { logFailure } from "../core/failure-log.ts"
import { newUuid } from "../core/ids.ts"
import type { Runtime } from "../core/runtime.ts"
import type { ServedEngine } from "../engine.ts"
import { encodeError, type Pointers, statusOf } from "../wire/jsonapi/errors.ts"
import { refuseUnstorableQuery } from "../wire/jsonapi/storable-text.ts"
import { boundedBytes, bodyStream } from "./body.ts"
import { bearerToken, tokenIn } from "./authenticate.ts"
import { recordRequest } from "./record-request.ts"
import { type App, type Exchange, isPkiPath, pathOf } from "./exchange.ts"
import { createPkiApp } from "./pki-app.ts"
import type { ApiRequest, ApiResponse, BodyBounds, OpenRoute, Route } from "./route.ts"
import { apiRoutes } from "./routes.ts"
import { configurationUploadRoutes } from "./routes/configuration-versions.ts"
import { discoveryRoutes } from "./routes/discovery.ts"
import { homeRoutes } from "./routes/home.ts"
import { signInRoutes } from "./routes/sign-in.ts"
import { runLogRoutes } from "./routes/runs.ts"
import { stateDownloadRoutes, stateUploadRoutes } from "./routes/state-versions.ts"

export interface AppOptions {
  readonly engine: ServedEngine
  readonly runtime: Runtime
  /** Where clients reach this server; the request's own address when absent. */
  readonly publicUrl?: URL
  readonly bodyLimitBytes?: number
  /** Of JSON in requests, checked before it is parsed. */
  readonly jsonBounds?: JsonBounds
  /** 0 asks for no snapshots of the state during an apply. */
  readonly snapshotIntervalSeconds?: number
}

export const apiPrefix = "/api/v2"
const defaultSnapshotIntervalSeconds = 60
export const defaultBodyLimitBytes = 64 * 1024 * 1024
const mediaTypes = ["application/vnd.api+json", "application/json"]

export function createApp(options: AppOptions): App {
  const app = new Hono<Served>({ strict: false })
  for (const route of stateDownloadRoutes(options.engine.stateTransfers))
    app.on(route.method, route.path, async (context, next) => {
      // A token opens the same address to whoever may read the state, however old its credential is.
      if (queryOf(context.req.url).has("credential") && context.req.header("authorization") === undefined)
        return addressed(context, route, options)
      return next()
    })
  for (const route of apiRoutes)
    app.on(route.method, `${apiPrefix}${route.path}`, (context) => answer(context, route, options))
  for (const route of [...discoveryRoutes, ...signInRoutes, ...homeRoutes])
    app.on(route.method, route.path, (context) => {
      context.env.route = route.path
      return settle(options, context.env, undefined, undefined, async () => route.handle(requestOf(context, options)))
    })
  for (const route of [
    ...stateUploadRoutes(options.engine.stateTransfers),
    ...configurationUploadRoutes(options.engine.configurationUploads),
    ...runLogRoutes(options.engine.runLogs),
  ])
    app.on(route.method, route.path, (context) => addressed(context, route, options))
  app.notFound(() => errorResponse(notFound()))
  app.onError((error, context) => failed(error, options, context.env, undefined))
  const servePki = createPkiApp(options)
  return {
    fetch: (request, exchange = { requestId: newUuid(options.runtime.random), route: undefined }) => {
      const path = pathOf(request.url)
      return isPkiPath(path) ? servePki(request, path, exchange) : app.fetch(request, exchange)
    },
  }
}

interface Served {
  /** What the server around the app knows of the request and wants to learn of it. */
  Bindings: Exchange
}

/** The address is the credential. */
const addressed = (context: Context<Served>, route: OpenRoute, options: AppOptions): Promise<Response> => {
  context.env.route = route.path
  context.env.secretPath = true
  const trail = trailOf(context, options)
  return settle(options, context.env, undefined, trail, async () => {
    recordRequest(trail, context.req.raw, context.env, anonymous, { discloses: route.discloses === true })
    return route.handle(requestOf(context, options))
  })
}

const answer = (context: Context<Served>, route: Route, options: AppOptions): Promise<Response> => {
  context.env.route = `${apiPrefix}${route.path}`
  const { engine } = options
  const trail = trailOf(context, options)
  return settle(options, context.env, route.pointers, trail, async () => {
    const caller = await callerOf(context, engine, trail)
    const discloses = route.discloses === true || includesOutputs(context.req.url)
    recordRequest(trail, context.req.raw, context.env, caller, { discloses })
    if (caller.kind === "service") throw unauthenticated()
    return route.handle(
      Object.assign(requestOf(context, options, route), { engine: engine.as(caller, trail, context.env.requestId) }),
    )
  })
}

/** Outputs of states may stand in the answers of other endpoints, where `include` names them. */
function includesOutputs(url: string): boolean {
  const query = queryOf(url)
  return query.size > 0 && query.getAll("include").some((paths) => paths.includes("outputs"))
}

const trailOf = (context: Context<Served>, { engine }: AppOptions): AuditTrail =>
  engine.audit.trail({ requestId: context.env.requestId })

async function callerOf(context: Context<Served>, engine: ServedEngine, trail: AuditTrail): Promise<Caller> {
  const header = context.req.header("authorization")
  try {
    const { remoteAddress } = context.env
    const caller = await engine.authenticate(bearerToken(header ?? null), { remoteAddress })
    context.env.authenticated = true
    return caller
  } catch (error) {
    if (isEngineError(error, "unauthenticated"))
      recordRequest(trail, context.req.raw, context.env, anonymous, { secret: tokenIn(header) })
    throw error
  }
}

async function settle(
  options: AppOptions,
  exchange: Exchange,
  pointers: Pointers | undefined,
  trail: AuditTrail | undefined,
  work: () => Promise<ApiResponse>,
): Promise<Response> {
  try {
    const answer = await work()
    trail?.response({ status: answer.status })
    if (answer.download !== undefined) return downloaded(answer, answer.download, options, exchange)
    return answer.stream === undefined ? response(answer) : streamed(answer, answer.stream, options, exchange)
  } catch (error) {
    const refusal = failed(error, options, exchange, pointers)
    trail?.response({ status: refusal.status, ...(isEngineError(error) ? { errors: [error.message] } : {}) })
    return refusal
  }
}

function failed(error: unknown, options: AppOptions, exchange: Exchange, pointers: Pointers | undefined): Response {
  if (isEngineError(error)) return errorResponse(error, pointers, sentDocuments.get(exchange))
  options.runtime.log.error("request failed", { requestId: exchange.requestId, error })
  return errorResponse(new EngineError("internal", "The server could not complete the request."))
}

/** By the exchange that brought them, for what a refusal says of misspelt members. */
const sentDocuments = new WeakMap<Exchange, unknown>()

function errorResponse(error: EngineError, pointers?: Pointers, sent?: unknown): Response {
  const headers: Record<string, string> = {}
  if (error.retryAfterMs !== undefined) headers["retry-after"] = String(Math.ceil(error.retryAfterMs / 1000))
  if (error.code === "unauthenticated") headers["www-authenticate"] = "Bearer"
  return response({ status: statusOf(error.code), document: encodeError(error, pointers, sent), headers })
}

function response({ status, document, text, headers }: ApiResponse): Response {
  if (document === undefined && text === undefined) return new Response(null, { status, ...(headers && { headers }) })
  return new Response(text ?? JSON.stringify(document), {
    status,
    headers: { "content-type": "application/vnd.api+json", ...headers },
  })
}

/** Straight to the socket where there is one: web streams take longer for each piece than all there is to do with it. */
function downloaded(
  { status, headers }: ApiResponse,
  download: AsyncIterable<Uint8Array>,
  options: AppOptions,
  exchange: Exchange,
): Response {
  const content = watched(download, options, exchange)
  exchange.send?.(content)
  const body = exchange.send === undefined ? ReadableStream.from(content) : null
  return new Response(body, { status, ...(headers && { headers }) })
}

/** Piece by piece as it comes, however long that takes. A failure is told here: the adapter below would print it as it is. */
function streamed(
  { status, headers }: ApiResponse,
  stream: AsyncIterable<Uint8Array>,
  options: AppOptions,
  exchange: Exchange,
): Response {
  const pieces = stream[Symbol.asyncIterator]()
  const failed = (error: unknown): IteratorReturnResult<undefined> => {
    tellCut(error, options, exchange)
    if (exchange.cut === undefined) throw error
    exchange.cut()
    return { done: true, value: undefined }
  }
  // No generator, which would hear that its reader has gone only with the next piece.
  const told: AsyncIterableIterator<Uint8Array, undefined> = {
    next: () => pieces.next().catch(failed),
    async return() {
      await pieces.return?.()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => told,
  }
  return new Response(ReadableStream.from(told), { status, ...(headers && { headers }) })
}

/** The head of the answer says that all is well, and can be gone when something is not. */
async function* watched(
  content: AsyncIterable<Uint8Array>,
  options: AppOptions,
  exchange: Exchange,
): AsyncGenerator<Uint8Array> {
  try {
    yield* content
  } catch (error) {
    tellCut(error, options, exchange)
    throw error
  }
}

function tellCut(error: unknown, { runtime }: AppOptions, { requestId }: Exchange): void {
  if (!isEngineError(error)) runtime.log.error("answer cut short", { requestId, error })
  else logFailure(runtime.log, "warn", "answer cut short", { requestId, error })
}

function requestOf(context: Context<Served>, options: AppOptions, route: BodyBounds = {}): Omit<ApiRequest, "engine"> {
  const raw = context.req.raw
  const limitBytes = Math.min(
    options.bodyLimitBytes ?? defaultBodyLimitBytes,
    route.bodyLimitBytes ?? Number.POSITIVE_INFINITY,
  )
  if (context.req.url.includes("%00")) refuseUnstorable(context.req.param(), queryOf(context.req.url))
  let url: URL | undefined
  const absolute = () => (url ??= publicAddress(context.req.url, options.publicUrl))
  return {
    params: context.req.param(),
    get url() {
      return absolute()
    },
    get query() {
      return queryOf(context.req.url)
    },
    get headers() {
      return raw.headers
    },
    snapshotIntervalSeconds: options.snapshotIntervalSeconds ?? defaultSnapshotIntervalSeconds,
    bytes: () => boundedBytes(context.req.raw, context.env, limitBytes),
    stream: () => context.env.body?.() ?? bodyStream(raw),
    body: () => jsonBody(context, limitBytes, jsonBoundsOf(options, route)),
  }
}

/** Without taking the whole address apart: most requests have no query, and are done before anything asks for their URL. */
function queryOf(address: string): URLSearchParams {
  const start = address.indexOf("?")
  return new URLSearchParams(start < 0 ? "" : address.slice(start + 1))
}

/** No record has U+0000 in its name, and not every store can be asked for one. */
function refuseUnstorable(params: Readonly<Record<string, string>>, query: URLSearchParams): void {
  if (Object.values(params).some((value) => value.includes("\0"))) throw notFound()
  refuseUnstorableQuery(query)
}

function publicAddress(address: string, publicUrl: URL | undefined): URL {
  const url = new URL(address)
  if (publicUrl === undefined) return url
  return new URL(`${publicUrl.pathname.replace(/\/$/, "")}${url.pathname}${url.search}`, publicUrl.origin)
}

function jsonBoundsOf({ jsonBounds = defaultJsonBounds }: AppOptions, { longStrings }: BodyBounds): JsonBounds {
  return longStrings === true ? { ...jsonBounds, stringBytes: Number.POSITIVE_INFINITY } : jsonBounds
}

async function jsonBody(context: Context<Served>, limitBytes: number, bounds: JsonBounds): Promise<unknown> {
  const bytes = await boundedBytes(context.req.raw, context.env, limitBytes)
  if (bytes.length === 0) return undefined
  const type = (context.req.header("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? ""
  if (!mediaTypes.includes(type))
    throw new EngineError("unsupported-media-type", `Content-Type must be ${mediaTypes[0]}.`)
  try {
    const document: unknown = parseBoundedJson(bytes, bounds)
    sentDocuments.set(context.env, document)
    return document
  } catch (error) {
    throw badRequest(
      error instanceof JsonBoundsError ? `The body ${error.message}.` : "The body is not valid JSON in UTF-8.",
    )
  }
}
