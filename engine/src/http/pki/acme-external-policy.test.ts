import { describe, expect, onTestFinished, test } from "vitest"
import { AcmeTestClient } from "../../testing/acme-client.ts"
import { acmeCluster } from "../../testing/acme-mount.ts"
import { csrFor, issued, newProvingWorld, readyOrder } from "../../testing/acme-world.ts"
import { startPolicyServer, templateFor, testTlsPem } from "../../testing/policy-server.ts"
import { dayMs } from "../../core/time.ts"
import { subjectAltName } from "../../x509/extensions.ts"

const base = `${acmeCluster}/acme`

describe("where an external policy service decides", () => {
  const names = (values: readonly string[]) => [
    subjectAltName(
      values.map((value) => ({ kind: "dns", value })),
      { critical: false },
    ),
  ]
  async function newDecidedWorld() {
    const policy = await startPolicyServer()
    onTestFinished(() => policy[Symbol.asyncDispose]())
    policy.answerWith((question) => ({
      certificate: templateFor(question, { commonName: "localhost", extensions: names(["localhost"]) }),
      store_certificate: false,
    }))
    const outgoing = { kinds: ["loopback"], ranges: [] } as const
    const setup = await newProvingWorld({
      settings: { default_directory_policy: "external-policy:web" },
      options: { outgoing },
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
  ])("the directory %s asks it by the policy %j, and the certificate is kept whatever it says", async (path, asked) => {
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
  ])("nothing is issued of what it decides with %s", async (_how, template) => {
    const { world, responder, policy } = await newDecidedWorld()
    policy.answerWith((question) => ({ certificate: templateFor(question, template), store_certificate: true }))
    const client = await AcmeTestClient.registered(world, base)
    const { finalize } = await readyOrder(client, responder)
    const before = (await world.pki("LIST", "/pki/certs")).body.data.keys
    expect(await client.post(finalize, { csr: await csrFor(["localhost"]) })).toMatchObject({
      status: 403,
      problem: "unauthorized",
    })
    expect((await world.pki("LIST", "/pki/certs")).body.data.keys).toEqual(before)
  })

  test("nothing is issued where it refuses, and its reason is told", async () => {
    const { world, responder, policy } = await newDecidedWorld()
    policy.answerWith(() => ({ error: "not on a Sunday" }))
    const client = await AcmeTestClient.registered(world, base)
    const { finalize } = await readyOrder(client, responder)
    expect(await client.post(finalize, { csr: await csrFor(["localhost"]) })).toMatchObject({
      status: 403,
      problem: "unauthorized",
      body: { detail: expect.stringContaining("not on a Sunday") },
    })
  })
})
