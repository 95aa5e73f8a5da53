// Spans of outgoing requests. They contain only the origin of a URL: the rest may be a credential, as in many webhook URLs.
import type { AcmeNetwork } from "../acme/validation/validation.ts"
import { type Fetch, FetchFailure } from "../core/fetch.ts"
import { during, recordedSpan, type Span, type SpanAttributes, type Tracer } from "../core/tracing.ts"

export interface TracedFetchOptions {
  /** Name of the requested service, such as `policy service`. */
  readonly name: string
  /** True to send the trace context to the service. Only the operator's own services get it. */
  readonly propagates: boolean
}

export const tracedFetch =
  (fetch: Fetch, tracer: Tracer, { name, propagates }: TracedFetchOptions): Fetch =>
  (request) => {
    const current = tracer.current()
    if (current === undefined) return fetch(request)
    const span = current.child(`${request.method} ${name}`, {
      kind: "client",
      attributes: { "http.request.method": request.method, ...addressOf(request.url) },
    })
    return fetchWithin(tracer, span, async () => {
      const answer = await fetch(
        propagates ? { ...request, headers: { ...request.headers, ...span.headers } } : request,
      )
      span.set({ "http.response.status_code": answer.status })
      return answer
    })
  }

function addressOf(text: string): SpanAttributes {
  const url = URL.parse(text)
  if (url === null) return {}
  const usualPort = url.protocol === "https:" ? 443 : 80
  return {
    "url.scheme": url.protocol.slice(0, -1),
    "server.address": url.hostname,
    "server.port": url.port === "" ? usualPort : Number(url.port),
  }
}

/** Traces the requests of ACME validations. The trace context is not sent, because the servers are not the operator's. */
export function tracedAcmeNetwork(network: AcmeNetwork, tracer: Tracer): AcmeNetwork {
  const traced = <T>(name: string, attributes: SpanAttributes, send: (span: Span | undefined) => Promise<T>) => {
    const span = recordedSpan(tracer)?.child(name, { kind: "client", attributes })
    return span === undefined ? send(undefined) : fetchWithin(tracer, span, () => send(span))
  }
  return {
    getHttp: (host, path, terms) =>
      traced("GET challenge", { "http.request.method": "GET", "server.address": host }, async (span) => {
        const answer = await network.getHttp(host, path, terms)
        span?.set({ "http.response.status_code": answer.status })
        return answer
      }),
    greetTls: (host, offer, terms) =>
      traced("TLS challenge", { "server.address": host }, () => network.greetTls(host, offer, terms)),
    lookUpTxt: (name, terms) => traced("DNS TXT", { "dns.question.name": name }, () => network.lookUpTxt(name, terms)),
    lookUpCaa: (name, terms) => traced("DNS CAA", { "dns.question.name": name }, () => network.lookUpCaa(name, terms)),
  }
}

const fetchWithin = <T>(tracer: Tracer, span: Span, send: () => Promise<T>): Promise<T> =>
  during(tracer, span, async () => {
    try {
      return await send()
    } catch (error) {
      if (error instanceof FetchFailure) span.set({ "chancery.fetch.failure": error.kind })
      throw error
    }
  })
