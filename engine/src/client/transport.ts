// Requests to a Chancery server over a pool of kept connections, to either of its two APIs. What the server refuses becomes the same `EngineError` that
// the embedded engine throws; what never got there, or whose answer was lost, becomes `unavailable`.
//
// Sent again, with growing and jittered pauses, both bounded: whatever the server answered with 429 or 503, since it did
// nothing then, and what never left because no connection came about. A lost answer is asked for again only where asking
// changes nothing (GET): anything else may have been done.
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
import { guardedLookup, literalRefusal } from "./outgoing/guarded-lookup.ts"
import { retryAfterMs, secondsOf } from "./retry-after.ts"

export interface TransportOptions {
  /** Sent as Bearer, kept in memory, never part of a message. */
  readonly token: string
  readonly random: RandomSource
  /** Ends whatever is under way, and everything after it. */
  readonly signal?: AbortSignal
  /** Certificates to trust beside those of the system, PEM. */
  readonly certificateAuthority?: string
  /** Takes whoever answers for the server. For trials only: they get the token. */
  readonly skipTlsVerify?: boolean
  /** Through which requests go, `http://` or `https://`; directly when left out. */
  readonly proxyUrl?: string
  /** Where the server, or the proxy before it, may be besides public addresses; anywhere when left out. */
  readonly addresses?: PermittedAddresses
  /** When requests may be sent; at once when left out. */
  readonly pace?: Pace
  /** What each request is called in the server's logs and in the events of what it changes; the server names it when left out. */
  readonly nameRequest?: () => string
  /**
   * Of which trace requests are part, as the header `traceparent` has it (W3C Trace Context); asked for each of them. What is no
   * such text is not sent.
   */
  readonly traceparent?: () => string | undefined
  readonly connectTimeoutMs?: number
  /** From the request to the first byte of the answer, and between two pieces of its body. */
  readonly answerTimeoutMs?: number
  readonly idleConnectionMs?: number
  readonly maximumConnections?: number
  readonly maximumAnswerBytes?: number
  readonly attempts?: number
  /** All pauses of one request together. */
  readonly patienceMs?: number
  /** The same while the server waits for something of the client's to be finished, such as a state on its way. */
  readonly pendingPatienceMs?: number
}

/** Shared by those who ask one server, so that together they stay below its limits. */
export interface Pace {
  /** Resolves when one request may be sent. */
  admit(signal: AbortSignal): Promise<void>
  /** The server wants nothing more for so long. */
  defer(retryAfterMs: number): void
}

export interface OutgoingRequest {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE"
  /** Below the version prefix; made by `path`. */
  readonly path: string
  readonly query?: URLSearchParams
  readonly document?: unknown
  /** In the place of a document. */
  readonly octets?: { readonly mediaType: string; readonly body: Uint8Array | AsyncIterable<Uint8Array> }
  /** For fields of which the domain's name and the wire's do not follow from each other, as the API's errors have them. */
  readonly names?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** For how long nothing may come of an answer that has begun, where that is longer than usual. */
  readonly quietMs?: number
  /** Beside those that every request has, or in their place. */
  readonly headers?: Readonly<Record<string, string>>
}

/** One way to ask: the API of workspaces, unless it is called for certificates. */
export interface HttpClient {
  /** The answer's document; undefined where it has none. */
  readonly send: (request: OutgoingRequest) => Promise<unknown>
  /** The answer's body as it is. */
  readonly download: (path: string, query?: URLSearchParams) => Promise<Uint8Array>
  /** Octets for octets. */
  readonly exchange: (path: string, octets: NonNullable<OutgoingRequest["octets"]>) => Promise<Uint8Array>
}

export interface Transport extends HttpClient, AsyncDisposable {
  /** The API of certificates. */
  readonly pki: HttpClient
  /** The answer's body as it comes, however long it is. */
  readonly downloadStream: (path: string) => Promise<AsyncIterable<Uint8Array>>
  /** The same of any request; whoever stops reading ends it. */
  readonly stream: (request: OutgoingRequest) => Promise<AsyncIterable<Uint8Array>>
  /** Sends a body of any length, once, to an address that is its own credential; `path` is from the root. */
  readonly upload: (path: string, query: URLSearchParams, content: AsyncIterable<Uint8Array>) => Promise<void>
  /** A header of the answer to GET; undefined where it has none. */
  readonly header: (path: string, name: string) => Promise<string | undefined>
}

/** A document whose text must arrive as it is. */
export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** What the two APIs say differently. */
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

/** Addresses that are their own credential. */
const openAddresses: Api = {
  ...workspaceApi,
  prefix: "",
  headers: ({ octets }) => (octets === undefined ? {} : { "content-type": octets.mediaType }),
}

/** A path whose values cannot change its shape. A value that no address can carry names nothing. */
export function path(parts: TemplateStringsArray, ...values: readonly string[]): string {
  return parts.reduce((text, part, index) => text + segment(values[index - 1] ?? "") + part)
}

const longestSegment = 1_000

function segment(value: string): string {
  rejectUnstorableText(value)
  // Dots would be folded away on the road, and no id or name is as long as that.
  if (value.length > longestSegment || value === "" || value === "." || value === "..") throw notFound()
  return encodeURIComponent(value)
}

function eachText(value: unknown, look: (text: string) => void): void {
  if (typeof value === "string") look(value)
  else if (typeof value === "object" && value !== null)
    for (const member of Object.values(value)) eachText(member, look)
}

/** Beside those that are trusted anyway; a list of one's own would take their place. Read once, for every connection. */
const trusting = (pem: string): SecureContext => createSecureContext({ ca: [...getCACertificates("default"), pem] })

const mediaType = "application/vnd.api+json"

