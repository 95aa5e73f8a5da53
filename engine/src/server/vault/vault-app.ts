// The certificate API under `/v1`. Finds the mount or auth method and the endpoint, resolves the token to a caller, decodes the request and
// encodes the answer.
import { flag } from "../../contracts/vault/types.ts"
import { capabilitiesOn, permissionDenied } from "../../core/access.ts"
import { anonymous, type Caller } from "../../core/caller.ts"
import { badRequest, EngineError, isEngineError, notFound } from "../../core/errors.ts"
import type { RequestSnapshot } from "../../core/cache-versions.ts"
import { uuidOf } from "../../core/ids.ts"
import { defaultJsonBounds, type JsonBounds } from "../../core/json-bounds.ts"
import type { Runtime } from "../../core/runtime.ts"
import { signingTurn } from "../../core/timers.ts"
import type { ServedEngine } from "../../engine.ts"
import { noMount } from "../../pki/mounts/mount-directory.ts"
import { type AuthMethodType, authMethodTypes, tokenMethodPath } from "../../access/logins/auth-method.ts"
import { noAuthMethod } from "../../access/logins/auth-method-directory.ts"
import { encodeProblem, problemType } from "../../contracts/acme/documents.ts"
import { type Dialect, dialectOf } from "../../contracts/vault/format/dialect.ts"
import { encodeEnvelope } from "../../contracts/vault/format/envelope.ts"
import { encodeError } from "../../contracts/vault/format/errors.ts"
import { authRoutes, pkiRoutes, systemRoutes } from "./vault-routes.ts"
import { serviceToken, serviceTokenIn } from "../http/authenticate.ts"
import { boundedBytes } from "../http/body.ts"
import type { Exchange } from "../http/exchange.ts"
import { jsonResponse, plainError } from "../http/responses.ts"
import { type HttpRequest, type HttpResponse, type RequestHeaders, respond } from "../http/message.ts"
import { documentOf, type ReadDocument } from "./document.ts"
import { elsewhere } from "./undelivered-paths.ts"
import { helpBelow, pathHelp } from "./path-help.ts"
import { IncomingRequest } from "./incoming.ts"
import type { ApiRoute, AuthRequest, Operation, PkiResponse, ServerFacts, SystemRequest } from "./vault-route.ts"
import { type RecordedMount, RequestTrail } from "./audit-trail.ts"
import { decoded, type FindRoute, type Found, routerOf } from "../http/router.ts"
import { acmeCorsHeaders, preflightHeaders } from "../acme/cross-origin.ts"
import { smallBodyLimitBytes } from "../tfe/route.ts"

export interface PkiAppOptions {
  readonly engine: ServedEngine
  readonly runtime: Runtime
  readonly bodyLimitBytes?: number
  readonly jsonBounds?: JsonBounds
}

const prefix = "/v1"
/** Enough for bundles of certificates, keys and CRLs. */
const mountBodyLimitBytes = 32 * 1024 * 1024
/** Returns true for paths of the server itself, which no mount or auth method can have. */
const isSystem = ([root, below]: readonly string[]): boolean =>
  root === "sys" || (root === "auth" && (below === undefined || below === tokenMethodPath))

/** Serves a request. `path` is that of the request as sent, without the query. */
export type ServePki = (request: HttpRequest, path: string, exchange: Exchange) => Promise<HttpResponse>

/** One request and its context. */
interface VaultExchange {
  readonly request: HttpRequest
  readonly exchange: Exchange
  readonly dialect: Dialect
  readonly query: URLSearchParams
  readonly operation: Operation | undefined
  readonly trail: RequestTrail
  readonly requestSnapshot: RequestSnapshot
}

/** A mount, or an auth method with the path prefix `auth/`. */
interface Mounted extends RecordedMount {
  readonly type: string
}

