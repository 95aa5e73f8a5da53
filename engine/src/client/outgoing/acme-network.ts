// Network access of ACME validation (`acme/validation/validation.ts`), always behind the address guard. A name is resolved once, by the
// resolver of the mount's settings, and the connection uses the addresses that were checked.
import type { LookupAddress } from "node:dns"
import { Resolver } from "node:dns/promises"
import { connect } from "node:tls"
import { LRUCache } from "lru-cache"
import type { AcmeNetwork, CaaRecord, NetworkTerms, TlsGreeting } from "../../acme/validation/validation.ts"
import { FetchFailure } from "../../core/fetch.ts"
import type { Runtime } from "../../core/runtime.ts"
import { nextTurn } from "../../core/timers.ts"
import { parseIpRange } from "../../pki/names/ip-address.ts"
import { parseResolver } from "../../pki/mounts/acme-settings.ts"
import type { PermittedAddresses } from "./address-guard.ts"
import { type GuardedFetch, guardedFetch } from "./guarded-fetch.ts"
import { type GuardedLookupOptions, permittedAddresses } from "./guarded-lookup.ts"

export interface AcmeNetworkOptions {
  /** Permitted in addition to the ranges of each mount's settings. */
  readonly permitted: PermittedAddresses
  readonly httpPort: number
  readonly tlsPort: number
  readonly digest: Runtime["digest"]
}

const answerTimeoutMs = 10_000
/** A key authorization has a few hundred characters, so longer responses are invalid. */
const maxAnswerBytes = 8_192
const maxRedirects = 10
/** Timeout of the first of two attempts; the second has twice as long. */
const dnsTimeoutMs = 3_000
/** Maximum CNAME records followed for one name. */
const maxAliases = 8
const usualPorts = [80, 443]
/** Maximum connection pools. Each mount may have its own settings and so its own pool; the least recently used is dropped first. */
const maxFetches = 64

export function acmeNetwork(options: AcmeNetworkOptions): AcmeNetwork & AsyncDisposable {
  const fetches = new LRUCache<string, GuardedFetch>({ max: maxFetches })

  function fetchFor(terms: NetworkTerms): GuardedFetch {
    const key = JSON.stringify(terms)
    const known = fetches.get(key)
    if (known !== undefined) return known
    const made = guardedFetch({ ...guardOf(terms, options), digest: options.digest })
    fetches.set(key, made)
    return made
  }

  return {
    async getHttp(host, path, terms) {
      const { httpPort } = options
      const authority = host.includes(":") ? `[${host}]` : host
      const url = `http://${authority}${httpPort === 80 ? "" : `:${httpPort}`}${path}`
      return fetchFor(terms).fetch({
        method: "GET",
        url,
        headers: { accept: "*/*" },
        timeoutMs: answerTimeoutMs,
        maxAnswerBytes,
        maxRedirects,
        ports: [...usualPorts, httpPort],
        trust: { kind: "anybody" },
        closes: true,
      })
    },
    async greetTls(host, greeting, terms) {
      const addresses = await resolved(host, guardOf(terms, options))
      let failure: unknown
      for (const { address } of addresses) {
        try {
          return await greet(address, options.tlsPort, greeting)
        } catch (error) {
          failure = error
        }
      }
      throw failure
    },
    async lookUpTxt(name, terms) {
      let at = name
      for (let aliases = 0; aliases <= maxAliases; aliases += 1) {
        const records = await looked(at, terms, (resolver) => resolver.resolveTxt(at))
        if (records.length > 0) return records.map((pieces) => pieces.join(""))
        // Some resolvers do not follow CNAME records.
        const [alias] = await looked(at, terms, (resolver) => resolver.resolveCname(at))
        if (alias === undefined) return []
        at = alias
      }
      throw new FetchFailure("unresolved", `${name} has a chain of more than ${maxAliases} CNAME records.`)
    },
    async lookUpCaa(name, terms): Promise<readonly CaaRecord[]> {
      const records = await looked(name, terms, (resolver) => resolver.resolveCaa(name))
      return records.flatMap(({ critical, ...properties }) =>
        Object.entries(properties).flatMap(([tag, value]) =>
          typeof value === "string" && tag !== "type"
            ? [{ critical: (critical & 128) !== 0, tag: tag.toLowerCase(), value }]
            : [],
        ),
      )
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(Array.from(fetches.values(), (one) => one[Symbol.asyncDispose]()))
      fetches.clear()
    },
  }
}

const rangesIn = (texts: readonly string[]) => texts.flatMap((text) => parseIpRange(text) ?? [])

