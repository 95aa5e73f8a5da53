import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"

let world: TestEngine
beforeAll(async () => {
  world = await openTestEngine()
  await world.pki("POST", "/sys/mounts/pki", { body: { type: "pki" } })
})
afterAll(() => world[Symbol.asyncDispose]())

const vault = (token: string) => ({ token: null, headers: { "x-vault-token": token } })

describe("roles over HTTP:", () => {
  test("[F-P13] allow_token_displayname is false in the responses of every operation, as in Vault", async () => {
    const answers = [
      await world.pki("POST", "/pki/roles/displayed", { body: {} }),
      await world.pki("PATCH", "/pki/roles/displayed", { body: { ttl: "1h" } }),
      await world.pki("GET", "/pki/roles/displayed"),
      await world.pki("GET", "/pki/roles/displayed", vault(world.rootToken)),
    ]
    expect(answers.map(({ body }) => body.data.allow_token_displayname)).toEqual([false, false, false, false])
    await world.pki("DELETE", "/pki/roles/displayed")
  })

  test("listing answers 404 without any role", async () => {
    const { status, body } = await world.pki("LIST", "/pki/roles")
    expect({ status, body }).toEqual({ status: 404, body: { errors: [] } })
  })

  test("[P-4.3-r2] [P-2.1-r1] [P-2.1-r2] [P-2.1-r3] [P-2.1-r4] [P-2.1-r5] [P-2.1-r6] [P-2.1-r7] [P-2.1-r8] [P-2.1-r9] [P-2.1-r10] [P-2.1-r11] [P-2.1-r12] [P-2.1-r13] [P-2.1-r14] [P-2.1-p1] [P-2.1-p2] a role has every field with its type", async () => {
    const written = await world.pki("POST", "/pki/roles/web", {
      body: { allowed_domains: "example.com,example.org", allow_subdomains: "true", max_ttl: "72h", ttl: 3600 },
    })
    expect(written.status).toBe(200)
    const { body } = await world.pki("GET", "/pki/roles/web")
    expect(written.body.data).toEqual(body.data)
    expect(body.data).toMatchObject({
      allow_any_name: false,
      allow_ip_sans: true,
      allow_localhost: true,
      allow_subdomains: true,
      allowed_domains: ["example.com", "example.org"],
      allowed_uri_sans: [],
      allowed_other_sans: [],
      client_flag: true,
      code_signing_flag: false,
      server_flag: true,
      key_bits: 2048,
      key_type: "rsa",
      ttl: "1h",
      max_ttl: "72h",
      issuer_ref: "default",
      require_cn: true,
      allowed_user_ids: [],
      no_store: false,
      no_store_metadata: false,
      generate_lease: false,
      not_before_duration: "30s",
    })
  })

  test("Vault clients receive durations in seconds", async () => {
    const { body } = await world.pki("GET", "/pki/roles/web", vault(world.rootToken))
    expect(body.data).toMatchObject({ ttl: 3_600, max_ttl: 259_200, not_before_duration: 30 })
  })

  test("[P-4.3-r1] the list contains only names", async () => {
    for (const [method, path] of [
      ["LIST", "/pki/roles"],
      ["GET", "/pki/roles?list=true"],
    ] as const) {
      const { status, body } = await world.pki(method, path)
      expect(status).toBe(200)
      expect(body).toMatchObject({
        data: { keys: ["web"] },
        auth: null,
        lease_duration: 0,
        lease_id: "",
        renewable: false,
      })
    }
  })

  test("[P-4.3-p1] [P-3-p1] PATCH changes the given parameters, and null restores a default", async () => {
    const patch = (body: object) =>
      world.pki("PATCH", "/pki/roles/web", { body, headers: { "content-type": "application/merge-patch+json" } })
    expect((await patch({ allow_localhost: false, max_ttl: null })).body.data).toMatchObject({
      allow_localhost: false,
      max_ttl: "0s",
      allow_subdomains: true,
    })
    expect(
      (await world.pki("PATCH", "/pki/roles/web", { body: {}, headers: { "content-type": "application/json" } }))
        .status,
    ).toBe(415)
  })

  test("[P-4.3-p1] [P-3-p1] POST replaces the whole role, and reports all faults at once", async () => {
    const refused = await world.pki("POST", "/pki/roles/web", {
      body: { key_type: "dsa", ttl: "soon", allow_any_name: "perhaps", policy_identifiers: "1.2.x" },
    })
    expect(refused.status).toBe(400)
    expect(refused.body.errors).toEqual([
      expect.stringContaining('"ttl" must be a duration'),
      expect.stringContaining('"allow_any_name" must be a boolean'),
      expect.stringContaining("unknown key type dsa"),
      expect.stringContaining("1.2.x"),
    ])
    await world.pki("PUT", "/pki/roles/web", { body: { key_type: "ec" } })
    const { body } = await world.pki("GET", "/pki/roles/web")
    expect(body.data).toMatchObject({ key_type: "ec", key_bits: 256, allowed_domains: [], allow_localhost: true })
  })

  test("policy_identifiers may have qualifiers, and unknown members are ignored with a warning", async () => {
    const policies = [{ oid: "1.3.6.1.4.1.1", notice: "internal", cps: "https://example.com/cps" }, { oid: "1.2.3" }]
    const { body } = await world.pki("POST", "/pki/roles/policies", {
      body: { policy_identifiers: JSON.stringify(policies), colour: "green" },
    })
    expect(body.data.policy_identifiers).toEqual(policies)
    expect(body.warnings).toContain("colour")
  })

  test("Vault clients receive policies with qualifiers as JSON strings, and may send them back", async () => {
    const policies = [
      { oid: "1.2.3", notice: "internal" },
      { oid: "1.2.4", cps: "https://example.com/cps" },
    ]
    // Declarative tools send every qualifier, empty if unset.
    const asked = policies.map((policy) => ({ notice: "", cps: "", ...policy }))
    const write = async (policy_identifiers: unknown) =>
      (await world.pki("POST", "/pki/roles/qualified", { ...vault(world.rootToken), body: { policy_identifiers } }))
        .body
    const { data } = await write(JSON.stringify(asked))
    expect(data.policy_identifiers).toEqual(policies.map((policy) => JSON.stringify(policy)))
    expect((await world.pki("GET", "/pki/roles/qualified")).body.data.policy_identifiers).toEqual(policies)
    expect((await write(data.policy_identifiers)).data).toEqual(data)
    expect((await write(["1.2.3", "1.2.4"])).data.policy_identifiers).toEqual(["1.2.3", "1.2.4"])
    expect((await write(['{"oid":1}'])).errors).toEqual([
      expect.stringMatching(/^"policy_identifiers" must be an array/),
    ])
  })

  test("[P-4.3-p1] [P-3-p1] a deleted role does not exist, and deleting it again succeeds", async () => {
    expect((await world.pki("DELETE", "/pki/roles/policies")).status).toBe(204)
    expect((await world.pki("DELETE", "/pki/roles/policies")).status).toBe(204)
    expect((await world.pki("GET", "/pki/roles/policies")).status).toBe(404)
  })
})
