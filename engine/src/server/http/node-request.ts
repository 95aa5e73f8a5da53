// Adapts requests of Node's server to `HttpRequest`.
import type { IncomingMessage } from "node:http"
import type { TLSSocket } from "node:tls"
import { arrivedBody, socketBody } from "./body.ts"
import { handshakeChain } from "./client-certificate.ts"
import type { DeviceConnection, HttpRequest, RequestHeaders } from "./message.ts"

export class NodeRequest implements HttpRequest, RequestHeaders {
  readonly url: string
  readonly deviceConnection: DeviceConnection | undefined
  readonly #incoming: IncomingMessage

  constructor(incoming: IncomingMessage, url: string, isDevice = false) {
    this.#incoming = incoming
    this.url = url
    this.deviceConnection = isDevice ? { clientChain: () => handshakeChain(incoming.socket as TLSSocket) } : undefined
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

/** Hosts and targets that `URL` would leave unchanged. Most requests match and avoid its cost. */
const plainHost = /^[a-z\d._-]+(?::\d{4,5})?$/
const plainTarget = /^\/[\w/~.!$&'()*+,;=:@%?[\]-]*$/

/**
 * Returns the absolute URL of a request. Returns undefined if the request line and the Host header form no URL. Returns undefined too if
 * a proxy in front may have read them differently (RFC 9112, section 3.2).
 */
export function requestUrl({ headers: { host }, socket, url: target = "" }: IncomingMessage): string | undefined {
  // `URL` reads a backslash in the path as a slash.
  if ((target.split("?", 1)[0] as string).includes("\\")) return undefined
  if (/^https?:\/\//.test(target)) return URL.parse(target)?.href
  if (!target.startsWith("/") || host === undefined || /[/?#@\\]/.test(host)) return undefined
  const url = `${(socket as TLSSocket).encrypted ? "https" : "http"}://${host}${target}`
  if (plainHost.test(host) && plainTarget.test(target) && !target.includes("/.")) return url
  return URL.parse(url)?.href
}
