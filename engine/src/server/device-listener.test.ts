import { readFileSync } from "node:fs"
import { connect, type ConnectionOptions } from "node:tls"
import { describe, expect, onTestFinished, test } from "vitest"
import { authorityExtensions, testCertificate } from "../../testing/client-certificates.ts"
import { silentLog, systemRuntime } from "../core/runtime.ts"
import { parseTrustedProxies } from "./http/client-address.ts"
import { respond } from "./http/message.ts"
import { ReloadableIdentity, serveApp, type ServerOptions } from "./server.ts"

const pem = (name: string) => readFileSync(new URL(`../../../test/cli/tls/${name}.pem`, import.meta.url), "utf8")
const identity = { certificate: pem("certificate"), privateKey: pem("key") }
const renewed = { certificate: pem("renewed-certificate"), privateKey: pem("renewed-key") }
const free = { host: "127.0.0.1", port: 0 }
const source = new ReloadableIdentity(identity)

const root = testCertificate({ subject: "/CN=root", extensions: authorityExtensions })
const intermediate = testCertificate({ subject: "/CN=intermediate", extensions: authorityExtensions, issuer: root })
const leaves = (["rsa", "ec", "ed25519"] as const).map((keyType) => ({
  keyType,
  leaf: testCertificate({ keyType, issuer: intermediate }),
}))
const [device] = leaves.map(({ leaf }) => leaf)
if (device === undefined) throw new Error("no leaf")

/** Serves an app that answers the client's chain, and the path. */
async function serving(options: Partial<ServerOptions> = {}) {
  const server = await serveApp(
    {
      handle: (request, exchange) =>
        respond(
          JSON.stringify({
            path: new URL(request.url).pathname,
            isDevice: exchange?.isDevice,
            chain: exchange?.clientCertificate?.chain.map((der) => Buffer.from(der).toString("base64")),
          }),
        ),
    },
    {
      runtime: systemRuntime(silentLog),
      ready: async () => {},
      tls: { source, listen: free },
      deviceListen: free,
      ...options,
    },
  )
  onTestFinished(async () => void (await server.close()))
  return server
}

interface Answered {
  readonly status: number
  readonly body: { readonly chain?: readonly string[]; readonly isDevice?: boolean; readonly path?: string }
  readonly session: Buffer | undefined
  readonly protocol: string | null
}

