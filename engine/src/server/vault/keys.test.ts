import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openssl } from "../../../testing/openssl.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"

let world: TestEngine
beforeAll(async () => {
  world = await openTestEngine()
})
afterAll(() => world[Symbol.asyncDispose]())

let count = 0
async function newMount() {
  const mount = `keys-${(count += 1)}`
  await world.pki("POST", `/sys/mounts/${mount}`, { body: { type: "pki" } })
  return async (method: string, path: string, body?: unknown) =>
    world.pki(method, `/${mount}${path}`, body === undefined ? {} : { body })
}

describe("keys", () => {
  test("are generated, and returned only for exported", async () => {
    const pki = await newMount()
    const kept = await pki("POST", "/keys/generate/internal", { key_name: "one", key_type: "ec", key_bits: "384" })
    expect([kept.status, kept.body.data]).toEqual([
      200,
      {
        key_id: expect.stringMatching(/^key-/),
        key_name: "one",
        key_type: "ec",
        subject_key_id: expect.stringMatching(/^[0-9a-f]{2}(:[0-9a-f]{2}){19}$/),
      },
    ])
    const given = await pki("POST", "/keys/generate/exported", { key_type: "ed25519" })
    expect(given.body.data).toMatchObject({ key_name: "", key_type: "ed25519" })
    expect(openssl(["pkey", "-noout", "-text", "-in", "k"], { k: given.body.data.private_key })).toMatch(/ED25519/)
  })

  test("are listed and read without the private key", async () => {
    const pki = await newMount()
    expect((await pki("LIST", "/keys")).body).toEqual({ errors: [] })
    const one = (await pki("POST", "/keys/generate/internal", { key_name: "one", key_type: "ec" })).body.data
    const two = (await pki("POST", "/keys/generate/exported", { key_type: "ec" })).body.data
    expect((await pki("LIST", "/keys")).body.data).toEqual({
      keys: [one.key_id, two.key_id],
      key_info: {
        [one.key_id]: { key_name: "one", is_default: true },
        [two.key_id]: { key_name: "", is_default: false },
      },
    })
    for (const reference of [one.key_id, "one", "default"])
      expect((await pki("GET", `/key/${reference}`)).body.data).toEqual(one)
    const { private_key: _, ...shown } = two
    expect((await pki("GET", `/key/${two.key_id}`)).body.data).toEqual(shown)
  })

  test("are imported once", async () => {
    const pki = await newMount()
    const pem_bundle = openssl(["genpkey", "-algorithm", "ed25519"])
    const { status, body } = await pki("POST", "/keys/import", { pem_bundle, key_name: "mine" })
    expect([status, body.data]).toEqual([200, expect.objectContaining({ key_name: "mine", key_type: "ed25519" })])
    const again = await pki("POST", "/keys/import", { pem_bundle })
    expect([again.body.data, again.body.warnings]).toEqual([body.data, expect.stringContaining("already")])
  })

  test("[P-3-p1] are renamed, and deleted when no issuer uses them", async () => {
    const pki = await newMount()
    const root = { common_name: "Root", key_type: "ec", key_name: "one" }
    const { issuer_id } = (await pki("POST", "/root/generate/internal", root)).body.data
    const renamed = await pki("POST", "/key/one", { key_name: "two" })
    expect([renamed.status, renamed.body.data.key_name]).toEqual([200, "two"])
    const refused = await pki("DELETE", "/key/two")
    expect([refused.status, refused.body]).toEqual([
      400,
      { errors: [`Failed to Delete Key.  Key in Use by Issuer: ${issuer_id}`] },
    ])
    await pki("DELETE", "/issuer/default")
    const deleted = await pki("DELETE", "/key/two")
    expect([deleted.status, deleted.body.warnings]).toEqual([200, expect.stringContaining("was the default key")])
    expect((await pki("DELETE", "/key/two")).status).toBe(204)
    expect((await pki("GET", "/config/keys")).body.data).toEqual({ default: "" })
  })

  test.each<[why: string, method: string, path: string, body: object, status: number, error: RegExp]>([
    ["an unknown key", "GET", "/key/absent", {}, 404, /^unable to find PKI key for reference: absent$/],
    ["renaming an unknown key", "POST", "/key/absent", { key_name: "x" }, 404, /^unable to find PKI key/],
    ["renaming without a name", "POST", "/key/default", {}, 400, /^"key_name" is required$/],
    ["a reserved name", "POST", "/key/default", { key_name: "default" }, 400, /^"key_name" must not be/],
    [
      "a taken name",
      "POST",
      "/keys/generate/internal",
      { key_name: "one" },
      400,
      /^key_name: key name already in use$/,
    ],
    ["a key in an HSM", "POST", "/keys/generate/kms", {}, 400, /^type: keys outside of this server/],
    ["a source that makes none", "POST", "/keys/generate/existing", {}, 400, /^"type" must be/],
    ["an unknown source", "POST", "/keys/generate/magic", {}, 400, /^"type" must be/],
    ["an unknown type", "POST", "/keys/generate/internal", { key_type: "dsa" }, 400, /unknown key type dsa/],
    [
      "an unknown size",
      "POST",
      "/keys/generate/internal",
      { key_type: "ec", key_bits: 512 },
      400,
      /unsupported bit length/,
    ],
    ["nothing to import", "POST", "/keys/import", {}, 400, /parameter was empty/],
  ])("%s is rejected", async (_why, method, path, body, status, error) => {
    const pki = await newMount()
    await pki("POST", "/keys/generate/internal", { key_type: "ec", key_name: "one" })
    const refused = await pki(method, path, method === "GET" ? undefined : body)
    expect([refused.status, refused.body]).toEqual([status, { errors: [expect.stringMatching(error)] }])
    expect((await pki("LIST", "/keys")).body.data.keys).toHaveLength(1)
  })
})
