// Downloads of large files from a server that the operator of an agent configured. Unlike the guarded fetch, it may reach any address, and
// the caller consumes the body in chunks, so that an archive is never in memory as a whole.
import { type Dispatcher, Agent, ProxyAgent } from "undici"
import { FetchFailure } from "../../core/fetch.ts"
import { trusting } from "../transport.ts"
import { failureOf } from "./guarded-fetch.ts"

export interface DownloaderOptions {
  /** Certificates to trust in addition to those of the system, in PEM. */
  readonly certificateAuthority?: string
  /** Proxy for all requests, `http://` or `https://`. Default: direct connections. */
  readonly proxyUrl?: string
  /** Timeout of a connection, of the response headers, and between two chunks of a body. */
  readonly idleTimeoutMs?: number
}

export interface DownloadRequest {
  /** URL with the scheme http or https. A user name and password in it are sent to this origin only. */
  readonly url: string
  readonly maxBytes: number
  /** Timeout for everything: connection, redirects, and the last byte of the body. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export interface Downloader extends AsyncDisposable {
  /**
   * Returns the body of the file. Returns undefined if the server has no such file (404 or 410). Throws `FetchFailure` for any other
   * status, and while the body is read.
   */
  download(request: DownloadRequest): Promise<AsyncIterable<Buffer> | undefined>
}

const maxRedirects = 5
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const missingStatuses: ReadonlySet<number> = new Set([404, 410])
const maxDroppedBytes = 16_384

export function createDownloader(options: DownloaderOptions = {}): Downloader {
  const dispatcher = createDispatcher(options)
  return {
    async download(request) {
      const start = new URL(request.url)
      const signal = AbortSignal.any([request.signal, AbortSignal.timeout(request.timeoutMs)])
      const translate = (error: unknown): unknown => translated(error, start.origin, request)
      try {
        const body = await follow(dispatcher, start, signal)
        return body && bounded(body, { origin: start.origin, maxBytes: request.maxBytes, translate })
      } catch (error) {
        throw translate(error)
      }
    },
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  }
}

function createDispatcher({ certificateAuthority, proxyUrl, idleTimeoutMs = 30_000 }: DownloaderOptions): Dispatcher {
  const connect = {
    timeout: idleTimeoutMs,
    ...(certificateAuthority === undefined ? {} : { secureContext: trusting(certificateAuthority) }),
  }
  const timeouts = { headersTimeout: idleTimeoutMs, bodyTimeout: idleTimeoutMs }
  return proxyUrl === undefined
    ? new Agent({ ...timeouts, connect })
    : new ProxyAgent({ ...timeouts, uri: proxyUrl, proxyTls: connect, requestTls: connect })
}

/** Follows redirects to https, and to http only from a server that is configured with http. */
async function follow(
  dispatcher: Dispatcher,
  start: URL,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData["body"] | undefined> {
  let url = start
  for (let redirects = 0; ; redirects += 1) {
    const headers = { "user-agent": "chancery", ...(url.origin === start.origin ? authorization(start) : {}) }
    const { origin, pathname, search } = url
    const {
      statusCode,
      headers: answered,
      body,
    } = await dispatcher.request({
      origin,
      path: `${pathname}${search}`,
      method: "GET",
      headers,
      signal,
    })
    if (statusCode === 200) return body
    await body.dump({ limit: maxDroppedBytes })
    if (missingStatuses.has(statusCode)) return undefined
    const { location } = answered
    if (!redirectStatuses.has(statusCode) || typeof location !== "string")
      throw new FetchFailure("broken", `${origin} answered with status ${statusCode}.`)
    if (redirects === maxRedirects)
      throw new FetchFailure("redirects", `${start.origin} redirects more than ${maxRedirects} times.`)
    url = redirectTarget(location, url, start)
  }
}

function redirectTarget(location: string, from: URL, start: URL): URL {
  const url = URL.parse(location, from.href)
  if (url?.protocol === "https:" || (url?.protocol === "http:" && start.protocol === "http:")) return url
  throw new FetchFailure("redirects", `${from.origin} redirects to a URL that is not https.`)
}

function authorization({ username, password }: URL): { readonly authorization?: string } {
  if (username === "" && password === "") return {}
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` }
}

interface BodyContext {
  readonly origin: string
  readonly maxBytes: number
  readonly translate: (error: unknown) => unknown
}

async function* bounded(
  body: Dispatcher.ResponseData["body"],
  { origin, maxBytes, translate }: BodyContext,
): AsyncGenerator<Buffer> {
  let length = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.byteLength
      // Leaving the loop destroys the body and its connection.
      if (length > maxBytes) throw new FetchFailure("too-large", `${origin} sent more than ${maxBytes} bytes.`)
      yield chunk
    }
  } catch (error) {
    throw translate(error)
  }
}

function translated(error: unknown, origin: string, { signal, timeoutMs }: DownloadRequest): unknown {
  // The caller's own reason, such as the end of the agent, is no failure of the server.
  if (error instanceof FetchFailure || signal.aborted) return error
  if (error instanceof Error && error.name === "TimeoutError")
    return new FetchFailure("timeout", `${origin} did not send the file within ${timeoutMs} ms.`)
  const { code } = error as { readonly code?: unknown }
  if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT")
    return new FetchFailure("timeout", `${origin} stopped sending data.`)
  return failureOf(error, origin)
}
