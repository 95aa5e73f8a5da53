import type { X509Certificate } from "node:crypto"
import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { describe, expect, onTestFinished, test } from "vitest"
import { AcmeTestClient } from "../../../testing/acme-client.ts"
import { acmeCluster } from "../../../testing/acme-mount.ts"
import {
  csrFor,
  hurriedTime,
  issued,
  localhost,
  newAcmeEngine,
  newProvingEngine,
  readyOrder,
} from "../../../testing/acme-engine.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { openNameServer } from "../../../testing/name-server.ts"
import { dayMs, hourMs } from "../../core/time.ts"
import { systemRuntime } from "../../core/runtime.ts"
import { basicConstraints, subjectAltName } from "../../x509/extensions.ts"
import { oids } from "../../x509/asn1/oids.ts"

const base = `${acmeCluster}/acme`

/** Creates an engine that checks CAA records, with a manual clock. */
async function newLateWorld(identities = "ca.example", settings: object = {}) {
  let records: readonly string[] | "failure" = []
  let meanwhile: (() => Promise<unknown>) | undefined
  const { port, questions } = await openNameServer(async (type, name) => {
    if (name !== "localhost") return []
    if (type === "CAA") {
      await meanwhile?.()
      return records
    }
    return type === "A" ? ["127.0.0.1"] : []
  })
  const clock = manualClock(Date.now())
  const { world, responder } = await newProvingEngine({
    settings: { caa_identities: identities, dns_resolver: `127.0.0.1:${port}`, ...settings },
    options: { runtime: { ...systemRuntime(), clock }, timers: hurriedTime().timers },
  })
  const client = await AcmeTestClient.registered(world, base)
  const lookAtCaa = (names: string) => world.pki("POST", "/pki/config/acme", { body: { caa_identities: names } })
  interface LateChange {
    readonly before: readonly string[]
    readonly after: readonly string[] | "failure"
    readonly waitMs: number
    /** CAA identities that are set after the wait. */
    readonly identities?: string
    /** Settings of the role that are written during the last CAA lookup, when nothing else prevents signing. */
    readonly meanwhile?: object
  }
  return {
    questions,
    clock,
    prove: () => readyOrder(client, responder),
    async statusOfNext() {
      // The nonce of the last answer may have expired.
      const nonce = await client.nonce()
      return (await client.post("/new-order", { identifiers: [localhost] }, { nonce })).body.status
    },
    lookAtCaa,
    async finalizedLate(change: LateChange) {
      records = change.before
      const { finalize, url } = await readyOrder(client, responder)
      clock.advance(change.waitMs)
      records = change.after
      if (change.identities !== undefined) await lookAtCaa(change.identities)
      if (change.meanwhile !== undefined)
        meanwhile = () => world.pki("POST", "/pki/roles/web", { body: change.meanwhile ?? {} })
      // The nonce of the last answer may have expired.
      const nonce = await client.nonce()
      await client.post(finalize, { csr: await csrFor(["localhost"]) }, { nonce })
      const ended = async () => {
        clock.advance(hourMs / 60)
        const { body } = await client.post(url)
        return body.status === "valid" || body.status === "invalid" ? body : undefined
      }
      await expect.poll(ended).toBeDefined()
      return (await client.post(url)).body
    },
  }
}