/** One table of endpoints, and what its requests need in addition. */
interface Part<R extends SystemRequest> {
  readonly find: FindEndpoint<R>
  readonly mount: Mounted | undefined
  /** Segments below the mount, the auth method or `/v1`, not decoded. */
  readonly segments: readonly string[]
  /** Bound for endpoints that define none. */
  readonly bodyLimitBytes: number
  readonly complete: (request: SystemRequest) => R
}

type FindEndpoint<R> = FindRoute<ApiRoute<R>, Operation>
type FoundEndpoint<R> = Found<ApiRoute<R>, Operation>

const endpointsOf = <R>(routes: readonly ApiRoute<R>[], above: string): FindEndpoint<R> =>
  routerOf(routes, { key: ({ operation }) => operation, above })

const findPkiRoute = endpointsOf(pkiRoutes, `${prefix}/:mount`)
const findSystemRoute = endpointsOf(systemRoutes, prefix)
const findAuthRoute = Object.fromEntries(
  authMethodTypes.map((type) => [type, endpointsOf<AuthRequest>(authRoutes[type], `${prefix}/auth/:method`)]),
) as Readonly<Record<AuthMethodType, FindEndpoint<AuthRequest>>>

export function createPkiApp(options: PkiAppOptions): ServePki {
  const { engine, runtime, jsonBounds = defaultJsonBounds } = options
  const server = factsOf(engine, runtime)

  async function answered(visit: VaultExchange, path: string): Promise<HttpResponse> {
    const segments = path.slice(prefix.length + 1).split("/")
    if (isSystem(segments))
      return await served(visit, {
        find: findSystemRoute,
        mount: undefined,
        segments,
        bodyLimitBytes: smallBodyLimitBytes,
        complete: (one) => one,
      })
    if (segments[0] === "auth") return answeredByMethod(visit, segments.slice(1))
    const mounts = await engine.mountTable(visit.requestSnapshot)
    const found = mounts.resolve(segments.map((segment) => decoded(segment) ?? ""))
    if (found === undefined) {
      if (visit.exchange.isDevice === true) throw notFound()
      await callerOf(visit)
      throw noMount(segments.join("/"))
    }
    const { mount, depth } = found
    return await served(visit, {
      find: findPkiRoute,
      mount,
      segments: segments.slice(depth),
      bodyLimitBytes: mountBodyLimitBytes,
      complete: (request) => Object.assign(request, { mount, pki: request.engine.pki(mount.path) }),
    })
  }

  /** Serves a request to an auth method. `segments` are those below `auth/`. */
  async function answeredByMethod(visit: VaultExchange, segments: readonly string[]): Promise<HttpResponse> {
    const methods = await engine.authMethodTable(visit.requestSnapshot)
    const found = methods.resolve(segments.map((segment) => decoded(segment) ?? ""))
    if (found === undefined) {
      if (visit.exchange.isDevice === true) throw notFound()
      await callerOf(visit)
      throw noAuthMethod(segments.join("/"))
    }
    const { method: authMethod, depth } = found
    return served(visit, {
      find: findAuthRoute[authMethod.type],
      mount: { ...authMethod, path: `auth/${authMethod.path}` },
      segments: segments.slice(depth),
      bodyLimitBytes: smallBodyLimitBytes,
      complete: (request) => Object.assign(request, { authMethod }),
    })
  }

  async function served<R extends SystemRequest>(visit: VaultExchange, part: Part<R>): Promise<HttpResponse> {
    const { find, segments, mount } = part
    const { exchange, operation, query, request, trail } = visit
    trail.learn({ mount })
    const whole = find(segments)
    const found = whole ?? (segments.at(-1) === "" ? find(segments.slice(0, -1)) : undefined)
    if (found !== undefined) exchange.route = found.address
    const isAcme = found !== undefined && [...found.routes.values()].some((one) => one.problems === true)
    // The certificate API treats PUT as POST. ACME has no PUT (RFC 8555, section 6.2).
    const route = operation && !(isAcme && request.method === "PUT") ? found?.routes.get(operation) : undefined
    if (exchange.isDevice === true && route?.device !== true) throw notFound()
    // ACME rejects unsupported methods without authentication.
    const problems = route === undefined && isAcme
    if (problems && request.method === "OPTIONS") {
      trail.learn({ openRead: true })
      await trail.record()
      const headers = preflightHeaders(allowedMethods([...found.routes.keys()], acmeMethodsOf))
      return finished(visit, respond(null, { status: 204, headers }))
    }
    const isAnonymous =
      (route === undefined ? problems : route.open === true) &&
      !(route?.tokenCounts === true && serviceTokenIn(request.headers) !== undefined)
    const caller = isAnonymous ? anonymous : await callerOf(visit)
    const help = query.has("help") && request.method === "GET" ? helpAt(part, found) : undefined
    if (help !== undefined) {
      await trail.record()
      return finished(visit, jsonResponse(200, help, { method: request.method }))
    }
    const instead = mount === undefined ? elsewhere(segments) : undefined
    if (found === undefined)
      throw new EngineError("not-found", instead === undefined ? "unsupported path" : `unsupported path: ${instead}`)
    if (operation === undefined || route === undefined) {
      const headers = { allow: allowedMethods([...found.routes.keys()], isAcme ? acmeMethodsOf : methodsOf) }
      const sentence = instead === undefined ? "unsupported operation" : `unsupported operation: ${instead}`
      return refused(visit, 405, [sentence], { headers, problems })
    }
    if (whole === undefined && operation === "write") throw badRequest("cannot write to a path ending in '/'")
    try {
      return await handled(visit, operation, route, caller, found.params, part)
    } catch (error) {
      return failed(error, visit, route)
    }
  }

  async function handled<R extends SystemRequest>(
    visit: VaultExchange,
    operation: Operation,
    route: ApiRoute<R>,
    caller: Caller,
    params: Readonly<Record<string, string>>,
    part: Part<R>,
  ): Promise<HttpResponse> {
    const { request, exchange, dialect, query, trail } = visit
    const { complete, mount } = part
    const { readOnly = false } = route
    const limitBytes = Math.min(
      route.bodyLimitBytes ?? part.bodyLimitBytes,
      options.bodyLimitBytes ?? Number.POSITIVE_INFINITY,
    )
    const { requestId, remoteAddress, clientCertificate } = exchange
    if (route.open !== true) assertMayWrite(caller, operation, part)
    const bounds = { limitBytes, json: jsonBounds }
    const read = route.raw === true ? noDocument : await documentOf(visit, operation, bounds)
    let sent: Promise<Uint8Array> | undefined
    const incomingAs = (as: Caller) =>
      new IncomingRequest({
        method: request.method,
        engine: engine.as(as, trail.trail),
        server,
        requestId,
        remoteAddress,
        clientCertificate,
        estLabel: exchange.estLabel,
        dialect,
        params,
        query,
        headers: request.headers,
        operation,
        document: read.document,
        json: read.json,
        bytes: () => (sent ??= boundedBytes(request, limitBytes)),
      })
    const admitted = await route.admit?.(complete(incomingAs(anonymous)))
    const { caller: admittedCaller = caller, document = read.document } = admitted ?? {}
    if (admitted !== undefined) trail.learn({ caller: admittedCaller })
    if (route.signs === true) await signingTurn()
    const changesNothing = readOnly || operation === "read" || operation === "list"
    trail.learn({ document, openRead: admittedCaller.kind === "anonymous" && changesNothing })
    await trail.record({ signs: route.signs === true })
    const incoming = incomingAs(admittedCaller)
    const response = await route.handle(complete(incoming))
    return await finished(
      visit,
      encoded(response, incoming.warnings(), {
        requestId,
        dialect,
        mount,
        method: request.method,
        onAbort: (error) => runtime.log.error("response aborted", { requestId, error }),
      }),
    )
  }

  async function callerOf({ request, exchange, trail, requestSnapshot }: VaultExchange): Promise<Caller> {
    try {
      const caller = await engine.authenticate(serviceToken(request.headers), {
        requestSnapshot,
        remoteAddress: exchange.remoteAddress,
      })
      exchange.authenticated = true
      trail.learn({ caller })
      return caller
    } catch (error) {
      if (isEngineError(error, "unauthenticated")) trail.learn({ secret: serviceTokenIn(request.headers) })
      throw error
    }
  }

  async function finished({ trail }: VaultExchange, response: HttpResponse): Promise<HttpResponse> {
    await trail.done(response.status)
    return response
  }

  function failed(
    error: unknown,
    visit: VaultExchange,
    { wireNames, plainErrors }: Pick<ApiRoute<never>, "wireNames" | "plainErrors"> = {},
  ): HttpResponse {
    const { requestId } = visit.exchange
    if (!isEngineError(error)) runtime.log.error("request failed", { requestId, error })
    const known = isEngineError(error) ? error : new EngineError("internal", `internal error in request ${requestId}`)
    const { status, document, headers } = encodeError(known, wireNames)
    if (plainErrors !== true) return refused(visit, status, document.errors, { headers })
    const plainStatus = known.code === "unauthenticated" ? 401 : status
    visit.trail.refused(plainStatus, document.errors)
    return plainError(plainStatus, document.errors, visit.request.method, headers)
  }

  function refused(
    { dialect, trail, request: { method } }: VaultExchange,
    status: number,
    errors: readonly string[],
    { headers, problems = false }: { readonly headers: Readonly<Record<string, string>>; readonly problems?: boolean },
  ): HttpResponse {
    trail.refused(status, errors)
    if (!problems) return jsonResponse(status, { errors: linesOf(errors, dialect) }, { headers, method })
    const document = encodeProblem({ type: "malformed", detail: errors.join("; ") }, status)
    return jsonResponse(status, document, {
      headers: { ...headers, ...acmeCorsHeaders, "content-type": problemType },
      method,
    })
  }

  return async (request, path, exchange) => {
    const { method, headers, url } = request
    const { requestId, remoteAddress, clientCertificate } = exchange
    const query = queryOf(url)
    const operation = operationOf(method, query)
    const trail = new RequestTrail(engine.audit, requestId, {
      method,
      path,
      remoteAddress,
      clientCertificate,
      operation,
    })
    const visit: VaultExchange = {
      request,
      exchange,
      dialect: dialectOf(headers),
      query,
      operation,
      trail,
      requestSnapshot: engine.requestSnapshot(),
    }
    try {
      rejectUnofferedHeaders(headers)
      return await answered(visit, path)
    } catch (error) {
      return failed(error, visit)
    }
  }
}

