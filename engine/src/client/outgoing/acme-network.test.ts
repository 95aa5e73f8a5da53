// Addresses that ACME challenges may reach. Names are resolved by a local DNS server that logs every query.
import { createServer as createHttpServer, type RequestListener } from "node:http"
import { type AddressInfo, createServer, isIPv6, type Server } from "node:net"
import { beforeEach, describe, expect, onTestFinished, test } from "vitest"
import { attempt, type NetworkTerms } from "../../acme/validation/validation.ts"
import { systemRuntime } from "../../core/runtime.ts"
import { type NameServer, openNameServer, type RecordType } from "../../../testing/name-server.ts"
import { acmeNetwork } from "./acme-network.ts"

const forbidden = [
  ["loopback", "127.0.0.1"],
  ["loopback", "::1"],
  ["link-local", "169.254.7.7"],
  ["link-local", "fe80::1"],
  ["metadata", "169.254.169.254"],
  ["metadata", "100.100.100.200"],
  ["metadata", "fd00:ec2::254"],
  ["private", "10.0.0.1"],
  ["private", "172.16.0.1"],
  ["private", "192.168.0.1"],
  ["private", "fd12:3456::1"],
  ["IPv4-mapped", "::ffff:127.0.0.1"],
  ["IPv4-mapped", "::ffff:169.254.169.254"],
  ["translated", "64:ff9b::7f00:1"],
  ["unspecified", "0.0.0.0"],
] as const

/** Answers DNS queries with these addresses. */
const leadingTo =
  (...addresses: readonly string[]) =>
  (type: RecordType): readonly string[] =>
    addresses.filter((address) => type === (isIPv6(address) ? "AAAA" : "A"))

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

let connections: number
beforeEach(() => {
  connections = 0
})

/** Creates a network whose challenge ports have a listener on this machine. */
async function openNetwork(handler?: RequestListener) {
  const server = handler === undefined ? createServer((socket) => socket.destroy()) : createHttpServer(handler)
  server.on("connection", () => (connections += 1))
  const port = await listening(server)
  const network = acmeNetwork({
    permitted: { kinds: [], ranges: [] },
    httpPort: port,
    tlsPort: port,
    digest: systemRuntime().digest,
  })
  onTestFinished(() => network[Symbol.asyncDispose]())
  return network
}

const host = "host.example.com"
const proofOf = (type: "http-01" | "dns-01" | "tls-alpn-01", value = host, kind: "dns" | "ip" = "dns") => ({
  identifier: { type: kind, value, wildcard: false },
  type,
  token: "token",
  thumbprint: "thumbprint",
})
const termsOf = ({ port }: NameServer, ...permittedRanges: readonly string[]): NetworkTerms => ({
  permittedRanges,
  excludedRanges: [],
  resolver: `127.0.0.1:${port}`,
})
const refused = { type: "connection", detail: expect.stringContaining("may not connect") as string }

describe("a name server", () => {
  const answering: RequestListener = (_request, response) => response.end("token.thumbprint")
  const proved = async (names: NameServer) =>
    attempt(proofOf("http-01"), await openNetwork(answering), termsOf(names, "127.0.0.0/8"))

  test("is queried once more when it fails", async () => {
    const failed = new Set<string>()
    const names = await openNameServer((type) => {
      if (failed.has(type)) return leadingTo("127.0.0.1")(type)
      failed.add(type)
      return "failure"
    })
    expect(await proved(names)).toBeUndefined()
    expect(names.questions.toSorted()).toEqual([`A ${host}`, `A ${host}`, `AAAA ${host}`, `AAAA ${host}`])
  })

  test("that fails twice leaves the name without addresses", async () => {
    const names = await openNameServer(() => "failure")
    const detail = `${host} could not be looked up (ESERVFAIL).`
    expect(await proved(names)).toEqual({ type: "dns", detail })
    expect(names.questions.length).toBe(4)
  })

  test("is queried from one port for concurrent lookups, and from another port later", async () => {
    const names = await openNameServer(leadingTo("127.0.0.1"))
    const network = await openNetwork(answering)
    const look = (value: string) => attempt(proofOf("http-01", value), network, termsOf(names, "127.0.0.0/8"))
    expect(await Promise.all(["a.example.com", "b.example.com"].map(look))).toEqual([undefined, undefined])
    expect(names.questions.length).toBe(4)
    expect(names.ports.size).toBe(1)
    await look("c.example.com")
    // The kernel picks each source port at random, and sometimes the same one again.
    for (let name = 0; name < 5 && names.ports.size === 1; name += 1) await look(`c${name}.example.com`)
    expect(names.ports.size).toBeGreaterThan(1)
  })
})

