// Sends requests to both APIs of a Chancery server over a pool of connections. Errors of the server become the `EngineError` that the
// embedded engine throws. A request that was not sent, or whose answer was lost, becomes `unavailable`.
//
// Retries have growing, jittered pauses, bounded in number and total time. The answers `rate-limited`, `busy` and `pending` are retried,
// because the server did nothing. Requests that were not sent for lack of a connection are retried too. After a lost answer only GET is
// retried: other requests may have been executed.
import { Readable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls"
import { Agent, type Dispatcher, ProxyAgent } from "undici"
import { decodeError } from "../contracts/tfe/json-api/errors.ts"
import { decodeError as decodePkiError } from "../contracts/vault/format/errors.ts"
import {
  type EngineError,
  isEngineError,
  notFound,
  unauthenticated,
  unavailable,
  unprocessable,
} from "../core/errors.ts"
import { FetchFailure } from "../core/fetch.ts"
import type { RandomSource } from "../core/random.ts"
import { rejectUnstorableText } from "../core/text.ts"
import type { PermittedAddresses } from "./outgoing/address-guard.ts"
import { guardedLookup, literalFailure } from "./outgoing/guarded-lookup.ts"
import { retryAfterMs, secondsOf } from "./retry-after.ts"

export interface TransportOptions {
  /** Sent as Bearer or `X-Service-Token`. Kept in memory and never part of a message. */
  readonly token: string
  readonly random: RandomSource
  /** Aborts all pending and later requests. */
  readonly signal?: AbortSignal
  /** Certificates to trust in addition to those of the system, in PEM. */
  readonly certificateAuthority?: string
  /** Certificate chain and key of this client in PEM, for logins with certificates. */
  readonly clientIdentity?: { readonly certificates: string; readonly privateKey: string }
  /** Accepts any TLS certificate. For trials only: an impostor would receive the token. */
  readonly skipTlsVerify?: boolean
  /** Proxy for all requests, `http://` or `https://`. Default: direct connections. */
  readonly proxyUrl?: string
  /** Non-public addresses that the server, or its proxy, may have. Default: any address. */
  readonly addresses?: PermittedAddresses
  /** Limits when requests may be sent. Default: no limit. */
  readonly pace?: Pace
  /** Returns the id of a request, for the server's logs and the events of its changes. Default: the server creates one. */
  readonly nameRequest?: () => string
  /** Returns the `traceparent` header (W3C Trace Context) of a request. Called for each request; an invalid value is not sent. */
  readonly traceparent?: () => string | undefined
  readonly connectTimeoutMs?: number
  /** Timeout from the request to the first byte of the answer, and between two chunks of its body. */
  readonly answerTimeoutMs?: number
  readonly idleConnectionMs?: number
  readonly maximumConnections?: number
  readonly maximumAnswerBytes?: number
  readonly attempts?: number
  /** Maximum total of all pauses of one request. */
  readonly patienceMs?: number
  /** Maximum total of pauses while the server answers `pending`, for example during an unfinished upload of a state. */
  readonly pendingPatienceMs?: number
}

/** Rate limit shared by several clients of one server, so that together they stay below its limits. */
export interface Pace {
  /** Resolves when one request may be sent. */
  admit(signal: AbortSignal): Promise<void>
  /** Delays all requests by this time, as the server requested. */
  defer(retryAfterMs: number): void
}

export interface OutgoingRequest {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE"
  /** Path below the version prefix, made by `path`. */
  readonly path: string
  readonly query?: URLSearchParams
  readonly document?: unknown
  /** Raw body, instead of a document. */
  readonly octets?: { readonly mediaType: string; readonly body: Uint8Array | AsyncIterable<Uint8Array> }
  /** Domain names of fields by wire name, for errors, if they cannot be derived. */
  readonly names?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Maximum time between two chunks of the response body. Default: `answerTimeoutMs`. */
  readonly quietMs?: number
  /** Additional headers. They override those of every request. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Requests to one of the two APIs. */
export interface HttpClient {
  /** Returns the document of the answer, or undefined if it has none. */
  readonly send: (request: OutgoingRequest) => Promise<unknown>
  /** Returns the body of the answer unchanged. */
  readonly download: (path: string, query?: URLSearchParams) => Promise<Uint8Array>
  /** Sends a raw body and returns the raw body of the answer. */
  readonly exchange: (path: string, octets: NonNullable<OutgoingRequest["octets"]>) => Promise<Uint8Array>
}

export interface Transport extends HttpClient, AsyncDisposable {
  /** Client of the certificate API; the other members use the workspace API. */
  readonly pki: HttpClient
  /** Returns the body as a stream of any length. */
  readonly downloadStream: (path: string) => Promise<AsyncIterable<Uint8Array>>
  /** Sends any request and returns the body as a stream. Ending the iteration ends the request. */
  readonly stream: (request: OutgoingRequest) => Promise<AsyncIterable<Uint8Array>>
  /** Sends a body of any length, without retries, to a URL that is its own credential. `path` is from the root. */
  readonly upload: (path: string, query: URLSearchParams, content: AsyncIterable<Uint8Array>) => Promise<void>
  /** Returns a header of the answer to GET, or undefined if it is missing. */
  readonly header: (path: string, name: string) => Promise<string | undefined>
}

/** JSON that must be sent unchanged. */
export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Differences between the two APIs. */
interface Api {
  readonly prefix: string
  readonly headers: (request: OutgoingRequest, token: string) => Readonly<Record<string, string>>
  readonly refusal: (answer: RefusedAnswer, names: OutgoingRequest["names"]) => EngineError
}

interface RefusedAnswer {
  readonly status: number
  readonly document: unknown
  readonly header: (name: string) => string | undefined
  readonly retryAfterMs: number | undefined
}

const workspaceApi: Api = {
  prefix: "/api/v2",
  headers: ({ document, octets, headers }, token) => ({
    accept: mediaType,
    authorization: `Bearer ${token}`,
    ...(document === undefined ? {} : { "content-type": mediaType }),
    ...(octets === undefined ? {} : { "content-type": octets.mediaType }),
    ...headers,
  }),
  refusal: ({ status, document, retryAfterMs }, names) => decodeError(status, document, { retryAfterMs, names }),
}

/** `X-Service-Token` selects the native dialect (docs/dialects.md). */
const pkiApi: Api = {
  prefix: "/v1",
  headers: ({ method, document, octets }, token) => ({
    accept: octets === undefined ? "application/json" : "*/*",
    "x-service-token": token,
    ...(octets === undefined ? {} : { "content-type": octets.mediaType }),
    ...(document === undefined
      ? {}
      : { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" }),
  }),
  refusal: decodePkiError,
}

/** URLs that are their own credential. */
const openAddresses: Api = {
  ...workspaceApi,
  prefix: "",
  headers: ({ octets }) => (octets === undefined ? {} : { "content-type": octets.mediaType }),
}

/**
 * Builds a path; values are escaped as single segments. Throws `not-found` for a value that cannot be a segment, because nothing has such a
 * name.
 */
export function path(parts: TemplateStringsArray, ...values: readonly string[]): string {
  return parts.reduce((text, part, index) => text + segment(values[index - 1] ?? "") + part)
}

const longestSegment = 1_000

function segment(value: string): string {
  rejectUnstorableText(value)
  // URL normalization removes dot segments. No id or name is longer than the bound.
  if (value.length > longestSegment || value === "" || value === "." || value === "..") throw notFound()
  return encodeURIComponent(value)
}

function eachText(value: unknown, look: (text: string) => void): void {
  if (typeof value === "string") look(value)
  else if (typeof value === "object" && value !== null)
    for (const member of Object.values(value)) eachText(member, look)
}

/**
 * Returns a context that trusts `pem` in addition to the default certificates, which `ca` alone would replace. Shared by all connections.
 */
export const trusting = (pem: string | undefined, identity?: TransportOptions["clientIdentity"]): SecureContext =>
  createSecureContext({
    ca: [...getCACertificates("default"), ...(pem === undefined ? [] : [pem])],
    ...(identity && { cert: identity.certificates, key: identity.privateKey }),
  })

const mediaType = "application/vnd.api+json"

export function createTransport(url: string, options: TransportOptions): Transport {
  const base = baseOf(url)
  if (!/^[\x21-\x7e]+$/.test(options.token)) throw unauthenticated()
  const { answerTimeoutMs = 60_000, connectTimeoutMs = 10_000, attempts = 8 } = options
  const { maximumAnswerBytes = 96 * 1024 * 1024 } = options
  const { patienceMs = 20_000, pendingPatienceMs = 3_000 } = options
  const dispatcher = createDispatcher(options, connectTimeoutMs, answerTimeoutMs)
  const misplaced = addressFailure(base, options)
  const closing = new AbortController()
  const ending = options.signal === undefined ? closing.signal : AbortSignal.any([closing.signal, options.signal])

  async function begun(api: Api, request: OutgoingRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { method, document, query } = request
    // Rejects the same text as the embedded engine. The server's errors would point into a document that the caller has not seen.
    eachText(document, rejectUnstorableText)
    for (const value of query?.values() ?? []) rejectUnstorableText(value)
    const search = query === undefined || query.size === 0 ? "" : `?${query.toString()}`
    if (misplaced !== undefined) throw unprocessable(misplaced.message)
    await options.pace?.admit(signal)
    const answer = await answering(base, () =>
      dispatcher.request({
        origin: base.origin,
        path: `${base.pathname.replace(/\/$/, "")}${api.prefix}${request.path}${search}`,
        method,
        signal,
        headers: {
          "user-agent": "chancery",
          ...(options.nameRequest === undefined ? {} : { "x-request-id": options.nameRequest() }),
          ...traceHeaders(options.traceparent?.()),
          ...api.headers(request, options.token),
        },
        body: bodyOf(request),
        ...(request.quietMs === undefined ? {} : { bodyTimeout: request.quietMs }),
      }),
    )
    if (answer.statusCode >= 200 && answer.statusCode <= 299) return answer
    const error = errorFrom(api, await whole(answer), request.names)
    const tells = error.code === "rate-limited" || error.code === "busy"
    if (tells && error.retryAfterMs !== undefined) options.pace?.defer(error.retryAfterMs)
    throw error
  }

  const whole = ({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Answered> =>
    answering(base, async () => ({ statusCode, headers, bytes: await boundedBytes(body, maximumAnswerBytes) }))

  const once = async (api: Api, request: OutgoingRequest, signal: AbortSignal): Promise<Answered> =>
    whole(await begun(api, request, signal))

  async function patiently<T>(
    api: Api,
    request: OutgoingRequest,
    ask: (api: Api, request: OutgoingRequest, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const signal = request.signal === undefined ? ending : AbortSignal.any([ending, request.signal])
    let paused = 0
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await ask(api, request, signal)
      } catch (error) {
        if (closing.signal.aborted) throw unavailable("The engine has been closed.")
        signal.throwIfAborted()
        if (!isEngineError(error) || !mayRepeat(error, request) || attempt >= attempts) throw error
        if (error.notSent !== undefined && attempt >= connectAttempts) throw error
        const patience = error.code === "pending" ? pendingPatienceMs : patienceMs
        const growth = error.notSent === undefined ? attempt : attempt * 2
        const pauseMs = pauseBefore(growth, error.retryAfterMs ?? 0, options.random)
        if (paused + pauseMs > patience) throw error
        paused += pauseMs
        await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
      }
    }
  }

  const clientOf = (api: Api): HttpClient => ({
    async send(request) {
      const { bytes } = await patiently(api, request, once)
      return bytes.length === 0 ? undefined : parsed(bytes, base)
    },
    download: async (path, query) =>
      (await patiently(api, { method: "GET", path, ...(query === undefined ? {} : { query }) }, once)).bytes,
    exchange: async (path, octets) => (await patiently(api, { method: "POST", path, octets }, once)).bytes,
  })

  const stream = async (request: OutgoingRequest): Promise<AsyncIterable<Uint8Array>> => {
    const { body } = await patiently(workspaceApi, request, begun)
    return coming(base, body)
  }

  return {
    ...clientOf(workspaceApi),
    pki: clientOf(pkiApi),
    header: async (path, name) => single((await patiently(workspaceApi, { method: "GET", path }, once)).headers[name]),
    downloadStream: (path) => stream({ method: "GET", path }),
    stream,
    async upload(path, query, content) {
      const octets = { mediaType: "application/octet-stream", body: content }
      await once(openAddresses, { method: "PUT", path, query, octets }, ending)
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
      await dispatcher.destroy()
    },
  }
}

/** Later versions may append fields; version `ff` is invalid (W3C Trace Context, section 3.2). */
const traceparentPattern = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(-[\x21-\x7e]*)?$/

const traceHeaders = (traceparent = ""): Readonly<Record<string, string>> =>
  traceparentPattern.test(traceparent) ? { traceparent } : {}

/** Checks literal addresses here, because they are never resolved. */
function addressFailure(base: URL, { addresses, proxyUrl }: TransportOptions): FetchFailure | undefined {
  if (addresses === undefined) return undefined
  const dialled = proxyUrl === undefined ? [base] : [base, new URL(proxyUrl)]
  return dialled.map((url) => literalFailure(url, addresses)).find((failure) => failure !== undefined)
}

function createDispatcher(options: TransportOptions, connectTimeoutMs: number, answerTimeoutMs: number): Dispatcher {
  const { addresses, certificateAuthority, clientIdentity, proxyUrl, skipTlsVerify = false } = options
  const trust = {
    ...(certificateAuthority === undefined && clientIdentity === undefined
      ? {}
      : { secureContext: trusting(certificateAuthority, clientIdentity) }),
    ...(skipTlsVerify ? { rejectUnauthorized: false } : {}),
  }
  const pool = {
    headersTimeout: answerTimeoutMs,
    bodyTimeout: answerTimeoutMs,
    // Shorter than the idle timeout of servers, so that the client closes idle connections first.
    keepAliveTimeout: options.idleConnectionMs ?? 30_000,
    connections: options.maximumConnections ?? 32,
  }
  const connect = {
    timeout: connectTimeoutMs,
    ...trust,
    ...(addresses === undefined ? {} : { lookup: guardedLookup({ permitted: addresses }) }),
  }
  if (proxyUrl === undefined) return new Agent({ ...pool, connect })
  return new ProxyAgent({
    ...pool,
    uri: proxyUrl,
    proxyTls: connect,
    requestTls: { ...trust, timeout: connectTimeoutMs },
  })
}

function bodyOf({ document, octets }: OutgoingRequest): string | Uint8Array | Readable | null {
  if (octets !== undefined) return octets.body instanceof Uint8Array ? octets.body : Readable.from(octets.body)
  if (document === undefined) return null
  return document instanceof JsonText ? document.text : JSON.stringify(document)
}

function baseOf(url: string): URL {
  const base = new URL(url)
  if (base.username !== "" || base.password !== "" || base.search !== "" || base.hash !== "")
    throw new Error(
      "The URL of a server must not contain credentials, a query or a fragment; pass the token as an option.",
    )
  const folder = base.pathname.replace(/\/+$/, "")
  const prefix = [workspaceApi.prefix, pkiApi.prefix].find((one) => folder.endsWith(one)) ?? ""
  base.pathname = folder.slice(0, folder.length - prefix.length)
  return base
}

interface Answered {
  readonly statusCode: number
  readonly headers: Dispatcher.ResponseData["headers"]
  readonly bytes: Uint8Array
}

async function answering<T>(base: URL, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw unanswered(error, base)
  }
}

async function boundedBytes(body: Readable, maximum: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    length += piece.length
    // Leaving the loop closes the connection.
    if (length > maximum) throw new Error(`the response is longer than ${maximum} bytes`)
    pieces.push(piece)
  }
  return new Uint8Array(Buffer.concat(pieces))
}

async function* coming(base: URL, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    throw unanswered(error, base)
  }
}

/** The server received nothing of these requests. */
const unsentCodes = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
])
/** The server may have received these requests. Timeouts are not included, because a retry would wait as long again. */
const lostCodes = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"])

