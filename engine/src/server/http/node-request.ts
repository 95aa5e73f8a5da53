// Requests of Node's server as the API handles them.
import type { IncomingMessage } from "node:http"
import type { TLSSocket } from "node:tls"
import { arrivedBody, socketBody } from "./body.ts"
import type { HttpRequest, RequestHeaders } from "./message.ts"

export class NodeRequest implements HttpRequest, RequestHeaders {
  readonly url: string
  readonly #incoming: IncomingMessage

  constructor(incoming: IncomingMessage, url: string) {
    this.#incoming = incoming
    this.url = url
  }

  get method(): string {
    return this.#incoming.method ?? "GET"
  }

  get remoteAddress(): string | undefined {
    return this.#incoming.socket.remoteAddress
  }

  get headers(): RequestHeaders {
    return this
  }

  get(name: string): string | null {
    const { headers } = this.#incoming
    const key = name.toLowerCase()
    if (!Object.hasOwn(headers, key)) return null
    const value = headers[key]
    return typeof value === "string" ? value : (value?.join(", ") ?? null)
  }

  has(name: string): boolean {
    return this.get(name) !== null
  }

  arrived(): Uint8Array | undefined {
    return arrivedBody(this.#incoming)
  }

  stream(): AsyncIterable<Uint8Array> {
    return socketBody(this.#incoming)
  }
}

/** Hosts and targets that `URL` would not change, which spares most requests its cost. */
const plainHost = /^[a-z\d._-]+(?::\d{4,5})?$/
const plainTarget = /^\/[\w/~.!$&'()*+,;=:@%?[\]-]*$/

/**
 * Returns the absolute URL that a request asks for. Returns undefined if the request line and the Host header make none, or one that
 * the proxy in front may have read otherwise (RFC 9112, section 3.2).
 */
export function requestUrl({ headers: { host }, socket, url: target = "" }: IncomingMessage): string | undefined {
  // `URL` reads a backslash of the path as a slash.
  if ((target.split("?", 1)[0] as string).includes("\\")) return undefined
  if (/^https?:\/\//.test(target)) return URL.parse(target)?.href
  if (!target.startsWith("/") || host === undefined || /[/?#@\\]/.test(host)) return undefined
  const url = `${(socket as TLSSocket).encrypted ? "https" : "http"}://${host}${target}`
  if (plainHost.test(host) && plainTarget.test(target) && !target.includes("/.")) return url
  return URL.parse(url)?.href
}
