// Finds the client address of a request that proxies forwarded. The header is read from its end, where the nearest proxy appended. The
// first address outside the trusted ranges is the client's. Everything before it may be forged by the client.
import { formatIpAddress, type IpRange, isInRange, parseIpAddress, parseIpRange } from "../../pki/names/ip-address.ts"
import type { RequestHeaders } from "./message.ts"

/** Headers that proxies append to. A trusted proxy maintains only one of them; the client may have forged the other. */
export const proxyHeaders = ["x-forwarded-for", "forwarded"] as const
export type ProxyHeader = (typeof proxyHeaders)[number]

export interface TrustedProxies {
  readonly ranges: readonly IpRange[]
  /** Trusts peers that connect over a unix socket. */
  readonly unix: boolean
}

const rangesOf: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1/128"],
  private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
}

/** Parses a list such as `private,unix,192.0.2.1/32`; `none` trusts no proxy. Returns undefined if the text is invalid. */
export function parseTrustedProxies(text: string): TrustedProxies | undefined {
  if (text === "none") return { ranges: [], unix: false }
  const parts = text.split(",").map((part) => part.trim())
  const ranges: IpRange[] = []
  for (const part of parts.filter((one) => one !== "unix"))
    for (const one of Object.hasOwn(rangesOf, part) ? (rangesOf[part] ?? []) : [part]) {
      const range = parseIpRange(one)
      if (range === undefined) return undefined
      ranges.push(range)
    }
  return { ranges, unix: parts.includes("unix") }
}

/**
 * Returns the client's address. `peer` is the address of the socket, undefined on a unix socket. Returns `peer` if it is not trusted or
 * forwarded no address.
 */
export function clientAddressOf(
  peer: string | undefined,
  headers: RequestHeaders,
  { trusted, header }: { readonly trusted: TrustedProxies; readonly header: ProxyHeader },
): string | undefined {
  if (!isTrusted(peer, trusted)) return peer
  const text = headers.get(header)
  if (text === null) return peer
  const hops = header === "forwarded" ? forwardedFor(text) : text.split(",")
  let client = peer
  for (const hop of hops.toReversed()) {
    const address = addressIn(hop)
    // A proxy may hide the client. The address before it is then the nearest known one.
    if (address === undefined) return client
    client = address
    if (!isTrusted(client, trusted)) return client
  }
  return client
}

export function isTrusted(address: string | undefined, { ranges, unix }: TrustedProxies): boolean {
  if (address === undefined) return unix
  const octets = ranges.length === 0 ? undefined : parseIpAddress(address)
  return octets !== undefined && ranges.some((range) => isInRange(octets, range))
}

/** Parses `192.0.2.7`, `192.0.2.7:80`, `2001:db8::7` or `[2001:db8::7]:80` to canonical text. Returns undefined for anything else. */
function addressIn(hop: string): string | undefined {
  const [, bracketed, plain] = /^\s*(?:\[([0-9a-f:.]+)\](?::\d{1,5})?|([0-9.]+)(?::\d{1,5})?)\s*$/i.exec(hop) ?? []
  const octets = parseIpAddress(bracketed ?? plain ?? hop.trim())
  return octets && formatIpAddress(octets)
}

/** Returns the `for` value of each element of a `Forwarded` header (RFC 7239, section 4). Missing or invalid values are "". */
function forwardedFor(text: string): readonly string[] {
  return elementsOf(text).map((element) => {
    const values = [...element.matchAll(/(?:^|;)\s*for=(?:"([^"\\]*)"|([^\s";,]+))\s*(?=;|$)/gi)]
    const [first, ...others] = values.map(([, quoted, token]) => quoted ?? token ?? "")
    return others.length === 0 ? (first ?? "") : ""
  })
}

/**
 * Splits a header at the commas outside quoted strings. Scans from the end, where trusted proxies append, so that an unclosed quote of the
 * client affects only the client's own part.
 */
function elementsOf(text: string): readonly string[] {
  const elements: string[] = []
  let quoted = false
  let end = text.length
  for (let at = text.length - 1; at >= 0; at -= 1) {
    if (text[at] === '"' && text[at - 1] !== "\\") quoted = !quoted
    else if (text[at] === "," && !quoted) {
      elements.push(text.slice(at + 1, end))
      end = at
    }
  }
  elements.push(text.slice(0, end))
  return elements.toReversed()
}