/** Returns true for Node's errors of an untrusted or mismatched server certificate. Nothing was sent. */
const isOfCertificate = (code: string): boolean => /CERT|UNABLE_TO_VERIFY|HOSTNAME_MISMATCH/.test(code)

function unanswered(error: unknown, base: URL): EngineError {
  if (error instanceof FetchFailure) return unprocessable(error.message)
  const code = codeOf(error)
  const reason = code === undefined ? "" : ` (${code})`
  if (isOfCertificate(code ?? ""))
    return unavailable(
      `${base.origin} presents a certificate that is not trusted${reason}.`,
      error,
      "untrusted-certificate",
    )
  if (unsentCodes.has(code ?? ""))
    return unavailable(`${base.origin} cannot be reached${reason}.`, error, "unreachable")
  return unavailable(`${base.origin} sent no complete response${reason}.`, error)
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === "string" ? code : undefined
}

function mayRepeat(error: EngineError, { method }: OutgoingRequest): boolean {
  switch (error.code) {
    case "rate-limited":
    case "busy":
    case "pending":
      return true
    case "unavailable": {
      if (error.notSent !== undefined) return error.notSent === "unreachable"
      return method === "GET" && lostCodes.has(codeOf(error.cause) ?? "")
    }
    default:
      return false
  }
}