describe("an order", () => {
  test.each([
    ["no identifiers", { identifiers: [] }, "malformed"],
    ["identifiers that are not an array", { identifiers: "example.com" }, "malformed"],
    [
      "too many",
      { identifiers: Array.from({ length: 101 }, (_, at) => ({ type: "dns", value: `n${at}.example.com` })) },
      "malformed",
    ],
    ["another kind of name", { identifiers: [{ type: "email", value: "a@example.com" }] }, "unsupportedIdentifier"],
    ["letters that are not ASCII", { identifiers: [{ type: "dns", value: "bücher.example" }] }, "rejectedIdentifier"],
    ["a wildcard in the middle", { identifiers: [{ type: "dns", value: "www.*.example.com" }] }, "rejectedIdentifier"],
    ["an invalid time", { identifiers: [localhost], notAfter: "tomorrow" }, "malformed"],
    ["an end that has passed", { identifiers: [localhost], notAfter: "2001-01-01T00:00:00Z" }, "malformed"],
    [
      "an end beyond max_ttl",
      { identifiers: [localhost], notAfter: new Date(Date.now() + 100 * dayMs).toISOString() },
      "malformed",
    ],
    ["a profile that is not offered", { identifiers: [localhost], profile: "absent" }, "invalidProfile"],
    ["an invalid replaces", { identifiers: [localhost], replaces: "x" }, "malformed"],
  ])("for %s is rejected", async (_how, order, problem) => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.registered(world, base)
    expect(await client.post("/new-order", order)).toMatchObject({ status: 400, problem })
  })

  test.each([
    ["dns", "2130706433"],
    ["dns", "*.127.1"],
    ["ip", "::ffff:10.0.0.1"],
  ])("[F-A10] is rejected for the %s identifier %s, and so is an authorization", async (type, value) => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.registered(world, base)
    const refused = { status: 400, problem: "rejectedIdentifier" }
    expect(await client.post("/new-order", { identifiers: [localhost, { type, value }] })).toMatchObject({
      ...refused,
      body: { subproblems: [{ identifier: { type, value } }] },
    })
    expect(await client.post("/new-authz", { identifier: { type, value: value.replace("*.", "") } })).toMatchObject(
      refused,
    )
  })

  test("has each name once and in lower case, including reserved and private names", async () => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.registered(world, base)
    const identifiers = ["Printer.TEST", "printer.test", "db.internal"].map((value) => ({ type: "dns", value }))
    const made = await client.post("/new-order", { identifiers: [...identifiers, { type: "ip", value: "10.0.0.1" }] })
    expect(made).toMatchObject({ status: 201, body: { status: "pending" } })
    expect(made.body.identifiers).toEqual([
      { type: "dns", value: "db.internal" },
      { type: "dns", value: "printer.test" },
      { type: "ip", value: "10.0.0.1" },
    ])
    expect(made.body.authorizations).toHaveLength(3)
  })

  test("is rejected with a subproblem for each name that its role does not allow", async () => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.registered(world, `${acmeCluster}/roles/web/acme`)
    const identifiers = ["www.example.com", "a.example.net", "b.example.net"].map((value) => ({ type: "dns", value }))
    const refused = await client.post("/new-order", { identifiers })
    expect(refused).toMatchObject({ status: 400, problem: "rejectedIdentifier" })
    expect(refused.body.subproblems.map(({ identifier }: { identifier: object }) => identifier)).toEqual(
      identifiers.slice(1),
    )
    expect(refused.body.subproblems[0].type).toBe("urn:ietf:params:acme:error:rejectedIdentifier")
  })

  test("[P-2.4-r4] becomes a server certificate with the chain to its root", async () => {
    const { world, responder } = await newProvingEngine()
    const client = await AcmeTestClient.registered(world, base)
    const { leaf, downloaded, finalized } = await issued(client, responder)
    expect(downloaded.headers.get("content-type")).toBe("application/pem-certificate-chain")
    expect(downloaded.body.match(/BEGIN CERTIFICATE/g)).toHaveLength(2)
    expect(leaf.subjectAltName).toBe("DNS:localhost")
    expect(leaf.keyUsage).toEqual([serverAuth])
    expect(new Date(leaf.validTo).getTime() - Date.now()).toBeLessThanOrEqual(90 * dayMs)
    expect(finalized.body.error).toBeUndefined()
  })

  test("[P-2.4-r4] has the extended key usages of its role when the mount allows them", async () => {
    const { world, responder } = await newProvingEngine({ settings: { allow_role_ext_key_usage: true } })
    const client = await AcmeTestClient.registered(world, `${acmeCluster}/roles/web/acme`)
    const { leaf } = await issued(client, responder)
    expect(leaf.keyUsage).toEqual([serverAuth, "1.3.6.1.5.5.7.3.2"])
  })

  test("[P-2.4-r8] becomes a certificate that is valid until the requested notAfter, for max_ttl at most", async () => {
    const { world, responder } = await newProvingEngine({ settings: { max_ttl: "48h" }, role: { ttl: "720h" } })
    const client = await AcmeTestClient.registered(world, `${acmeCluster}/roles/web/acme`)
    const until = ({ leaf }: { leaf: X509Certificate }) => new Date(leaf.validTo).getTime()
    expect(until(await issued(client, responder))).toBeLessThanOrEqual(Date.now() + 48 * hourMs)
    const notAfter = new Date(Math.floor(Date.now() / 1_000) * 1_000 + hourMs)
    expect(until(await issued(client, responder, { notAfter: notAfter.toISOString() }))).toBe(notAfter.getTime())
  })

  test("is validated before the answer to its challenge when the validation is fast", async () => {
    const { world, responder } = await newProvingEngine()
    const client = await AcmeTestClient.registered(world, base)
    const ordered = await client.post("/new-order", { identifiers: [localhost] })
    const authorization = await client.post(ordered.body.authorizations[0])
    const challenge = authorization.body.challenges.find(({ type }: { type: string }) => type === "http-01")
    responder.answers.set(challenge.token, `${challenge.token}.${client.thumbprint}`)
    const proved = await client.post(challenge.url, {})
    expect(proved.body).toMatchObject({ status: "valid", token: challenge.token })
    expect(proved.body.validated).toBeDefined()
    expect(proved.headers.get("retry-after")).toBeNull()
    const shown = await client.post(challenge.url)
    expect(shown.body).toEqual(proved.body)
    expect((await client.post(ordered.headers.get("location") ?? "")).body.status).toBe("ready")
  })

  test("is processing with Retry-After when the validation takes longer", async () => {
    const asked: Socket[] = []
    const silent = createServer((socket) => asked.push(socket)).listen(0, "127.0.0.1")
    onTestFinished(() => void silent.close())
    await once(silent, "listening")
    const world = await newAcmeEngine({
      options: {
        acme: { httpPort: (silent.address() as AddressInfo).port, permitted: { kinds: ["loopback"], ranges: [] } },
      },
    })
    const client = await AcmeTestClient.registered(world, base)
    const ordered = await client.post("/new-order", { identifiers: [localhost] })
    const authorization = await client.post(ordered.body.authorizations[0])
    const challenge = authorization.body.challenges.find(({ type }: { type: string }) => type === "http-01")
    const begun = await client.post(challenge.url, {})
    expect(begun.body.status).toBe("processing")
    expect(begun.headers.get("retry-after")).toBe("1")
    for (const socket of asked) socket.destroy()
  })

  test("contains the error when it has failed", async () => {
    const { world } = await newProvingEngine({ options: hurriedTime() })
    const client = await AcmeTestClient.registered(world, base)
    const ordered = await client.post("/new-order", { identifiers: [localhost] })
    const authorization = await client.post(ordered.body.authorizations[0])
    const challenge = authorization.body.challenges.find(({ type }: { type: string }) => type === "http-01")
    await client.post(challenge.url, {})
    const url = ordered.headers.get("location") ?? ""
    await expect.poll(async () => (await client.post(url)).body.status, { timeout: 30_000 }).toBe("invalid")
    const { body } = await client.post(url)
    expect(body.error).toMatchObject({ type: "urn:ietf:params:acme:error:unauthorized" })
    const failed = await client.post(ordered.body.authorizations[0])
    expect(failed.body).toMatchObject({
      status: "invalid",
      challenges: [
        { type: "http-01", status: "invalid", error: { type: "urn:ietf:params:acme:error:incorrectResponse" } },
      ],
    })
    expect(await client.post(body.finalize, { csr: await csrFor(["localhost"]) })).toMatchObject({
      status: 403,
      problem: "orderNotReady",
    })
  })

  test("reuses authorizations, with CAA checks for eight hours at most", async () => {
    const { clock, prove, statusOfNext, lookAtCaa } = await newLateWorld()
    await prove()
    clock.advance(8 * hourMs - 60_000)
    expect(await statusOfNext()).toBe("ready")
    clock.advance(2 * 60_000)
    expect(await statusOfNext()).toBe("pending")
    await lookAtCaa("")
    expect(await statusOfNext()).toBe("ready")
  })

  test("does not reuse authorizations from before CAA checks were enabled", async () => {
    const { clock, prove, statusOfNext, lookAtCaa } = await newLateWorld("")
    await prove()
    clock.advance(60_000)
    expect(await statusOfNext()).toBe("ready")
    await lookAtCaa("ca.example")
    expect(await statusOfNext()).toBe("pending")
    await lookAtCaa("ca.example, other.example")
    await prove()
    expect(await statusOfNext()).toBe("ready")
  })

  test.each([
    ["that are set since, where the owner names another", "", "ca.example", "issue other.example", "invalid"],
    ["that are set since, where the owner names it", "", "ca.example", "issue ca.example", "valid"],
    ["that are others, where the owner names the former", "ca.example", "new.example", "issue ca.example", "invalid"],
    ["that are more, as was said before", "ca.example", "ca.example,new.example", "issue other.example", "valid"],
  ])("is finalized with CAA identities %s", async (_how, first, then, after, status) => {
    const { finalizedLate } = await newLateWorld(first)
    const change = { before: ["issue ca.example"], after: [after], waitMs: 60_000, identities: then }
    expect((await finalizedLate(change)).status).toBe(status)
  })

  test.each([
    ["lets this authority issue still", ["issue ca.example; validationmethods=http-01"], "valid", undefined],
    ["has given the leave to another", ["issue other.example"], "invalid", "caa"],
    [
      "has taken back the leave for how it was proved",
      ["issue ca.example; validationmethods=dns-01"],
      "invalid",
      "caa",
    ],
  ] as const)(
    "is checked again more than eight hours after its validation when the owner of the name %s: %j",
    async (_how, after, status, problem) => {
      const { finalizedLate, questions } = await newLateWorld()
      const order = await finalizedLate({ before: ["issue ca.example"], after, waitMs: 8 * hourMs })
      expect([order.status, order.error?.type.split(":").at(-1)]).toEqual([status, problem])
      expect(order.error?.subproblems).toEqual(
        problem && [
          {
            type: `urn:ietf:params:acme:error:${problem}`,
            detail: "CAA records of localhost do not allow this CA to issue.",
            identifier: localhost,
          },
        ],
      )
      expect(questions.filter((question) => question === "CAA localhost")).toHaveLength(2)
    },
  )

  test.each([
    ["allows the name no longer", { allowed_domains: ["example.org"] }, "invalid"],
    ["goes on allowing it", { allowed_domains: ["localhost"], allow_bare_domains: true, key_type: "any" }, "valid"],
  ])("is signed by the current role when that %s", async (_how, role, status) => {
    const { finalizedLate } = await newLateWorld("ca.example", { default_directory_policy: "role:web" })
    const change = { before: ["issue ca.example"], after: ["issue ca.example"], waitMs: 8 * hourMs, meanwhile: role }
    const order = await finalizedLate(change)
    expect([order.status, order.error?.type.split(":").at(-1)]).toEqual([
      status,
      status === "valid" ? undefined : "badCSR",
    ])
  })

  test("is finalized with the CAA check of its validation within eight hours", async () => {
    const { finalizedLate, questions } = await newLateWorld()
    // Each poll of the order advances the clock by a minute, and there are at most twenty polls.
    const waitMs = 8 * hourMs - 30 * 60_000
    expect(await finalizedLate({ before: ["issue ca.example"], after: ["issue other.example"], waitMs })).toMatchObject(
      {
        status: "valid",
      },
    )
    expect(questions.filter((question) => question === "CAA localhost")).toHaveLength(1)
  })

  test("retries when a name server fails, and becomes invalid when it never answers", async () => {
    const { finalizedLate, questions } = await newLateWorld()
    const order = await finalizedLate({ before: ["issue ca.example"], after: "failure", waitMs: 8 * hourMs })
    expect(order).toMatchObject({ status: "invalid", error: { type: "urn:ietf:params:acme:error:dns", status: 400 } })
    // One lookup at validation, then the first attempt and three retries.
    expect(questions.filter((question) => question === "CAA localhost").length).toBeGreaterThanOrEqual(5)
  })

  test("reuses authorizations until they are deactivated", async () => {
    const { world, responder } = await newProvingEngine()
    const client = await AcmeTestClient.registered(world, base)
    const { authorizations } = await readyOrder(client, responder)
    const again = await client.post("/new-order", { identifiers: [localhost] })
    expect(again.body).toMatchObject({ status: "ready", authorizations })
    const other = await AcmeTestClient.registered(world, base)
    expect((await other.post("/new-order", { identifiers: [localhost] })).body.status).toBe("pending")
    expect(await other.post(authorizations[0] ?? "")).toMatchObject({ status: 404, problem: "malformed" })
    expect((await client.post(authorizations[0] ?? "", { status: "deactivated" })).body.status).toBe("deactivated")
    expect((await client.post(again.headers.get("location") ?? "")).body.status).toBe("invalid")
    expect((await client.post("/new-order", { identifiers: [localhost] })).body.status).toBe("pending")
  })

  test("uses authorizations that were created before it", async () => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.registered(world, base)
    const made = await client.post("/new-authz", { identifier: localhost })
    expect(made).toMatchObject({ status: 201, body: { status: "pending", identifier: localhost } })
    expect(made.headers.get("location")).toMatch(/\/authorization\/authz-/)
    expect(await client.post("/new-authz", { identifier: { type: "dns", value: "*.example.com" } })).toMatchObject({
      status: 400,
    })
  })

  const finalizing: readonly (readonly [string, () => Promise<string>])[] = [
    ["another name", () => csrFor(["www.example.com"])],
    ["one name too many", () => csrFor(["localhost", "www.example.com"])],
    ["no name", () => csrFor([])],
    [
      "another common name",
      () => csrFor(["localhost"], { subject: [[{ type: oids.commonName, value: "www.example.com" }]] }),
    ],
    [
      "a name of another kind",
      () =>
        csrFor([], { extensions: [subjectAltName([{ kind: "email", value: "a@localhost" }], { critical: false })] }),
    ],
    ["an authority", () => csrFor(["localhost"], { extensions: [basicConstraints({ isCa: true })] })],
    ["what is none", async () => "AAAA"],
    ["what is not in base64url", async () => "a b"],
  ]
  test.each(finalizing)("is not finalized with a CSR for %s, and stays ready", async (_how, csr) => {
    const { world, responder } = await newProvingEngine()
    const client = await AcmeTestClient.registered(world, base)
    const { finalize } = await readyOrder(client, responder)
    expect(await client.post(finalize, { csr: await csr() })).toMatchObject({ status: 400, problem: "badCSR" })
    expect((await client.post(finalize, { csr: await csrFor(["localhost"]) })).body.status).toBe("valid")
  })

  test("is finalized once, and the same CSR returns the same certificate", async () => {
    const { world, responder } = await newProvingEngine()
    const client = await AcmeTestClient.registered(world, base)
    const { finalize } = await readyOrder(client, responder)
    const [one, other] = [await csrFor(["localhost"]), await csrFor(["localhost"])]
    const first = await client.post(finalize, { csr: one })
    const again = await client.post(finalize, { csr: one })
    expect([first.status, again.status]).toEqual([200, 200])
    expect(again.body.certificate).toBe(first.body.certificate)
    expect(await client.post(finalize, { csr: other })).toMatchObject({ status: 403, problem: "orderNotReady" })
    expect((await world.pki("LIST", "/pki/certs")).body.data.keys).toHaveLength(2)
  })

  test("is issued by its profile", async () => {
    const { world, responder } = await newProvingEngine()
    await world.pki("POST", "/pki/roles/short", {
      body: { allow_any_name: true, key_type: "any", require_cn: false, ttl: "1h" },
    })
    const client = await AcmeTestClient.registered(world, base)
    const { leaf } = await issued(client, responder, { profile: "short" })
    expect(new Date(leaf.validTo).getTime()).toBeLessThanOrEqual(Date.now() + hourMs)
  })

  test("expires", async () => {
    const clock = manualClock(Date.now())
    const world = await newAcmeEngine({ options: { runtime: { ...systemRuntime(), clock } } })
    const client = await AcmeTestClient.registered(world, base)
    const ordered = await client.post("/new-order", { identifiers: [localhost] })
    clock.advance(dayMs)
    const found = await client.post(ordered.headers.get("location") ?? "", undefined, { nonce: await client.nonce() })
    expect(found.body).toMatchObject({ status: "invalid", error: { detail: "The order has expired." } })
  })
})

const serverAuth = "1.3.6.1.5.5.7.3.1"
