import { X509Certificate } from "node:crypto"
import { describe, expect, onTestFinished, test } from "vitest"
import { AcmeTestClient } from "../../../testing/acme-client.ts"
import { acmeCluster } from "../../../testing/acme-mount.ts"
import { csrFor, hurriedTime, issued, newProvingEngine, readyOrder } from "../../../testing/acme-engine.ts"
import { startPolicyServer, templateFor, testTlsPem } from "../../../testing/policy-server.ts"
import type { TestEngine, TestEngineOptions } from "../../../testing/test-engine.ts"
import { dayMs } from "../../core/time.ts"
import { subjectAltName } from "../../x509/extensions.ts"

const base = `${acmeCluster}/acme`

describe("ACME with an external policy service", () => {
  const names = (values: readonly string[]) => [
    subjectAltName(
      values.map((value) => ({ kind: "dns", value })),
      { critical: false },
    ),
  ]
  async function newDecidedWorld(options: TestEngineOptions = {}) {
    const policy = await startPolicyServer()
    onTestFinished(() => policy[Symbol.asyncDispose]())
    policy.answerWith((question) => ({
      certificate: templateFor(question, { commonName: "localhost", extensions: names(["localhost"]) }),
      store_certificate: false,
    }))
    const outgoing = { kinds: ["loopback"], ranges: [] } as const
    const setup = await newProvingEngine({
      settings: { default_directory_policy: "external-policy:web" },
      options: { outgoing, ...options },
    })
    const { status } = await setup.world.pki("POST", "/pki/config/external-policy", {
      body: { enabled: true, external_service_url: policy.url, trusted_leaf_certificate_bundle: testTlsPem("server") },
    })
    expect(status).toBe(200)
    return { ...setup, policy }
  }

  test.each([
    ["[P-4.1-r1] acme", "web"],
    ["[P-4.1-r5] external-policy/acme", ""],
    ["[P-4.1-r5] external-policy/strict/acme", "strict"],
    ["[P-4.1-r6] issuer/root/external-policy/acme", ""],
    ["[P-4.1-r6] issuer/root/external-policy/strict/acme", "strict"],
  ])("the directory %s queries it with the policy %j, and the certificate is always stored", async (path, asked) => {
    const { world, responder, policy } = await newDecidedWorld()
    const client = await AcmeTestClient.registered(world, `${acmeCluster}/${path.replace(/^\S+ /, "")}`)
    const { leaf } = await issued(client, responder)
    expect(leaf.subject).toBe("CN=localhost")
    expect(policy.seen.map(({ document }) => document.vault_request_values.policy_name)).toEqual([asked])
    const serial = leaf.serialNumber.match(/../g)?.join(":").toLowerCase()
    expect((await world.pki("LIST", "/pki/certs")).body.data.keys).toContain(serial)
  })

  test.each([
    ["another name", { commonName: "localhost", extensions: names(["localhost", "www.example.com"]) }],
    ["another common name", { commonName: "www.example.com", extensions: names(["localhost"]) }],
    ["fewer names", { commonName: "", subject: [], extensions: [] }],
    [
      "a life beyond max_ttl",
      {
        commonName: "localhost",
        extensions: names(["localhost"]),
        notAfter: Math.floor(Date.now() / 1_000) * 1_000 + 100 * dayMs,
      },
    ],
  ])("an order fails when the service's certificate has %s", async (_how, template) => {
    const { world, responder, policy } = await newDecidedWorld()
    policy.answerWith((question) => ({ certificate: templateFor(question, template), store_certificate: true }))
    const client = await AcmeTestClient.registered(world, base)
    const { finalize } = await readyOrder(client, responder)
    const before = (await world.pki("LIST", "/pki/certs")).body.data.keys
    const finalized = await client.post(finalize, { csr: await csrFor(["localhost"]) })
    expect(finalized).toMatchObject({
      status: 200,
      body: {
        status: "invalid",
        error: {
          type: "urn:ietf:params:acme:error:unauthorized",
          detail: expect.stringContaining("The certificate from the external policy service"),
        },
      },
    })
    expect(finalized.body.certificate).toBeUndefined()
    expect((await world.pki("LIST", "/pki/certs")).body.data.keys).toEqual(before)
  })

  test("[F-A3] a certificate with an early notBefore begins with its issuer", async () => {
    const { world, responder, policy } = await newDecidedWorld()
    const template = { commonName: "localhost", extensions: names(["localhost"]), notBefore: Date.UTC(2015, 0, 1) }
    policy.answerWith((question) => ({ certificate: templateFor(question, template), store_certificate: true }))
    const client = await AcmeTestClient.registered(world, base)
    const { finalize } = await readyOrder(client, responder)
    const known: readonly string[] = (await world.pki("LIST", "/pki/certs")).body.data.keys
    expect((await client.post(finalize, { csr: await csrFor(["localhost"]) })).body.status).toBe("valid")
    const [serial = ""] = (await world.pki("LIST", "/pki/certs")).body.data.keys.filter(
      (key: string) => !known.includes(key),
    )
    const validFrom = async (name: string) =>
      new X509Certificate((await world.pki("GET", `/pki/cert/${name}`)).body.data.certificate).validFrom
    expect(await validFrom(serial)).toBe(await validFrom("ca"))
  })

  test("an order fails with the service's reason when it refuses", async () => {
    const { world, responder, policy } = await newDecidedWorld()
    policy.answerWith(() => ({ error: "not on a Sunday" }))
    const client = await AcmeTestClient.registered(world, base)
    const { finalize, url } = await readyOrder(client, responder)
    const error = { type: "urn:ietf:params:acme:error:unauthorized", detail: "not on a Sunday" }
    const csr = await csrFor(["localhost"])
    expect((await client.post(finalize, { csr })).body).toMatchObject({ status: "invalid", error })
    expect((await client.post(url)).body).toMatchObject({ status: "invalid", error })
    expect((await client.post(finalize, { csr })).body).toMatchObject({ status: "invalid", error })
    expect(await client.post(`${url}/cert`)).toMatchObject({ status: 404, problem: "malformed" })
  })

  test("an order is processing with Retry-After until the service answers", async () => {
    const { world, responder, policy } = await newDecidedWorld()
    const answer = Promise.withResolvers<void>()
    policy.answerWith(async (question) => {
      await answer.promise
      return { certificate: templateFor(question, { commonName: "localhost", extensions: names(["localhost"]) }) }
    })
    const client = await AcmeTestClient.registered(world, base)
    const { finalize, url } = await readyOrder(client, responder)
    const csr = await csrFor(["localhost"])
    for (const asked of [
      await client.post(finalize, { csr }),
      await client.post(url),
      await client.post(finalize, { csr }),
    ]) {
      expect(asked).toMatchObject({ status: 200, body: { status: "processing" } })
      expect(asked.headers.get("retry-after")).toBe("1")
      expect(asked.body.certificate).toBeUndefined()
    }
    expect(await client.post(finalize, { csr: await csrFor(["localhost"]) })).toMatchObject({
      status: 403,
      problem: "orderNotReady",
    })
    answer.resolve()
    await expect.poll(async () => (await client.post(url)).body.status).toBe("valid")
    expect((await client.post(`${url}/cert`)).body).toContain("BEGIN CERTIFICATE")
    expect(policy.seen).toHaveLength(1)
  })

  test("an order is processing until the service has decided", async () => {
    const { world, responder, policy } = await newDecidedWorld(hurriedTime())
    let asked = 0
    policy.answerWith((question) => {
      asked += 1
      return asked < 7
        ? { decision: "pending", retry_after: 5 }
        : { certificate: templateFor(question, { commonName: "localhost", extensions: names(["localhost"]) }) }
    })
    const client = await AcmeTestClient.registered(world, base)
    const { finalize, url } = await readyOrder(client, responder)
    expect((await client.post(finalize, { csr: await csrFor(["localhost"]) })).body.status).toBe("processing")
    await expect.poll(async () => (await client.post(url)).body.status, { timeout: 10_000 }).toBe("valid")
    expect(asked).toBe(7)
  })

  test("an order fails when the service would decide after its expiry", async () => {
    const { world, responder, policy } = await newDecidedWorld()
    policy.answerWith(() => ({ decision: "pending", retry_after: 1_000_000 }))
    const client = await AcmeTestClient.registered(world, base)
    const { finalize, url } = await readyOrder(client, responder)
    await client.post(finalize, { csr: await csrFor(["localhost"]) })
    await expect.poll(async () => (await client.post(url)).body.status, { timeout: 10_000 }).toBe("invalid")
    expect((await client.post(url)).body.error.detail).toContain("has not decided yet")
  })

  test("an order fails when the service never answers", async () => {
    const { world, responder, policy } = await newDecidedWorld(hurriedTime())
    const client = await AcmeTestClient.registered(world, base)
    const { finalize, url } = await readyOrder(client, responder)
    const settings = { enabled: true, external_service_url: "https://localhost:1/evaluate" }
    await world.pki("POST", "/pki/config/external-policy", { body: settings })
    expect((await client.post(finalize, { csr: await csrFor(["localhost"]) })).body.status).toBe("processing")
    await expect.poll(async () => (await client.post(url)).body.status, { timeout: 10_000 }).toBe("invalid")
    const { error } = (await client.post(url)).body
    expect(error).toMatchObject({ type: "urn:ietf:params:acme:error:serverInternal" })
    expect(error.detail).toContain("policy service")
    expect(policy.seen).toHaveLength(0)
  })

  test("an order becomes valid when the service answers again", async () => {
    const { world, responder, policy } = await newDecidedWorld(hurriedTime())
    let asked = 0
    policy.answerWith((question) => {
      asked += 1
      return asked < 3
        ? { request_uuid: "another" }
        : { certificate: templateFor(question, { commonName: "localhost", extensions: names(["localhost"]) }) }
    })
    const client = await AcmeTestClient.registered(world, base)
    const { finalize, url } = await readyOrder(client, responder)
    await client.post(finalize, { csr: await csrFor(["localhost"]) })
    await expect.poll(async () => (await client.post(url)).body.status, { timeout: 10_000 }).toBe("valid")
    expect(asked).toBe(3)
  })

  test.each<readonly [string, (client: AcmeTestClient, world: TestEngine) => Promise<unknown>]>([
    ["given up", (client) => client.post(client.account ?? "", { status: "deactivated" })],
    [
      "disabled [F-A8]",
      (client, world) =>
        world.pki("POST", `/pki/acme/mgmt/account/keyid/${client.account?.split("/").at(-1)}`, {
          body: { status: "revoked" },
        }),
    ],
  ])("a processing order fails when its account is %s", async (_how, end) => {
    const { world, responder, policy } = await newDecidedWorld()
    const answer = Promise.withResolvers<void>()
    policy.answerWith(async (question) => {
      await answer.promise
      return { certificate: templateFor(question, { commonName: "localhost", extensions: names(["localhost"]) }) }
    })
    const client = await AcmeTestClient.registered(world, base)
    const other = await AcmeTestClient.registered(world, base)
    const { finalize } = await readyOrder(client, responder)
    const before = (await world.pki("LIST", "/pki/certs")).body.data.keys.length
    expect((await client.post(finalize, { csr: await csrFor(["localhost"]) })).body.status).toBe("processing")
    await end(client, world)
    answer.resolve()
    // Answers come in order: when this order has its certificate, the certificate of the first order was discarded already.
    await issued(other, responder)
    expect((await world.pki("LIST", "/pki/certs")).body.data.keys).toHaveLength(before + 1)
  })
})