/** About four seconds, long enough for a server to restart. Longer retries do not help against a wrong address. */
const connectAttempts = 4

const shortestPauseMs = 100
const longestPauseMs = 5_000

/**
 * Returns the pause before an attempt. It doubles up to a bound, and is never shorter than requested. Up to a half is added at random, so
 * that clients do not return together.
 */
function pauseBefore(attempt: number, requestedMs: number, random: RandomSource): number {
  const growing = Math.min(longestPauseMs, shortestPauseMs * 2 ** (attempt - 1))
  const [draw = 0] = random.bytes(1)
  const least = Math.max(requestedMs, growing)
  return Math.round(least + (Math.min(least, longestPauseMs) / 2) * (draw / 255))
}

function errorFrom(api: Api, { statusCode, headers, bytes }: Answered, names: OutgoingRequest["names"]): EngineError {
  let document: unknown
  try {
    document = JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    document = undefined
  }
  const header = (name: string) => single(headers[name])
  return api.refusal(
    { status: statusCode, document, header, retryAfterMs: requestedPauseMs(statusCode, headers) },
    names,
  )
}

/** Returns `Retry-After`, or else the seconds until the rate limit is reset. */
function requestedPauseMs(status: number, headers: Answered["headers"]): number | undefined {
  const fromHeader = retryAfterMs(single(headers["retry-after"]), single(headers["date"]))
  const limited = status === 429 ? secondsOf(single(headers["x-ratelimit-reset"])) : undefined
  return fromHeader ?? (limited === undefined ? undefined : limited * 1_000)
}

const single = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value)

function parsed(bytes: Uint8Array, base: URL): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
  } catch (error) {
    throw unavailable(`The response of ${base.origin} is not JSON; check the server's address.`, error)
  }
}

type Parameters = readonly (readonly [name: string, value: string | undefined])[]

export function queryOf(parameters: Parameters): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of parameters) if (value !== undefined) query.append(name, value)
  return query
}