/** Returns the errors for the dialect. The Vault CLI prints them without separators, so each but the last gets a line break. */
const linesOf = (errors: readonly string[], dialect: Dialect): readonly string[] =>
  dialect === "vault" ? errors.map((error, index) => (index < errors.length - 1 ? `${error}\n` : error)) : errors

function helpAt<R extends SystemRequest>({ find, segments }: Part<R>, found: FoundEndpoint<R> | undefined) {
  if (found !== undefined) return pathHelp(segments.join("/"), found)
  const below = find.below(segments.at(-1) === "" ? segments.slice(0, -1) : segments)
  return below.length === 0 ? undefined : helpBelow(below)
}

/**
 * Throws `forbidden` before the body is read if the token cannot write at this path. The service later checks the exact capability. System
 * paths are skipped, because some are aliases of other paths; only the service checks those.
 */
function assertMayWrite<R extends SystemRequest>(caller: Caller, operation: Operation, part: Part<R>): void {
  const { mount, segments } = part
  if (mount === undefined || (operation !== "write" && operation !== "patch")) return
  const names = segments.map((segment) => decoded(segment) ?? segment)
  const path = [mount.path, ...(names.at(-1) === "" ? names.slice(0, -1) : names)].join("/")
  // Names in auth methods are case-insensitive. The service checks the policies for the path in lower case.
  const mayWrite = [path, path.toLowerCase()].some((one) => {
    const granted = capabilitiesOn(caller, one)
    return operation === "patch" ? granted.has("patch") : granted.has("create") || granted.has("update")
  })
  if (!mayWrite) throw permissionDenied()
}

