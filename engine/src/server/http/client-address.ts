// Whose request it is that a proxy passes on. What a header says counts as far as it was written by those who are trusted: from
// its end, which the nearest proxy has added, to the first address that is none of theirs. What stands before that is whatever
// the client has sent.
import { formatIpAddress, type IpRange, isInRange, parseIpAddress, parseIpRange } from "../../pki/names/ip-address.ts"
import type { RequestHeaders } from "./message.ts"

/** Trusted are proxies that add to the one header; another is what a client says, passed on. */
export const proxyHeaders = ["x-forwarded-for", "forwarded"] as const
export type ProxyHeader = (typeof proxyHeaders)[number]

export interface TrustedProxies {
  readonly ranges: readonly IpRange[]
  /** Whoever connects by a unix socket. */
  readonly unix: boolean
}

const rangesOf: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1/128"],
  private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
}

/** `private,unix,192.0.2.1/32`; `none` for nobody. Undefined where it cannot be read. */
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

/** `peer` is the socket's, undefined on a unix socket; so is the answer where nobody who is trusted says more. */
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
    // A proxy that hides where a request came from is as near as can be said.
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

/** `192.0.2.7`, `192.0.2.7:80`, `2001:db8::7`, `[2001:db8::7]:80`, in its one spelling; undefined for anything else. */
function addressIn(hop: string): string | undefined {
  const [, bracketed, plain] = /^\s*(?:\[([0-9a-f:.]+)\](?::\d{1,5})?|([0-9.]+)(?::\d{1,5})?)\s*$/i.exec(hop) ?? []
  const octets = parseIpAddress(bracketed ?? plain ?? hop.trim())
  return octets && formatIpAddress(octets)
}

/** What `for` says in each element of a `Forwarded` header (RFC 7239, section 4), empty where there is none or it cannot be read. */
function forwardedFor(text: string): readonly string[] {
  return elementsOf(text).map((element) => {
    const values = [...element.matchAll(/(?:^|;)\s*for=(?:"([^"\\]*)"|([^\s";,]+))\s*(?=;|$)/gi)]
    const [first, ...others] = values.map(([, quoted, token]) => quoted ?? token ?? "")
    return others.length === 0 ? (first ?? "") : ""
  })
}

/**
 * Split at the commas that are in no quoted string. From the end, as what trusted proxies have added is: a quote that a client
 * has left open reaches no further than what the client has written.
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
