// The only way in which the engine connects to hosts that clients name. A name is resolved once, and the connection uses the addresses that
// were checked, so DNS rebinding has no effect. Each redirect is checked again.
import type { LookupFunction } from "node:net"
import type { PeerCertificate } from "node:tls"
import { LRUCache } from "lru-cache"
import type { Agent, Dispatcher } from "undici"
import {
  type Fetch,
  FetchFailure,
  type FetchFailureKind,
  type OutgoingAnswer,
  type OutgoingRequest,
  type Trust,
} from "../../core/fetch.ts"
import type { Runtime } from "../../core/runtime.ts"
import { systemTimers } from "../../core/timers.ts"
import type { PermittedAddresses } from "./address-guard.ts"
import { guardedLookup, type GuardedLookupOptions, literalFailure } from "./guarded-lookup.ts"

export interface GuardedFetchOptions extends GuardedLookupOptions {
  readonly digest: Runtime["digest"]
}

export interface GuardedFetch extends AsyncDisposable {
  readonly fetch: Fetch
}

/** Maximum agents, each with its own trust, identity and connections. Mounts with their own services beyond this reconnect more often. */
const maxAgents = 32
const idleConnectionMs = 30_000
const maxDroppedBytes = 16_384

/** Creates a fetch behind the address guard, which throws `FetchFailure`. Disposing it closes its connections. */
export function guardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const agents = new LRUCache<string, Agent>({
    max: maxAgents,
    // Closes the agent after its requests in flight have finished.
    dispose: (agent, _key, reason) => void (reason === "evict" && agent.close()),
  })
  const lookup = guardedLookup(options)

  async function agentFor({ trust, identity }: OutgoingRequest): Promise<Agent> {
    // Imported at the first request, because most embedded engines send none.
    const undici = await import("undici")
    const key = options.digest(JSON.stringify([trust, identity]))
    const known = agents.get(key)
    if (known !== undefined) return known
    const agent = new undici.Agent(agentOptions(lookup, trust, identity))
    agents.set(key, agent)
    return agent
  }

  return {
    async fetch(request) {
      const limit = timeLimit(request.timeoutMs)
      try {
        return await follow(request, {
          agent: () => agentFor(request),
          permitted: options.permitted,
          signal: limit.signal,
        })
      } catch (error) {
        if (error instanceof FetchFailure) throw error
        if (limit.signal.aborted)
          throw new FetchFailure("timeout", `${originOf(request.url)} did not answer within ${request.timeoutMs} ms.`)
        throw failureOf(error, originOf(request.url))
      } finally {
        // A body that is being dropped may use the rest of the time.
        if (request.dropsBody !== true) limit.cancel()
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()))
      agents.clear()
    },
  }
}

/** Returns a signal that aborts after `ms`. Unlike `AbortSignal.timeout`, its timer can be cancelled. */
function timeLimit(ms: number): { readonly signal: AbortSignal; readonly cancel: () => void } {
  const controller = new AbortController()
  const cancel = systemTimers.after(ms, () => controller.abort())
  return { signal: controller.signal, cancel }
}

/** State that a request and its redirects share. */
interface RequestContext {
  readonly agent: () => Promise<Agent>
  readonly permitted: PermittedAddresses
  readonly signal: AbortSignal
}

async function follow(request: OutgoingRequest, way: RequestContext): Promise<OutgoingAnswer> {
  const { maxRedirects } = request
  let url = urlOf(request.url)
  for (let redirects = 0; ; redirects += 1) {
    const answer = await ask(request, url, way)
    const { location } = answer.headers
    if (maxRedirects === undefined || request.method !== "GET") return answer
    if (!redirectStatuses.has(answer.status) || location === undefined) return answer
    if (redirects === maxRedirects) {
      throw new FetchFailure("redirects", `${originOf(request.url)} redirects more than ${maxRedirects} times.`)
    }
    url = urlOf(location, url)
  }
}

const redirectStatuses = new Set([301, 302, 303, 307, 308])

function urlOf(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href)
  if (url !== null && (url.protocol === "http:" || url.protocol === "https:")) return url
  throw new FetchFailure(
    "redirects",
    base === undefined
      ? `${originOf(text)} is not an http or https URL.`
      : `${originOf(base.href)} redirects to a URL that is not http or https.`,
  )
}