const noDocument: ReadDocument = { document: {} }

function factsOf(engine: ServedEngine, runtime: Runtime): ServerFacts {
  const { caller } = engine
  // The engine's own user is created with the database and never replaced, so its id identifies the cluster.
  const origin = caller.kind === "user" ? caller.userId : caller.kind
  return {
    now: () => runtime.clock.now(),
    clusterId: uuidOf(runtime.digest(`cluster ${origin}`)),
    ready: () => engine.ready(),
  }
}

function operationOf(method: string, query: URLSearchParams): Operation | undefined {
  switch (method) {
    case "GET":
    case "HEAD":
      return wantsList(query) ? "list" : "read"
    case "LIST":
      return "list"
    case "POST":
    case "PUT":
      return "write"
    case "PATCH":
      return "patch"
    case "DELETE":
      return "delete"
    default:
      return undefined
  }
}

/** Returns true if the query requests a list. As in Vault, values that are not boolean count as false. */
const wantsList = (query: URLSearchParams): boolean => flag.schema.safeParse(query.get("list")).data === true

/** Throws `bad-request` for headers of features that do not exist here. Clients rely on these features, so they must not be ignored. */
function rejectUnofferedHeaders(headers: RequestHeaders): void {
  const namespace = (headers.get("x-vault-namespace") ?? "").replaceAll("/", "")
  if (namespace !== "" && namespace !== "root") throw badRequest("namespaces are not supported, except root")
  if (headers.has("x-vault-wrap-ttl")) throw badRequest("response wrapping is not supported")
}