/** Sends one request on a connection of its own, with a certificate if the server requests one. */
function send(
  url: string | undefined,
  {
    path = "/v1/auth/cert/login",
    headers = {},
    ...options
  }: ConnectionOptions & {
    path?: string
    headers?: Readonly<Record<string, string>>
  } = {},
): Promise<Answered> {
  const { port } = new URL(url ?? "")
  return new Promise((resolve, reject) => {
    let text = ""
    let session: Buffer | undefined
    const socket = connect({ host: "127.0.0.1", port: Number(port), rejectUnauthorized: false, ...options }, () => {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a.example\r\n${lines.join("")}Connection: close\r\n\r\n`)
    })
    socket.on("session", (ticket) => (session = ticket))
    socket.on("error", reject)
    socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
    socket.on("end", () => {
      const [head = "", body = ""] = text.split("\r\n\r\n")
      resolve({
        status: Number(head.split(" ")[1]),
        body: JSON.parse(body) as Answered["body"],
        session,
        protocol: socket.getProtocol(),
      })
    })
  })
}

const base64 = (der: Uint8Array) => Buffer.from(der).toString("base64")
const chainOf = (leaf: { readonly certificate: string }) => `${leaf.certificate}${intermediate.certificate}`

describe.each(["TLSv1.2", "TLSv1.3"] as const)("the device listener over %s", (version) => {
  const versions = { minVersion: version, maxVersion: version }

  test.each(leaves)("receives the chain of a client with a key of type $keyType", async ({ leaf }) => {
    const { deviceUrl } = await serving()
    const { body, protocol } = await send(deviceUrl, { ...versions, cert: chainOf(leaf), key: leaf.key })
    expect(protocol).toBe(version)
    expect(body).toMatchObject({ isDevice: true, chain: [base64(leaf.der), base64(intermediate.der)] })
  })

  test("serves a client without a certificate", async () => {
    const { deviceUrl } = await serving()
    expect((await send(deviceUrl, versions)).body).toEqual({ path: "/v1/auth/cert/login", isDevice: true })
  })

  test("receives the whole chain again when a client reconnects with its session", async () => {
    const { deviceUrl } = await serving()
    const options = { ...versions, cert: chainOf(device), key: device.key }
    const { session } = await send(deviceUrl, options)
    const again = await send(deviceUrl, { ...options, ...(session === undefined ? {} : { session }) })
    expect(again.body.chain).toEqual([base64(device.der), base64(intermediate.der)])
  })

  test("requests certificates after the server's certificate was replaced", async () => {
    const replaced = new ReloadableIdentity(identity)
    const { deviceUrl } = await serving({ tls: { source: replaced, listen: free } })
    replaced.replace(renewed)
    const { body } = await send(deviceUrl, { ...versions, cert: chainOf(device), key: device.key })
    expect(body.chain).toEqual([base64(device.der), base64(intermediate.der)])
  })
})

test("the device listener passes certificates on that are expired or of unknown issuers", async () => {
  const { deviceUrl } = await serving()
  const expired = testCertificate({ notBefore: new Date("2020-01-01"), notAfter: new Date("2020-01-02") })
  const { body } = await send(deviceUrl, { cert: expired.certificate, key: expired.key })
  expect(body.chain).toEqual([base64(expired.der)])
})

test("the device listener sees no certificate of a client without its key", async () => {
  const { deviceUrl } = await serving()
  const other = testCertificate()
  const { chain } = (await send(deviceUrl, { cert: device.certificate, key: other.key })).body
  expect(chain).toBeUndefined()
})

test("the device listener answers 400 when a chain is too long", async () => {
  const { deviceUrl } = await serving()
  let issuer = root
  const chain = Array.from({ length: 11 }, (_, at) => {
    issuer = testCertificate({ subject: `/CN=${at}`, extensions: authorityExtensions, issuer })
    return issuer.certificate
  }).toReversed()
  expect(await send(deviceUrl, { cert: chain.join(""), key: issuer.key })).toMatchObject({
    status: 400,
    body: { errors: ["The client certificate has too many certificates (maximum is 10)."] },
  })
})

test.each(["/", "/healthz", "/metrics", "/api/v2/ping", "/v1/sys/health", "/v1/sys", "/.well-known/terraform.json"])(
  "the device listener answers 404 at %s",
  async (path) => {
    const { deviceUrl } = await serving()
    expect((await send(deviceUrl, { path })).status).toBe(404)
  },
)

test.each(["/.well-known/est", "/.well-known/est/cacerts", "/v1/pki/est/simpleenroll"])(
  "the device listener passes %s to the app",
  async (path) => {
    const { deviceUrl } = await serving()
    expect((await send(deviceUrl, { path })).body).toMatchObject({ path, isDevice: true })
  },
)

test("other listeners never request a certificate", async () => {
  const { httpsUrl, deviceUrl } = await serving()
  const options = { cert: device.certificate, key: device.key }
  expect((await send(httpsUrl, options)).body).toEqual({ path: "/v1/auth/cert/login", isDevice: false })
  expect((await send(deviceUrl, options)).body.chain).toHaveLength(1)
})

describe("a Client-Cert header", () => {
  const headers = { "Client-Cert": `:${base64(device.der)}:` }
  const proxies = { trusted: parseTrustedProxies("loopback")!, header: "x-forwarded-for" } as const

  test("is ignored when no proxy is trusted", async () => {
    const { httpsUrl } = await serving()
    expect((await send(httpsUrl, { headers })).body.chain).toBeUndefined()
  })

  test("is read when a trusted proxy sends it", async () => {
    const { httpsUrl } = await serving({ proxies })
    expect((await send(httpsUrl, { headers })).body).toMatchObject({ isDevice: false, chain: [base64(device.der)] })
  })

  test("is ignored on the device listener, whose client may be a trusted proxy", async () => {
    const { deviceUrl } = await serving({ proxies })
    expect((await send(deviceUrl, { headers })).body.chain).toBeUndefined()
    const other = testCertificate()
    const { body } = await send(deviceUrl, { headers, cert: other.certificate, key: other.key })
    expect(body.chain).toEqual([base64(other.der)])
  })

  test.each([
    { why: "it is malformed", sent: { "Client-Cert": "a" }, status: 400 },
    { why: "it is longer than all headers may be", sent: { "Client-Cert": `:${"A".repeat(20_000)}:` }, status: 431 },
  ])("gets an error when a trusted proxy sends it and $why", async ({ sent, status }) => {
    const { httpsUrl } = await serving({ proxies })
    expect((await send(httpsUrl, { headers: sent })).status).toBe(status)
  })

  test("gets an error when a trusted proxy sends two", async () => {
    const { httpsUrl } = await serving({ proxies })
    const two = { ...headers, "client-cert": headers["Client-Cert"] }
    expect(await send(httpsUrl, { headers: two })).toMatchObject({ status: 400 })
  })
})
