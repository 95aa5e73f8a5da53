import { hash, X509Certificate } from "node:crypto"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import {
  authorityExtensions,
  clientExtensions,
  testCertificate,
  type TestCertificate,
  type TestCertificateOptions,
  testRevocationList,
} from "../../../testing/client-certificates.ts"
import { testOcspResponder } from "../../../testing/ocsp-responder.ts"
import { openTestEngine, origin, type TestEngine, type TestEngineOptions } from "../../../testing/test-engine.ts"
import { systemRuntime } from "../../core/runtime.ts"
import { openRemote } from "../../client/remote.ts"
import { dayMs } from "../../core/time.ts"
import { fromWebRequest, toWebResponse } from "../http/web-fetch.ts"
import { ReloadableIdentity, startServer } from "../server.ts"
import { testTlsPem } from "../../../testing/policy-server.ts"

const root = testCertificate({ subject: "/CN=root", extensions: authorityExtensions })
const intermediate = testCertificate({ subject: "/CN=intermediate", extensions: authorityExtensions, issuer: root })
const other = testCertificate({ subject: "/CN=root", extensions: authorityExtensions })
const leafOptions = { subject: "/OU=printing/CN=printer-1", issuer: root, serialNumber: 4_711 } as const
const leaf = testCertificate({
  ...leafOptions,
  extensions: [
    ...clientExtensions,
    "subjectKeyIdentifier=hash",
    "authorityKeyIdentifier=keyid",
    "subjectAltName=DNS:Printer-1.shop.example,email:printer@shop.example,URI:spiffe://shop/printer",
    "1.3.6.1.4.1.32473.1=ASN1:UTF8String:floor-3",
  ],
})

const noMatch = "invalid certificate or no client certificate supplied"
const constraintsFailed = "failed to match all constraints for this login certificate"

interface Stage extends TestEngine {
  readonly reasons: unknown[]
  readonly advance: (ms: number) => void
  /** Sends a request of a client that presented these certificates. */
  readonly send: (
    path: string,
    options: { chain?: readonly TestCertificate[]; body?: object; token?: string; from?: string; isDevice?: boolean },
  ) => Promise<{ status: number; body: Record<string, never> & { errors?: string[]; auth?: Auth } }>
}

interface Auth {
  readonly client_token: string
  readonly policies: readonly string[]
  readonly metadata: Readonly<Record<string, string>>
  readonly lease_duration: number
}

async function opened(options: TestEngineOptions = {}): Promise<Stage> {
  const reasons: unknown[] = []
  const log = {
    debug: (_event: string, fields?: Readonly<Record<string, unknown>>) => void reasons.push(fields?.["reasons"]),
    info: () => {},
    warn: () => {},
    error: () => {},
  }
  let offset = 0
  const system = systemRuntime(log)
  const runtime = { ...system, clock: { now: () => system.clock.now() + offset } }
  const world = await openTestEngine({ runtime, outgoing: { kinds: ["loopback"], ranges: [] }, ...options })
  onTestFinished(() => world[Symbol.asyncDispose]())
  await world.engine.authMethods.enable({ path: "cert", type: "cert" })
  await world.engine.policies.put("web", 'path "pki/issue/web" { capabilities = ["update"] }')
  return {
    ...world,
    reasons,
    advance: (ms) => void (offset += ms),
    async send(path, { chain, body = {}, token, from, isDevice = false }) {
      const request = new Request(`${origin}/v1${path}`, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json", ...(token === undefined ? {} : { "x-vault-token": token }) },
      })
      const answer = await world.app.handle(fromWebRequest(request), {
        requestId: "r",
        route: undefined,
        remoteAddress: from,
        isDevice,
        clientCertificate: chain && { chain: chain.map(({ der }) => der) },
      })
      const response = toWebResponse(answer)
      const text = await response.text()
      return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as never }
    },
  }
}

