import { expect, test } from "vitest"
import { clientAddressOf, parseTrustedProxies, type ProxyHeader } from "./client-address.ts"

const client = "198.51.100.9"
const proxy = "10.0.0.1"

interface Case {
  readonly why: string
  readonly trusted?: string
  readonly peer?: string | undefined
  readonly header?: ProxyHeader
  readonly headers?: Readonly<Record<string, string>>
  readonly is: string | undefined
}

const says = (text: string) => ({ "x-forwarded-for": text })
const forwarded = (text: string) => ({ header: "forwarded", headers: { forwarded: text } }) as const

test.each<Case>([
  { why: "nobody is trusted", trusted: "none", headers: says(client), is: proxy },
  { why: "a client that is no proxy says so", peer: "203.0.113.5", headers: says("10.0.0.9"), is: "203.0.113.5" },
  { why: "a proxy says nothing", is: proxy },
  { why: "a proxy says nothing in the header", headers: says(""), is: proxy },
  { why: "a proxy says so", headers: says(client), is: client },
  { why: "two proxies say so", headers: says(`${client}, 10.0.0.2`), is: client },
  {
    why: "the client has written before them",
    headers: says(`203.0.113.1, 127.0.0.1, ${client}, 10.0.0.2`),
    is: client,
  },
  { why: "the client has written a proxy's address", headers: says(`10.0.0.7,${client}`), is: client },
  { why: "the client is one of the proxies' network", headers: says("10.0.0.3, 10.0.0.2"), is: "10.0.0.3" },
  { why: "the nearest proxy hides it", headers: says(`${client}, unknown`), is: proxy },
  { why: "a farther proxy hides it", headers: says(`${client}, unknown, 10.0.0.2`), is: "10.0.0.2" },
  { why: "the client has written what is no address", headers: says(`<script>, ${client}`), is: client },
  { why: "an address has spaces in it", headers: says("198.51. 100.9"), is: proxy },
  { why: "a proxy adds the port", headers: says(`${client}:4711`), is: client },
  { why: "it is of IPv6", headers: says("2001:DB8:0::7"), is: "2001:db8::7" },
  { why: "it is of IPv6, with the port", headers: says("[2001:db8::7]:443"), is: "2001:db8::7" },
  { why: "it is of IPv4 written as IPv6", headers: says(`::ffff:${client}`), is: client },
  { why: "the socket takes both families", peer: "::ffff:10.0.0.1", headers: says(client), is: client },
  { why: "the other header is not the proxy's", headers: { forwarded: `for=${client}` }, is: proxy },
  { why: "the usual header is not the proxy's", header: "forwarded", headers: says(client), is: proxy },
  { why: "Forwarded says so", ...forwarded(`for=${client};proto=https;by=10.0.0.1`), is: client },
  { why: "Forwarded has it last", ...forwarded(`proto=https; For="${client}"`), is: client },
  { why: "Forwarded has several", ...forwarded(`for=203.0.113.1, for=${client}, for=10.0.0.2`), is: client },
  { why: "Forwarded has IPv6", ...forwarded('for="[2001:db8::7]:4711"'), is: "2001:db8::7" },
  { why: "Forwarded hides it", ...forwarded(`for=${client}, for=_secret`), is: proxy },
  { why: "an element of Forwarded has none", ...forwarded(`for=${client}, proto=https`), is: proxy },
  { why: "an element of Forwarded has two", ...forwarded(`for=${client};for=203.0.113.1`), is: proxy },
  {
    why: "a quoted comma would make another element",
    ...forwarded(`for=203.0.113.1;host="a, for=192.0.2.1", for=${client}`),
    is: client,
  },
  { why: "a quote is never closed", ...forwarded(`host="a, for=${client}`), is: client },
  { why: "a quote is never closed before another", ...forwarded('host="a, for="[2001:db8::7]"'), is: "2001:db8::7" },
  { why: "a quoted string has a quote in it", ...forwarded(`for=${client};host="a\\", for=192.0.2.1"`), is: client },
  { why: "a unix socket is trusted", peer: undefined, trusted: "unix", headers: says(client), is: client },
  { why: "a unix socket is not", peer: undefined, headers: says(client), is: undefined },
])(
  "where $why, the client is $is",
  ({ trusted = "private", header = "x-forwarded-for", headers = {}, is, ...given }) => {
    const proxies = parseTrustedProxies(trusted)
    if (proxies === undefined) throw new Error("not read")
    const peer = "peer" in given ? given.peer : proxy
    expect(clientAddressOf(peer, new Headers(headers), { trusted: proxies, header })).toBe(is)
  },
)

test.each(["", "everybody", "10.0.0.0", "10.0.0.0/33", "none,unix", "private,", "public"])(
  "%s says of no proxy that it is trusted",
  (text) => {
    expect(parseTrustedProxies(text)).toBeUndefined()
  },
)

test("loopback, private and ranges can be trusted at once", () => {
  const trusted = parseTrustedProxies("loopback, private,192.0.2.0/24, unix")
  const lines = ["127.0.0.1", "::1", "10.1.2.3", "172.31.0.1", "192.168.0.1", "fd00::1", "192.0.2.99"]
  for (const peer of [...lines, undefined])
    expect(trusted && clientAddressOf(peer, new Headers(says(client)), { trusted, header: "x-forwarded-for" })).toBe(
      client,
    )
  for (const peer of ["172.32.0.1", "192.0.3.1", "2001:db8::1", "169.254.169.254"])
    expect(trusted && clientAddressOf(peer, new Headers(says(client)), { trusted, header: "x-forwarded-for" })).toBe(
      peer,
    )
})