describe.each(["http-01", "tls-alpn-01"] as const)("%s", (type) => {
  test.each(forbidden)("does not connect to a name that resolves to a %s address, %s", async (_kind, address) => {
    const names = await openNameServer(leadingTo(address))
    expect(await attempt(proofOf(type), await openNetwork(), termsOf(names))).toEqual(refused)
    expect(names.questions.toSorted()).toEqual([`A ${host}`, `AAAA ${host}`])
    expect(connections).toBe(0)
  })

  test.each(forbidden)("does not connect to an identifier that is a %s address, %s", async (_kind, address) => {
    const names = await openNameServer(() => [])
    expect(await attempt(proofOf(type, address, "ip"), await openNetwork(), termsOf(names))).toEqual(refused)
    expect(connections).toBe(0)
  })

  test("connects only to permitted addresses of a name", async () => {
    const names = await openNameServer(leadingTo("10.0.0.1", "127.0.0.1", "169.254.169.254"))
    const network = await openNetwork()
    const problem = await attempt(proofOf(type), network, termsOf(names, "127.0.0.1/32"))
    expect(problem?.detail).not.toContain("may not connect")
    expect(connections).toBe(1)
  })

  test("[F-W8] does not connect to an excluded address, even if it is permitted", async () => {
    const names = await openNameServer(leadingTo("127.0.0.1"))
    const terms = { ...termsOf(names, "127.0.0.0/8"), excludedRanges: ["127.0.0.1/32"] }
    const problem = await attempt(proofOf(type), await openNetwork(), terms)
    expect([problem?.detail, connections]).toEqual([expect.stringContaining("may not connect"), 0])
  })

  test("connects to the checked address, even if the name changes in the meantime", async () => {
    let lookups = 0
    const names = await openNameServer((kind) => {
      if (kind !== "A") return []
      lookups += 1
      return [lookups === 1 ? "127.0.0.1" : "169.254.169.254"]
    })
    await attempt(proofOf(type), await openNetwork(), termsOf(names, "127.0.0.1/32"))
    expect([lookups, connections]).toEqual([1, 1])
  })

  test("does not connect to the new address of a name that was rejected before", async () => {
    let lookups = 0
    const names = await openNameServer((kind) => {
      if (kind !== "A") return []
      lookups += 1
      return [lookups === 1 ? "169.254.169.254" : "127.0.0.1"]
    })
    expect(await attempt(proofOf(type), await openNetwork(), termsOf(names, "127.0.0.1/32"))).toEqual(refused)
    expect([lookups, connections]).toEqual([1, 0])
  })
})

describe("http-01", () => {
  const bracketed = (address: string) => (isIPv6(address) ? `[${address}]` : address)
  // The test permits the address of the first server, so a redirect may lead there.
  const elsewhere = forbidden.filter(([, address]) => !address.endsWith("127.0.0.1"))

  test.each(elsewhere)("does not follow a redirect to a %s address, %s", async (_kind, address) => {
    const names = await openNameServer(leadingTo("127.0.0.1"))
    const network = await openNetwork((_request, response) =>
      response.writeHead(302, { location: `http://${bracketed(address)}/latest/meta-data/` }).end(),
    )
    expect(await attempt(proofOf("http-01"), network, termsOf(names, "127.0.0.1/32"))).toEqual(refused)
    expect(connections).toBe(1)
  })

  test.each(elsewhere)(
    "does not follow a redirect to a name that resolves to a %s address, %s",
    async (_kind, address) => {
      const names = await openNameServer((type, name) => leadingTo(name === host ? "127.0.0.1" : address)(type))
      const network = await openNetwork((_request, response) =>
        response.writeHead(307, { location: "https://inside.example.com/" }).end(),
      )
      expect(await attempt(proofOf("http-01"), network, termsOf(names, "127.0.0.1/32"))).toEqual(refused)
      expect(names.questions).toContain("A inside.example.com")
      expect(connections).toBe(1)
    },
  )
})

describe("dns-01", () => {
  // The lookup goes to the operator's resolver only, never to a server of the applicant's choice.
  test.each(forbidden)(
    "looks up records and opens no connection when the name resolves to a %s address, %s",
    async (_kind, address) => {
      const names = await openNameServer(leadingTo(address))
      expect(await attempt(proofOf("dns-01"), await openNetwork(), termsOf(names))).toMatchObject({ type: "dns" })
      expect(names.questions).toEqual([`TXT _acme-challenge.${host}`, `CNAME _acme-challenge.${host}`])
      expect(connections).toBe(0)
    },
  )

  test("follows a bounded number of aliases", async () => {
    const names = await openNameServer((type, name) => (type === "CNAME" ? [name] : []))
    const problem = await attempt(proofOf("dns-01"), await openNetwork(), termsOf(names))
    expect(problem).toEqual({
      type: "dns",
      detail: expect.stringContaining("has a chain of more than 8 CNAME records"),
    })
  })
})