const withRole = ({ engine }: TestEngine, role: object = {}, name = "printers") =>
  engine.certificateLogins("cert").saveRole(name, { certificate: root.certificate, policies: ["web"], ...role })
const logIn = (stage: Stage, chain: readonly TestCertificate[] = [leaf], body: object = {}) =>
  stage.send("/auth/cert/login", { chain, body })

/** Serves bytes at any path, and counts requests. */
async function serving(answer: () => { readonly status?: number; readonly body: string | Uint8Array }) {
  let count = 0
  const server: Server = createServer((_request, response) => {
    count += 1
    const { status = 200, body } = answer()
    response.writeHead(status).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/crl`, count: () => count }
}

describe("a login", () => {
  test("returns a token with the terms and the certificate's facts", async () => {
    const stage = await opened()
    await withRole(stage, { ttlMs: 3_600_000, allowedMetadataExtensions: ["1.3.6.1.4.1.32473.1", "1.2.3.4"] })
    const { status, body } = await logIn(stage)
    expect(status).toBe(200)
    expect(body.auth).toMatchObject({ policies: ["default", "web"], lease_duration: 3_600 })
    expect(body.auth?.metadata).toEqual({
      cert_name: "printers",
      common_name: "printer-1",
      serial_number: "4711",
      subject_key_id: expect.stringMatching(/^([0-9a-f]{2}:){19}[0-9a-f]{2}$/) as string,
      authority_key_id: expect.stringMatching(/^([0-9a-f]{2}:){19}[0-9a-f]{2}$/) as string,
      "1-3-6-1-4-1-32473-1": "floor-3",
    })
    const token = await stage.engine.serviceTokens.lookup({ secret: body.auth?.client_token ?? "" })
    expect(token).toMatchObject({ displayName: "cert-printers", orphan: true })
  })

  test.each(["rsa", "ec", "ed25519"] as const)(
    "accepts an authority and a client with keys of type %s",
    async (type) => {
      const authority = testCertificate({ keyType: type, subject: "/CN=typed", extensions: authorityExtensions })
      const client = testCertificate({ keyType: type, issuer: authority })
      const stage = await opened()
      await withRole(stage, { certificate: authority.certificate })
      expect((await logIn(stage, [client])).status).toBe(200)
    },
  )

  test("tries the roles in the order of their names, or the named one only", async () => {
    const stage = await opened()
    await withRole(stage, { certificate: other.certificate }, "a")
    await withRole(stage, { allowedCommonNames: ["x"] }, "b")
    await withRole(stage, {}, "c")
    await withRole(stage, {}, "d")
    expect((await logIn(stage)).body.auth?.metadata["cert_name"]).toBe("c")
    expect((await logIn(stage, [leaf], { name: "D" })).body.auth?.metadata["cert_name"]).toBe("d")
    expect(await logIn(stage, [leaf], { name: "a" })).toMatchObject({ status: 400, body: { errors: [noMatch] } })
    expect(await logIn(stage, [leaf], { name: "b" })).toMatchObject({ body: { errors: [constraintsFailed] } })
    expect(await logIn(stage, [leaf], { name: "none" })).toMatchObject({ status: 400, body: { errors: [noMatch] } })
  })

  test("without a certificate is rejected", async () => {
    const stage = await opened()
    await withRole(stage)
    const errors = ["client certificate must be supplied"]
    expect(await stage.send("/auth/cert/login", {})).toMatchObject({ status: 400, body: { errors } })
    expect(await logIn(stage, [])).toMatchObject({ status: 400, body: { errors } })
  })

  test("is rejected outside of the role's addresses", async () => {
    const stage = await opened()
    await withRole(stage, { boundCidrs: ["192.0.2.0/24"] })
    const from = async (address: string) =>
      (await stage.send("/auth/cert/login", { chain: [leaf], from: address })).status
    expect([await from("192.0.2.7"), await from("198.51.100.7")]).toEqual([200, 400])
  })

  test("names the certificate in its error only if the configuration says so", async () => {
    const stage = await opened()
    await stage.engine.certificateLogins("cert").configure({ enableMetadataOnFailures: true })
    expect((await logIn(stage)).body.errors).toEqual([`${noMatch} (common_name "printer-1", serial_number 4711)`])
  })
})

const past = { notBefore: new Date("2020-01-01"), notAfter: new Date("2020-01-02") }
const future = { notBefore: new Date("2048-01-01"), notAfter: new Date("2048-02-01") }
const below = (extensions: readonly string[], subject = "/CN=below") =>
  testCertificate({ subject, extensions, issuer: root })
const ca = (...extensions: readonly string[]) => ["basicConstraints=critical,CA:TRUE", ...extensions]

function chained(extensions: readonly string[], client: TestCertificateOptions = {}, issuer?: TestCertificate) {
  const authority = issuer ?? below(extensions)
  return [testCertificate({ issuer: authority, ...client }), authority]
}

describe("a certification path", () => {
  test.each([
    { why: "the authority issued it", chain: () => [leaf] },
    { why: "an intermediate that the client presents issued it", chain: () => chained(ca()) },
    { why: "two intermediates are presented in the wrong order", chain: twoIntermediates },
    { why: "a needless certificate is presented too", chain: () => [leaf, other] },
    { why: "its purposes include all purposes", chain: () => leafWith("extendedKeyUsage=anyExtendedKeyUsage") },
    { why: "it has no extended key usage", chain: () => leafWith("basicConstraints=CA:FALSE") },
    { why: "the intermediate allows clients", chain: () => chained(ca("extendedKeyUsage=clientAuth")) },
    {
      why: "name constraints permit its name",
      chain: () =>
        chained(ca("nameConstraints=critical,permitted;DNS:shop.example"), {
          extensions: [...clientExtensions, "subjectAltName=DNS:a.shop.example"],
        }),
    },
  ])("is accepted if $why", async ({ chain }) => {
    const stage = await opened()
    await withRole(stage)
    const { status } = await logIn(stage, chain())
    expect({ status, reasons: stage.reasons.flat() }).toMatchObject({ status: 200, reasons: [] })
  })

  test.each([
    { why: "expired", chain: () => leafWith("keyUsage=digitalSignature", past), reason: "expired at 2020-01-02" },
    { why: "not yet valid", chain: () => leafWith("keyUsage=digitalSignature", future), reason: "not valid before" },
    {
      why: "of another issuer with the same name",
      chain: () => [testCertificate({ issuer: other })],
      reason: noIssuer,
    },
    { why: "self-signed", chain: () => [testCertificate()], reason: noIssuer },
    { why: "of an intermediate that is not presented", chain: () => chained(ca()).slice(0, 1), reason: noIssuer },
    {
      why: "for servers only",
      chain: () => leafWith("extendedKeyUsage=serverAuth"),
      reason: "an extended key usage without clientAuth",
    },
    {
      why: "for encryption only",
      chain: () => leafWith("keyUsage=keyEncipherment"),
      reason: "a key usage with which no client authenticates",
    },
    {
      why: "with an unknown critical extension",
      chain: () => leafWith("1.3.6.1.4.1.32473.9=critical,ASN1:NULL"),
      reason: "the critical extension 1.3.6.1.4.1.32473.9",
    },
    {
      why: "below a certificate that is no CA",
      chain: () => chained(clientExtensions),
      reason: "not a CA certificate",
    },
    {
      why: "below a CA that may not sign",
      chain: () => chained(ca("keyUsage=critical,cRLSign")),
      reason: "a key usage without keyCertSign",
    },
    {
      why: "below an expired CA",
      chain: () =>
        chained(
          [],
          {},
          testCertificate({ subject: "/CN=old", extensions: authorityExtensions, issuer: root, ...past }),
        ),
      reason: "expired at",
    },
    {
      why: "below a CA for servers",
      chain: () => chained(ca("extendedKeyUsage=serverAuth")),
      reason: "an extended key usage without clientAuth",
    },
    { why: "too deep", chain: tooDeep, reason: "allows 0 CAs below it, and the path has 1" },
    {
      why: "outside of name constraints",
      chain: () =>
        chained(ca("nameConstraints=critical,permitted;DNS:shop.example"), {
          extensions: [...clientExtensions, "subjectAltName=DNS:a.other.example"],
        }),
      reason: "name constraints that the path breaks",
    },
  ])("is rejected if the certificate is $why", async ({ chain, reason }) => {
    const stage = await opened()
    await withRole(stage)
    expect(await logIn(stage, chain())).toMatchObject({ status: 400, body: { errors: [noMatch] } })
    expect(stage.reasons.flat()).toContainEqual(expect.stringContaining(reason))
  })

  test("of a trusted client certificate is the certificate itself", async () => {
    const client = testCertificate()
    const twin = testCertificate()
    const stage = await opened()
    await withRole(stage, { certificate: `${other.certificate}\n${client.certificate}` })
    expect((await logIn(stage, [client])).status).toBe(200)
    expect((await logIn(stage, [twin])).status).toBe(400)
    expect((await logIn(stage, [testCertificate({ issuer: client })])).status).toBe(400)
  })
})

const noIssuer = "no trusted CA issued the certificate"

function leafWith(extension: string, options: TestCertificateOptions = {}) {
  return [testCertificate({ extensions: [extension], issuer: root, ...options })]
}

function twoIntermediates() {
  const middle = testCertificate({ subject: "/CN=middle", extensions: authorityExtensions, issuer: intermediate })
  return [testCertificate({ issuer: middle }), intermediate, middle]
}

function tooDeep() {
  const limited = below(["basicConstraints=critical,CA:TRUE,pathlen:0"], "/CN=limited")
  const middle = testCertificate({ subject: "/CN=middle", extensions: authorityExtensions, issuer: limited })
  return [testCertificate({ issuer: middle }), middle, limited]
}

test.each([
  { allowedCommonNames: ["printer-*"], is: 200 },
  { allowedCommonNames: ["scanner-*"], is: 400 },
  { allowedDnsSans: ["*.shop.EXAMPLE"], is: 200 },
  { allowedDnsSans: ["shop.example"], is: 400 },
  { allowedEmailSans: ["*@shop.example"], is: 200 },
  { allowedEmailSans: ["a@shop.example"], is: 400 },
  { allowedUriSans: ["spiffe://shop/*"], is: 200 },
  { allowedUriSans: ["spiffe://other/*"], is: 400 },
  { allowedOrganizationalUnits: ["sales", "printing"], is: 200 },
  { allowedOrganizationalUnits: ["sales"], is: 400 },
  { allowedNames: ["printer@*"], is: 200 },
  { allowedNames: ["spiffe://*"], is: 400 },
  { requiredExtensions: ["1.3.6.1.4.1.32473.1:floor-*"], is: 200 },
  { requiredExtensions: ["1.3.6.1.4.1.32473.1:floor-*", "1.3.6.1.4.1.32473.2:*"], is: 400 },
  { requiredExtensions: ["1.3.6.1.4.1.32473.1:floor-4"], is: 400 },
  { requiredExtensions: ["hex:1.3.6.1.4.1.32473.1:0C07*"], is: 200 },
  { requiredExtensions: ["hex:1.3.6.1.4.1.32473.1:0c08*"], is: 400 },
  { requiredExtensions: ["2.5.29.37:*"], is: 400 },
])("a role with %j decides on the certificate's names and extensions", async ({ is, ...role }) => {
  const stage = await opened()
  await withRole(stage, role)
  expect((await logIn(stage)).status).toBe(is)
})

describe("a revocation list", () => {
  test("rejects the certificates on it, until it is deleted", async () => {
    const stage = await opened()
    await withRole(stage)
    const logins = stage.engine.certificateLogins("cert")
    await logins.saveRevocationList("root", { crl: testRevocationList(root, [1, 4_711]) })
    expect(await logins.getRevocationList("ROOT")).toMatchObject({ serials: ["1", "4711"], url: "" })
    expect((await logIn(stage)).body.errors).toEqual([constraintsFailed])
    await logins.saveRevocationList("root", { crl: testRevocationList(root, [1]) })
    expect((await logIn(stage)).status).toBe(200)
    await logins.saveRevocationList("root", { crl: testRevocationList(root, [4_711]) })
    await logins.deleteRevocationList("root")
    expect((await logIn(stage)).status).toBe(200)
  })

  test("of another issuer with the same name is no proof, and of another name does not apply", async () => {
    const stage = await opened()
    await withRole(stage)
    const logins = stage.engine.certificateLogins("cert")
    await logins.saveRevocationList("forged", { crl: testRevocationList(other, []) })
    expect((await logIn(stage)).body.errors).toEqual([constraintsFailed])
    await logins.saveRevocationList("root", { crl: testRevocationList(root, []) })
    await logins.saveRevocationList("forged", { crl: testRevocationList(other, [4_711]) })
    await logins.saveRevocationList("middle", { crl: testRevocationList(intermediate, [4_711]) })
    expect((await logIn(stage)).status).toBe(200)
  })

  test("rejects the clients of a revoked intermediate", async () => {
    const middle = testCertificate({
      subject: "/CN=middle",
      extensions: authorityExtensions,
      issuer: root,
      serialNumber: 99,
    })
    const stage = await opened()
    await withRole(stage)
    const client = [testCertificate({ issuer: middle }), middle]
    expect((await logIn(stage, client)).status).toBe(200)
    await stage.engine.certificateLogins("cert").saveRevocationList("root", { crl: testRevocationList(root, [99]) })
    expect((await logIn(stage, client)).status).toBe(400)
  })

  test("of a URL is fetched again after its next update, and logins wait for it", async () => {
    const stage = await opened()
    const soon = new Date(systemRuntime().clock.now() + dayMs)
    let list = { body: testRevocationList(root, [], { nextUpdate: soon }), status: 200 }
    const published = await serving(() => list)
    await withRole(stage)
    await stage.engine.certificateLogins("cert").saveRevocationList("root", { url: published.url })
    expect([(await logIn(stage)).status, published.count()]).toEqual([200, 1])
    list = { body: "", status: 500 }
    stage.advance(2 * dayMs)
    expect([(await logIn(stage)).status, (await logIn(stage)).status, published.count()]).toEqual([503, 503, 2])
    list = { body: testRevocationList(root, [4_711]), status: 200 }
    stage.advance(60_000)
    expect([(await logIn(stage)).status, published.count()]).toEqual([400, 3])
    expect([(await logIn(stage)).status, published.count()]).toEqual([400, 3])
  })

  test("is rejected if it is malformed, empty, or not reachable", async () => {
    const stage = await opened()
    const logins = stage.engine.certificateLogins("cert")
    const saved = (input: object) => logins.saveRevocationList("x", input).catch((error: Error) => error.message)
    expect(await saved({})).toBe('one of "crl" and "url" must be set')
    expect(await saved({ crl: "a", url: "http://a.example" })).toBe('one of "crl" and "url" must be set')
    expect(await saved({ crl: root.certificate })).toContain('"crl" cannot be read')
    expect(await saved({ url: "ftp://a.example" })).toBe('"url" must be an http or https URL')
    expect(await saved({ url: "http://192.0.2.1/" })).toContain('"url" cannot be used')
    expect(await logins.listRevocationLists()).toEqual([])
  })
})

describe("OCSP", () => {
  async function withOcsp(role: object = {}, options: Parameters<typeof testOcspResponder>[1] = {}) {
    const stage = await opened()
    const responder = await testOcspResponder(root, options)
    onTestFinished(() => responder[Symbol.asyncDispose]())
    await withRole(stage, { ocspEnabled: true, ocspServersOverride: [responder.url], ocspMaxRetries: 0, ...role })
    return { stage, responder }
  }

  test("decides on logins, and answers are cached until their next update", async () => {
    const { stage, responder } = await withOcsp({}, { nextUpdate: 5 * 3_600_000 })
    expect([(await logIn(stage)).status, (await logIn(stage)).status, responder.count()]).toEqual([200, 200, 1])
    responder.revoke(4_711)
    expect((await logIn(stage)).status).toBe(200)
    stage.advance(2 * 3_600_000)
    expect((await logIn(stage)).status).toBe(400)
    expect(stage.reasons.flat().at(-1)).toContain("revoked (OCSP)")
  })

  test("accepts a responder that the issuer authorized, and no other", async () => {
    const authorized = testCertificate({ issuer: root, extensions: ["extendedKeyUsage=OCSPSigning"] })
    const { stage } = await withOcsp({}, { signer: authorized })
    expect((await logIn(stage)).status).toBe(200)
    for (const signer of [
      testCertificate({ issuer: root, extensions: ["extendedKeyUsage=clientAuth"] }),
      testCertificate({ issuer: other, extensions: ["extendedKeyUsage=OCSPSigning"] }),
      testCertificate({ issuer: root, extensions: ["extendedKeyUsage=OCSPSigning"], ...past }),
    ]) {
      const rejected = await withOcsp({}, { signer })
      expect((await logIn(rejected.stage)).status).toBe(400)
      expect(rejected.stage.reasons.flat().at(-1)).toContain("not signed by a responder of the issuer")
    }
  })

  test("accepts a responder of the role's own CA", async () => {
    const signer = testCertificate({ subject: "/CN=responder", extensions: ["extendedKeyUsage=OCSPSigning"] })
    const { stage } = await withOcsp({ ocspCaCertificates: signer.certificate }, { signer })
    expect((await logIn(stage)).status).toBe(200)
  })

  test.each([
    { why: "out of date", options: { thisUpdate: -3 * dayMs, nextUpdate: -2 * dayMs }, reason: "out of date" },
    { why: "from the future", options: { thisUpdate: dayMs, nextUpdate: 2 * dayMs }, reason: "from the future" },
    { why: "of another certificate", options: { answersAbout: 1 }, reason: "about another certificate" },
    { why: "with another nonce", options: { nonce: "other" as const }, reason: "nonce of another request" },
    { why: "an error", options: { failure: true }, reason: "OCSP status 3" },
    { why: "no OCSP", options: { garbage: true }, reason: "OCSP response" },
  ])("rejects an answer that is $why, unless the role fails open", async ({ options, reason }) => {
    const { stage } = await withOcsp({}, options)
    expect((await logIn(stage)).status).toBe(400)
    expect(stage.reasons.flat().at(-1)).toContain(reason)
    await withRole(stage, { ocspFailOpen: true })
    expect((await logIn(stage)).status).toBe(200)
  })

  test("rejects old answers if the role limits their age", async () => {
    const { stage } = await withOcsp({ ocspThisUpdateMaxAgeMs: 3_600_000 }, { thisUpdate: -2 * 3_600_000 })
    expect((await logIn(stage)).status).toBe(400)
    await withRole(stage, { ocspThisUpdateMaxAgeMs: 3 * 3_600_000 })
    expect((await logIn(stage)).status).toBe(200)
  })

  test("tries the next server, or needs all of them", async () => {
    const { stage, responder } = await withOcsp()
    const broken = await serving(() => ({ status: 500, body: "" }))
    await withRole(stage, { ocspServersOverride: [broken.url, responder.url], ocspMaxRetries: 2 })
    expect([(await logIn(stage)).status, broken.count()]).toEqual([200, 3])
    await withRole(stage, { ocspQueryAllServers: true })
    expect((await logIn(stage)).status).toBe(400)
  })

  test("is asked at the address in the certificate; without one, the status is unknown", async () => {
    const responder = await testOcspResponder(root)
    onTestFinished(() => responder[Symbol.asyncDispose]())
    const client = testCertificate({
      issuer: root,
      extensions: [...clientExtensions, `authorityInfoAccess=OCSP;URI:${responder.url}`],
    })
    const stage = await opened()
    await withRole(stage, { ocspEnabled: true })
    expect([(await logIn(stage, [client])).status, responder.count()]).toEqual([200, 1])
    expect((await logIn(stage)).status).toBe(400)
    expect(stage.reasons.flat().at(-1)).toContain("names no OCSP server")
  })
})

describe("a renewal", () => {
  async function loggedIn(role: object = {}) {
    const stage = await opened()
    await withRole(stage, role)
    const token = (await logIn(stage)).body.auth?.client_token ?? ""
    const renew = (chain?: readonly TestCertificate[]) =>
      stage.send("/auth/token/renew-self", { token, isDevice: true, ...(chain && { chain }) })
    return { stage, token, renew }
  }

  test("needs the certificate of the login", async () => {
    const { renew, stage } = await loggedIn()
    expect((await renew([leaf])).status).toBe(200)
    expect((await renew()).body.errors).toEqual(["client certificate must be supplied"])
    const stranger = testCertificate({ issuer: root })
    expect((await renew([stranger])).body.errors).toEqual([
      "client identity during renewal does not match client identity used during login",
    ])
    await stage.engine.certificateLogins("cert").saveRevocationList("root", { crl: testRevocationList(root, [4_711]) })
    expect((await renew([leaf])).status).toBe(400)
  })

  test("needs no certificate if the binding is disabled", async () => {
    const { renew, stage } = await loggedIn()
    await stage.engine.certificateLogins("cert").configure({ disableBinding: true })
    expect((await renew()).status).toBe(200)
  })

  test("needs the role", async () => {
    const { renew, stage } = await loggedIn()
    await stage.engine.certificateLogins("cert").deleteRole("printers")
    expect((await renew([leaf])).status).toBe(400)
    await stage.engine.certificateLogins("cert").configure({ disableBinding: true })
    expect((await renew()).body.errors).toEqual(['role "printers" does not exist; its tokens cannot be renewed'])
  })
})

test("on the device listener, only logins and renewals exist", async () => {
  const stage = await opened()
  await withRole(stage)
  const status = async (path: string) =>
    (await stage.send(path, { chain: [leaf], isDevice: true, token: stage.rootToken })).status
  expect(await status("/auth/cert/login")).toBe(200)
  for (const path of [
    "/auth/cert/config",
    "/auth/cert/certs/a",
    "/auth/none/login",
    "/pki/issue/web",
    "/auth/token/create",
  ])
    expect({ path, status: await status(path) }).toEqual({ path, status: 404 })
})

test("the audit log names the presented certificate", async () => {
  const folder = await mkdtemp(join(tmpdir(), "chancery-certificate-audit-"))
  onTestFinished(() => rm(folder, { recursive: true }))
  const auditFile = join(folder, "audit.log")
  const stage = await opened({ auditFile })
  await withRole(stage)
  expect((await logIn(stage)).status).toBe(200)
  expect(await readFile(auditFile, "utf8")).toContain(`"client_certificate_sha256":"${hash("sha256", leaf.der)}"`)
})

test("a role is rejected with each fault by name", async () => {
  const stage = await opened()
  const wrong = {
    certificate: "x",
    requiredExtensions: ["a:b"],
    allowedMetadataExtensions: ["1.x"],
    ocspServersOverride: ["ldap://a"],
    ocspMaxRetries: 99,
    policies: ["root"],
  }
  await expect(stage.engine.certificateLogins("cert").saveRole("a", wrong)).rejects.toMatchObject({
    code: "invalid",
    faults: [
      "certificate",
      "requiredExtensions",
      "allowedMetadataExtensions",
      "ocspServersOverride",
      "ocspMaxRetries",
      "policies",
    ].map((name) => expect.objectContaining({ field: [name] }) as object),
  })
  const server = testCertificate({ extensions: ["extendedKeyUsage=serverAuth"] })
  await expect(withRole(stage, { certificate: server.certificate })).rejects.toThrow(
    "must be of CAs, or of clients with the extended key usage clientAuth",
  )
  await expect(
    stage.engine.certificateLogins("cert").configure({ ocspCacheSize: 1, roleCacheSize: -2 }),
  ).rejects.toThrow('"ocsp_cache_size" must be from 2 to 100000; "role_cache_size" must be from -1 to 10000')
})

test.each(["rsa", "ec", "ed25519"] as const)(
  "a remote engine logs in over TLS with a certificate of type %s, on the device listener only",
  async (keyType) => {
    const stage = await opened()
    await withRole(stage)
    const client = testCertificate({ keyType, issuer: intermediate })
    const server = await startServer({
      engine: stage.engine,
      tls: {
        source: new ReloadableIdentity({ certificate: testTlsPem("server"), privateKey: testTlsPem("server-key") }),
        listen: { host: "127.0.0.1", port: 0 },
      },
      deviceListen: { host: "127.0.0.1", port: 0 },
    })
    onTestFinished(async () => void (await server.close()))
    const identity = { certificates: `${client.certificate}${intermediate.certificate}`, privateKey: client.key }
    const login = async (url: string | undefined) => {
      await using engine = openRemote(url ?? "", {
        token: "none",
        random: systemRuntime().random,
        skipTlsVerify: true,
        clientIdentity: identity,
      })
      return await engine.certificateLogins("cert").login({ name: "" })
    }
    expect((await login(server.deviceUrl)).token.meta).toMatchObject({ cert_name: "printers" })
    await expect(login(server.httpsUrl)).rejects.toThrow("client certificate must be supplied")
  },
)

test("CRLs and OCSP of the server's own mount decide on logins", async () => {
  const stage = await opened()
  const server = await startServer({ engine: stage.engine })
  onTestFinished(async () => void (await server.close()))
  const post = async (path: string, body: object) => {
    const answer = await stage.pki("POST", path, { body, headers: { "x-vault-request": "true" } })
    expect(answer.status).toBeOneOf([200, 204])
    return answer.body?.data as Readonly<Record<string, string>>
  }
  await post("/sys/mounts/devices", { type: "pki" })
  const { certificate = "" } = await post("/devices/root/generate/internal", { common_name: "Devices", key_type: "ec" })
  await post("/devices/roles/any", { allow_any_name: true, enforce_hostnames: false, key_type: "ec", key_bits: 256 })
  const issued = await post("/devices/issue/any", { common_name: "printer-1", ttl: "1h" })
  const pem = issued["certificate"] ?? ""
  const client = { certificate: pem, key: "", der: Uint8Array.from(new X509Certificate(pem).raw) }
  const logins = stage.engine.certificateLogins("cert")
  await withRole(stage, { certificate }, "listed")
  await withRole(stage, {
    certificate,
    ocspEnabled: true,
    ocspServersOverride: [`${server.url}/v1/devices/ocsp`],
    ocspMaxRetries: 0,
  })
  await logins.saveRevocationList("devices", { url: `${server.url}/v1/devices/crl` })
  const statuses = async () => [
    (await logIn(stage, [client], { name: "listed" })).status,
    (await logIn(stage, [client], { name: "printers" })).status,
  ]
  expect(await statuses()).toEqual([200, 200])
  await post("/devices/revoke", { serial_number: issued["serial_number"] })
  await logins.saveRevocationList("devices", { url: `${server.url}/v1/devices/crl` })
  expect((await statuses())[0]).toBe(400)
  await logins.deleteRevocationList("devices")
  await withRole(stage, { ocspThisUpdateMaxAgeMs: 1_000 })
  stage.advance(2_000)
  expect(await statuses()).toEqual([200, 400])
})