function queryOf(url: string): URLSearchParams {
  const start = url.indexOf("?")
  return new URLSearchParams(start < 0 ? "" : url.slice(start + 1))
}

interface MountContext {
  readonly requestId: string
  readonly dialect: Dialect
  readonly mount: Mounted | undefined
  readonly method: string
  /** Called with the error that cuts a stream short. */
  readonly onAbort: (error: unknown) => void
}

async function* encodedText(
  texts: AsyncIterable<string>,
  onAbort: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  try {
    for await (const text of texts) yield encoder.encode(text)
  } catch (error) {
    onAbort(error)
    throw error
  }
}

/** Encodes a response. `warned` are warnings about the request itself. */
function encoded(response: PkiResponse, warned: readonly string[], around: MountContext): HttpResponse {
  const { requestId, dialect, mount, method, onAbort } = around
  switch (response.kind) {
    case "bare":
      return jsonResponse(response.status, response.document, { method })
    case "raw": {
      const { body, status, headers } = response
      const isBodiless = method === "HEAD" || status === 304 || status === 204
      return respond(isBodiless ? null : body, { status, headers })
    }
    case "stream": {
      return respond(encodedText(response.body, onAbort), { status: response.status, headers: response.headers })
    }
    case "none": {
      const warnings = [...warned, ...(response.warnings ?? [])]
      if (warnings.length === 0) return respond(null, { status: 204, headers: { "cache-control": "no-store" } })
      return encoded({ kind: "data", status: 200, data: null, warnings: response.warnings ?? [] }, warned, around)
    }
    case "data": {
      const warnings = [...warned, ...(response.warnings ?? [])]
      const envelope = encodeEnvelope({ ...response, warnings, mountType: mount?.type }, requestId, dialect)
      return jsonResponse(response.status, envelope, {
        method,
        ...(response.headers === undefined ? {} : { headers: response.headers }),
      })
    }
    default:
      return response satisfies never
  }
}

const methodsOf: Readonly<Record<Operation, string>> = {
  read: "GET, HEAD",
  write: "POST, PUT",
  patch: "PATCH",
  list: "LIST",
  delete: "DELETE",
}

const acmeMethodsOf: typeof methodsOf = { ...methodsOf, write: "POST" }

const allowedMethods = (operations: readonly Operation[], methods: typeof methodsOf): string =>
  operations.map((one) => methods[one]).join(", ")