function guardOf(terms: NetworkTerms, { permitted }: AcmeNetworkOptions): GuardedLookupOptions {
  const ranges = rangesIn(terms.permittedRanges)
  const guard = {
    permitted: {
      kinds: permitted.kinds,
      ranges: [...permitted.ranges, ...ranges],
      excluded: rangesIn(terms.excludedRanges),
    },
  }
  return terms.resolver === "" ? guard : { ...guard, resolve: (host) => addressesOf(host, terms) }
}

const resolversOfThisTurn = new Map<string, Resolver>()

/**
 * Returns the resolver that all lookups of this turn of the event loop share, because creating one takes as long as a lookup. It is not
 * kept longer: a resolver shortens its timeout by its earlier responses, to as little as a twelfth of the configured one.
 */
function resolverOfThisTurn(terms: NetworkTerms): Resolver {
  const { resolver } = terms
  if (resolversOfThisTurn.size === 0) void nextTurn().then(() => resolversOfThisTurn.clear())
  const made = resolversOfThisTurn.get(resolver) ?? newResolver(terms, dnsTimeoutMs)
  resolversOfThisTurn.set(resolver, made)
  return made
}

function newResolver({ resolver }: NetworkTerms, timeoutMs: number): Resolver {
  const own = new Resolver({ timeout: timeoutMs, tries: 1 })
  const server = resolver === "" ? undefined : parseResolver(resolver)
  if (server !== undefined) {
    const { address, port } = server
    own.setServers([address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`])
  }
  return own
}

async function addressesOf(host: string, terms: NetworkTerms): Promise<readonly LookupAddress[]> {
  const [six, four] = await Promise.all([
    looked(host, terms, (resolver) => resolver.resolve6(host)),
    looked(host, terms, (resolver) => resolver.resolve4(host)),
  ])
  const found = [...six.map((address) => ({ address, family: 6 })), ...four.map((address) => ({ address, family: 4 }))]
  if (found.length === 0) throw new FetchFailure("unresolved", `${host} has no address.`)
  return found
}

/**
 * Looks up records. Returns an empty list if there are none. Retries once with a new resolver if there is no answer, then throws
 * `FetchFailure`.
 */
async function looked<T>(
  name: string,
  terms: NetworkTerms,
  ask: (resolver: Resolver) => Promise<T[]>,
): Promise<readonly T[]> {
  const first = await answered(ask(resolverOfThisTurn(terms)))
  if ("records" in first) return first.records
  const second = await answered(ask(newResolver(terms, 2 * dnsTimeoutMs)))
  if ("records" in second) return second.records
  throw new FetchFailure("unresolved", `${name} could not be looked up (${String(second.code)}).`, second.error)
}

interface Unanswered {
  readonly code: string | undefined
  readonly error: unknown
}

async function answered<T>(records: Promise<readonly T[]>): Promise<{ readonly records: readonly T[] } | Unanswered> {
  try {
    return { records: await records }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === "ENODATA" || code === "ENOTFOUND" ? { records: [] } : { code, error }
  }
}

async function resolved(host: string, guard: GuardedLookupOptions): Promise<readonly LookupAddress[]> {
  try {
    return await permittedAddresses(host, guard)
  } catch (error) {
    if (error instanceof FetchFailure) throw error
    throw new FetchFailure("unresolved", `${host} has no address.`, error)
  }
}

function greet(
  address: string,
  port: number,
  { serverName, protocol }: { readonly serverName: string; readonly protocol: string },
): Promise<TlsGreeting> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: address,
      port,
      servername: serverName,
      ALPNProtocols: [protocol],
      // The caller checks the content of the certificate; no authority vouches for it.
      rejectUnauthorized: false,
      minVersion: "TLSv1.2",
    })
    const fail = (kind: "timeout" | "unreachable" | "untrusted", why: string, cause?: unknown) => {
      socket.destroy()
      reject(new FetchFailure(kind, `${address} port ${port} ${why}.`, cause))
    }
    const timer = setTimeout(() => fail("timeout", `did not answer within ${answerTimeoutMs} ms`), answerTimeoutMs)
    socket.once("close", () => clearTimeout(timer))
    socket.once("error", (error: NodeJS.ErrnoException) =>
      fail(
        error.syscall === "connect" ? "unreachable" : "untrusted",
        `${error.syscall === "connect" ? "cannot be reached" : "did not complete the TLS handshake"} (${String(error.code)})`,
        error,
      ),
    )
    socket.once("secureConnect", () => {
      const { alpnProtocol } = socket
      const { raw } = socket.getPeerCertificate() as { readonly raw?: Uint8Array }
      socket.destroy()
      resolve({ protocol: typeof alpnProtocol === "string" ? alpnProtocol : undefined, certificate: raw })
    })
  })
}
