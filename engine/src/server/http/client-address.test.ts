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
  { why: "no proxy is trusted", trusted: "none", headers: says(client), is: proxy },
  {
    why: "a client that is not a proxy sends the header",
    peer: "203.0.113.5",
    headers: says("10.0.0.9"),
    is: "203.0.113.5",
  },
  { why: "a proxy sends no header", is: proxy },
  { why: "a proxy sends an empty header", headers: says(""), is: proxy },
  { why: "a proxy sends the header", headers: says(client), is: client },
  { why: "two proxies send the header", headers: says(`${client}, 10.0.0.2`), is: client },
  {
    why: "the client sends a header before the proxies",
    headers: says(`203.0.113.1, 127.0.0.1, ${client}, 10.0.0.2`),
    is: client,
  },
  { why: "the client sends a proxy's address", headers: says(`10.0.0.7,${client}`), is: client },
  { why: "the client is in the network of the proxies", headers: says("10.0.0.3, 10.0.0.2"), is: "10.0.0.3" },
  { why: "the nearest proxy hides the client", headers: says(`${client}, unknown`), is: proxy },
  { why: "a farther proxy hides the client", headers: says(`${client}, unknown, 10.0.0.2`), is: "10.0.0.2" },
  { why: "the client sends an invalid address", headers: says(`<script>, ${client}`), is: client },
  { why: "an address contains spaces", headers: says("198.51. 100.9"), is: proxy },
  { why: "a proxy appends the port", headers: says(`${client}:4711`), is: client },
  { why: "the client uses IPv6", headers: says("2001:DB8:0::7"), is: "2001:db8::7" },
  { why: "the client uses IPv6, and a proxy appends the port", headers: says("[2001:db8::7]:443"), is: "2001:db8::7" },
  { why: "the client has an IPv4-mapped IPv6 address", headers: says(`::ffff:${client}`), is: client },
  { why: "the socket accepts both address families", peer: "::ffff:10.0.0.1", headers: says(client), is: client },
  { why: "the proxy sends another header", headers: { forwarded: `for=${client}` }, is: proxy },
  { why: "the proxy does not send the default header", header: "forwarded", headers: says(client), is: proxy },
  { why: "Forwarded has the client", ...forwarded(`for=${client};proto=https;by=10.0.0.1`), is: client },
  { why: "Forwarded has the client last", ...forwarded(`proto=https; For="${client}"`), is: client },
  { why: "Forwarded has several clients", ...forwarded(`for=203.0.113.1, for=${client}, for=10.0.0.2`), is: client },
  { why: "Forwarded has an IPv6 client", ...forwarded('for="[2001:db8::7]:4711"'), is: "2001:db8::7" },
  { why: "Forwarded hides the client", ...forwarded(`for=${client}, for=_secret`), is: proxy },
  { why: "an element of Forwarded has no client", ...forwarded(`for=${client}, proto=https`), is: proxy },
  { why: "an element of Forwarded has two clients", ...forwarded(`for=${client};for=203.0.113.1`), is: proxy },
  {
    why: "a quoted comma could start another element",
    ...forwarded(`for=203.0.113.1;host="a, for=192.0.2.1", for=${client}`),
    is: client,
  },
  { why: "a quote is not closed", ...forwarded(`host="a, for=${client}`), is: client },
  {
    why: "a quote is not closed before another element",
    ...forwarded('host="a, for="[2001:db8::7]"'),
    is: "2001:db8::7",
  },
  { why: "a quoted string contains a quote", ...forwarded(`for=${client};host="a\\", for=192.0.2.1"`), is: client },
  { why: "a unix socket is trusted", peer: undefined, trusted: "unix", headers: says(client), is: client },
  { why: "a unix socket is not trusted", peer: undefined, headers: says(client), is: undefined },
])(
  "when $why, the client address is $is",
  ({ trusted = "private", header = "x-forwarded-for", headers = {}, is, ...given }) => {
    const proxies = parseTrustedProxies(trusted)
    if (proxies === undefined) throw new Error("not read")
    const peer = "peer" in given ? given.peer : proxy
    expect(clientAddressOf(peer, new Headers(headers), { trusted: proxies, header })).toBe(is)
  },
)

test.each(["", "everybody", "10.0.0.0", "10.0.0.0/33", "none,unix", "private,", "public"])(
  "%s is not a valid list of trusted proxies",
  (text) => {
    expect(parseTrustedProxies(text)).toBeUndefined()
  },
)

test("loopback, private and ranges can be trusted together", () => {
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