export function createTransport(url: string, options: TransportOptions): Transport {
  const base = baseOf(url)
  if (!/^[\x21-\x7e]+$/.test(options.token)) throw unauthenticated()
  const { answerTimeoutMs = 60_000, connectTimeoutMs = 10_000, attempts = 8 } = options
  const { maximumAnswerBytes = 96 * 1024 * 1024 } = options
  const { patienceMs = 20_000, pendingPatienceMs = 3_000 } = options
  const dispatcher = createDispatcher(options, connectTimeoutMs, answerTimeoutMs)
  const misplaced = refusalOfAddress(base, options)
  const closing = new AbortController()
  const ending = options.signal === undefined ? closing.signal : AbortSignal.any([closing.signal, options.signal])

  async function begun(api: Api, request: OutgoingRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { method, document, query } = request
    // As an embedded engine's store does; the server would name the pointers of a document that nobody here wrote.
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
    const refusal = refusalOf(api, await whole(answer), request.names)
    const tells = refusal.code === "rate-limited" || refusal.code === "busy"
    if (tells && refusal.retryAfterMs !== undefined) options.pace?.defer(refusal.retryAfterMs)
    throw refusal
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

  const asking = (api: Api): HttpClient => ({
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
    ...asking(workspaceApi),
    pki: asking(pkiApi),
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

/** Later versions may have more behind; `ff` is none (W3C Trace Context, section 3.2). */
const traceparentPattern = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(-[\x21-\x7e]*)?$/

const traceHeaders = (traceparent = ""): Readonly<Record<string, string>> =>
  traceparentPattern.test(traceparent) ? { traceparent } : {}

/** Addresses that are written out are never resolved, and so looked at here. */
function refusalOfAddress(base: URL, { addresses, proxyUrl }: TransportOptions): FetchFailure | undefined {
  if (addresses === undefined) return undefined
  const dialled = proxyUrl === undefined ? [base] : [base, new URL(proxyUrl)]
  return dialled.map((url) => literalRefusal(url, addresses)).find((refusal) => refusal !== undefined)
}

function createDispatcher(options: TransportOptions, connectTimeoutMs: number, answerTimeoutMs: number): Dispatcher {
  const { addresses, certificateAuthority, proxyUrl, skipTlsVerify = false } = options
  const trust = {
    ...(certificateAuthority === undefined ? {} : { secureContext: trusting(certificateAuthority) }),
    ...(skipTlsVerify ? { rejectUnauthorized: false } : {}),
  }
  const pool = {
    headersTimeout: answerTimeoutMs,
    bodyTimeout: answerTimeoutMs,
    // Shorter than a server keeps an idle connection, so that the client and not the server closes it.
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
    throw new Error("The URL of an engine is its address alone; the token is an option of its own.")
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
    // The loop ends the connection with it.
    if (length > maximum) throw new Error(`an answer of more than ${maximum} bytes`)
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

/** Of these the server has seen nothing. */
const unsentCodes = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
])
/** Of these it may have; a timeout is not among them, since a second try would only wait as long again. */
const lostCodes = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"])

/** What Node calls a server's certificate that nothing vouches for, or that is another's; nothing was sent. */
const isOfCertificate = (code: string): boolean => /CERT|UNABLE_TO_VERIFY|HOSTNAME_MISMATCH/.test(code)

function unanswered(error: unknown, base: URL): EngineError {
  if (error instanceof FetchFailure) return unprocessable(error.message)
  const code = codeOf(error)
  const reason = code === undefined ? "" : ` (${code})`
  if (isOfCertificate(code ?? ""))
    return unavailable(
      `${base.origin} shows a certificate that is not trusted${reason}.`,
      error,
      "untrusted-certificate",
    )
  if (unsentCodes.has(code ?? ""))
    return unavailable(`${base.origin} cannot be reached${reason}.`, error, "unreachable")
  return unavailable(`${base.origin} gave no complete answer${reason}.`, error)
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

/** About four seconds, long enough for a server to restart. A wrong address does not get better. */
const connectAttempts = 4

const shortestPauseMs = 100
const longestPauseMs = 5_000

/** Twice as long each time, never shorter than asked for, and up to a half longer so that clients do not come back as one. */
function pauseBefore(attempt: number, askedMs: number, random: RandomSource): number {
  const growing = Math.min(longestPauseMs, shortestPauseMs * 2 ** (attempt - 1))
  const [draw = 0] = random.bytes(1)
  const least = Math.max(askedMs, growing)
  return Math.round(least + (Math.min(least, longestPauseMs) / 2) * (draw / 255))
}

function refusalOf(api: Api, { statusCode, headers, bytes }: Answered, names: OutgoingRequest["names"]): EngineError {
  let document: unknown
  try {
    document = JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    document = undefined
  }
  const header = (name: string) => single(headers[name])
  return api.refusal({ status: statusCode, document, header, retryAfterMs: askedPauseMs(statusCode, headers) }, names)
}

/** `Retry-After`, else the seconds until the rate limit ends. */
function askedPauseMs(status: number, headers: Answered["headers"]): number | undefined {
  const asked = retryAfterMs(single(headers["retry-after"]), single(headers["date"]))
  const limited = status === 429 ? secondsOf(single(headers["x-ratelimit-reset"])) : undefined
  return asked ?? (limited === undefined ? undefined : limited * 1_000)
}

const single = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value)

function parsed(bytes: Uint8Array, base: URL): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
  } catch (error) {
    throw unavailable(`What ${base.origin} answered is not JSON; is it the address of an engine?`, error)
  }
}

type Parameters = readonly (readonly [name: string, value: string | undefined])[]

export function queryOf(parameters: Parameters): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of parameters) if (value !== undefined) query.append(name, value)
  return query
}
