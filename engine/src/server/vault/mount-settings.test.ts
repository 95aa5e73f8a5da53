import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"

let world: TestEngine
beforeAll(async () => {
  world = await openTestEngine()
})
afterAll(() => world[Symbol.asyncDispose]())

let count = 0
async function newMount() {
  const mount = `settings-${(count += 1)}`
  await world.pki("POST", `/sys/mounts/${mount}`, { body: { type: "pki" } })
  return async (method: string, path: string, body?: unknown) =>
    world.pki(method, `/${mount}${path}`, body === undefined ? {} : { body })
}

const noUrls = {
  issuing_certificates: [],
  crl_distribution_points: [],
  delta_crl_distribution_points: [],
  ocsp_servers: [],
  enable_templating: false,
}

describe("the settings of a mount", () => {
  test.each([
    ["/config/issuers", { default: "", default_follows_latest_issuer: false }],
    ["/config/keys", { default: "" }],
    ["/config/urls", noUrls],
    ["/config/cluster", { path: "", aia_path: "" }],
  ])("at %s have these defaults", async (path, data) => {
    const pki = await newMount()
    const { status, body } = await pki("GET", path)
    expect([status, body.data]).toEqual([200, data])
    expect((await pki("POST", path, {})).body.data).toEqual(data)
  })

  test("are returned as stored, and change only for given parameters", async () => {
    const pki = await newMount()
    const root = { common_name: "Root", key_type: "ec" }
    const one = (await pki("POST", "/root/generate/internal", { ...root, issuer_name: "one" })).body.data
    const two = (await pki("POST", "/root/generate/internal", { ...root, key_name: "two" })).body.data
    const issuers = await pki("POST", "/config/issuers", { default_follows_latest_issuer: "true" })
    expect(issuers.body.data).toEqual({ default: one.issuer_id, default_follows_latest_issuer: true })
    const changed = await pki("POST", "/config/issuers", { default: two.issuer_id })
    expect(changed.body.data).toEqual({ default: two.issuer_id, default_follows_latest_issuer: true })
    expect((await pki("POST", "/config/keys", { default: "two" })).body.data).toEqual({ default: two.key_id })
    const urls = { ocsp_servers: "http://ocsp.example.com,http://ocsp.example.org" }
    expect((await pki("POST", "/config/urls", urls)).body.data).toEqual({
      ...noUrls,
      ocsp_servers: ["http://ocsp.example.com", "http://ocsp.example.org"],
    })
    const cluster = { path: "https://ca.example.com/v1/pki" }
    expect((await pki("PUT", "/config/cluster", cluster)).body.data).toEqual({ ...cluster, aia_path: "" })
    expect((await pki("GET", "/config/cluster")).body.data).toEqual({ ...cluster, aia_path: "" })
  })

  test.each<[path: string, body: object, status: number, errors: readonly RegExp[]]>([
    ["/config/issuers", { default: "absent" }, 404, [/^unable to find PKI issuer for reference: absent$/]],
    ["/config/issuers", { default: "" }, 400, [/^"default" must be/]],
    ["/config/issuers", { default_follows_latest_issuer: "perhaps" }, 400, [/^"default_follows_latest_issuer"/]],
    ["/config/keys", { default: "absent" }, 404, [/^unable to find PKI key for reference: absent$/]],
    ["/root/replace", {}, 404, [/^unable to find PKI issuer for reference: next$/]],
    [
      "/config/urls",
      { issuing_certificates: "/ca", ocsp_servers: ["x"] },
      400,
      [/^issuing_certificates: invalid URL found in Authority Information Access/, /^ocsp_servers: invalid URL/],
    ],
    ["/config/urls", { ocsp_servers: "{{cluster_path}}/ocsp" }, 400, [/^ocsp_servers: invalid URL/]],
    ["/config/cluster", { path: "http://a.b", aia_path: "x" }, 400, [/^"path" must be/, /^"aia_path" must be/]],
  ])("at %s reject %j and do not change", async (path, body, status, errors) => {
    const pki = await newMount()
    const read = path === "/root/replace" ? "/config/issuers" : path
    const before = (await pki("GET", read)).body.data
    const refused = await pki("POST", path, body)
    expect([refused.status, refused.body]).toEqual([
      status,
      { errors: errors.map((one) => expect.stringMatching(one)) },
    ])
    expect((await pki("GET", read)).body.data).toEqual(before)
  })

  test("warn of templates without a value", async () => {
    const pki = await newMount()
    const { body } = await pki("POST", "/config/urls", {
      ocsp_servers: "{{cluster_path}}/ocsp",
      enable_templating: true,
    })
    expect(body.warnings).toContain("{{cluster_path}} has no value")
  })
})