async function ask(
  { method, headers: requestHeaders, body, maxAnswerBytes, dropsBody, ports, closes }: OutgoingRequest,
  url: URL,
  { agent, permitted, signal }: RequestContext,
): Promise<OutgoingAnswer> {
  const failure = literalFailure(url, permitted)
  if (failure !== undefined) throw failure
  if (ports !== undefined && !ports.includes(portOf(url)))
    throw new FetchFailure("redirects", `${url.origin} is on a port that this server may not connect to.`)
  const headers = { "user-agent": "chancery", ...requestHeaders }
  const answer = await (
    await agent()
  ).request({
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method,
    signal,
    headers,
    body: body ?? null,
    reset: closes === true,
  })
  // A short body is read, so that the connection can be reused. For a long one the connection is closed.
  if (dropsBody === true) void answer.body.dump({ limit: maxDroppedBytes }).catch(() => {})
  return {
    status: answer.statusCode,
    headers: firstOfEach(answer.headers),
    body: dropsBody === true ? new Uint8Array() : await read(answer.body, maxAnswerBytes, url.origin),
  }
}

async function read(body: Dispatcher.ResponseData["body"], maximum: number, origin: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    length += piece.byteLength
    // Leaving the loop destroys the body and its connection.
    if (length > maximum) throw new FetchFailure("too-large", `${origin} sent more than ${maximum} bytes.`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

function agentOptions(
  lookup: LookupFunction,
  trust: Trust | undefined,
  identity: OutgoingRequest["identity"],
): Agent.Options {
  return {
    allowH2: false,
    keepAliveTimeout: idleConnectionMs,
    keepAliveMaxTimeout: idleConnectionMs,
    connect: {
      lookup,
      ...trustOptions(trust),
      ...(identity === undefined ? {} : { cert: identity.certificates, key: identity.privateKey }),
    },
  }
}

function trustOptions(trust: Trust | undefined) {
  if (trust === undefined) return {}
  if (trust.kind === "anybody") return { rejectUnauthorized: false }
  // Trusted certificates are anchors even if they are intermediates or leaf certificates.
  const anchors = { ca: trust.certificates, allowPartialTrustChain: true }
  if (trust.kind === "authorities") return anchors
  const pins = new Set(pemBodies(trust.certificates))
  return {
    ...anchors,
    checkServerIdentity: (_host: string, { raw }: PeerCertificate): Error | undefined =>
      pins.has(raw.toString("base64")) ? undefined : new FetchFailure("untrusted", notPinned),
  }
}

const notPinned = "The server certificate is not one of the trusted certificates."

const pemBodies = (pem: string): string[] =>
  [...pem.matchAll(/-----BEGIN CERTIFICATE-----([\sA-Za-z0-9+/=]*)-----END CERTIFICATE-----/g)].map(([, body = ""]) =>
    body.replaceAll(/\s+/g, ""),
  )

/** Describes an error of undici or TLS. */
export function failureOf(error: unknown, origin: string): FetchFailure {
  const inner = innermost(error)
  if (inner instanceof FetchFailure)
    return new FetchFailure(inner.kind, inner.message === notPinned ? `${origin}: ${notPinned}` : inner.message)
  const { code, name } = inner as { readonly code?: unknown; readonly name?: unknown }
  const reason = typeof code === "string" ? code : String(name)
  const kind = kindOfFailure(reason)
  return new FetchFailure(kind, `${origin} ${what[kind]} (${reason}).`, error)
}

/** Returns the first failure if several addresses were tried. */
function innermost(error: unknown): unknown {
  return error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error
}

const unreachableCodes = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
])
/** undici identifies some errors of its HTTP parser by name and others by code. */
const brokenCodes = new Set(["ECONNRESET", "EPIPE", "HTTPParserError"])

function kindOfFailure(code: string): "unresolved" | "unreachable" | "broken" | "untrusted" {
  if (code === "ENOTFOUND" || code.startsWith("EAI_")) return "unresolved"
  if (unreachableCodes.has(code)) return "unreachable"
  if (brokenCodes.has(code) || code.startsWith("HPE_") || code.startsWith("UND_ERR_")) return "broken"
  // The remaining errors come from TLS. OpenSSL's codes of certificate errors have no common prefix.
  return "untrusted"
}

const what: Readonly<Record<ReturnType<typeof kindOfFailure>, string>> = {
  unresolved: "has no address",
  unreachable: "cannot be reached",
  broken: "sent no complete response",
  untrusted: "is not trusted, or does not trust this server",
} satisfies Partial<Record<FetchFailureKind, string>>

const portOf = ({ port, protocol }: URL): number => (port === "" ? (protocol === "https:" ? 443 : 80) : Number(port))

const originOf = (url: string): string => URL.parse(url)?.origin ?? "The address"

const firstOfEach = (headers: Dispatcher.ResponseData["headers"]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const first = Array.isArray(value) ? value[0] : value
      return first === undefined ? [] : [[name.toLowerCase(), first]]
    }),
  )
