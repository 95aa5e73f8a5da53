import { describe, expect, test } from "vitest"
import { openTestEngine } from "../../../testing/test-engine.ts"
import { noUrls } from "../issuers/issuer.ts"

async function mounted() {
  const testEngine = await openTestEngine()
  await testEngine.engine.mounts.create({ path: "pki" })
  return {
    ...testEngine.engine.pki("pki"),
    pki: testEngine.engine.pki("pki"),
    [Symbol.asyncDispose]: () => testEngine[Symbol.asyncDispose](),
  }
}

const ec = { keyType: "ec" } as const

test("a new mount has no default issuer, no URLs and no address", async () => {
  await using mount = await mounted()
  const { settings } = mount.pki
  expect(await settings.issuers()).toEqual({ default: null, defaultFollowsLatestIssuer: false })
  expect(await settings.keys()).toEqual({ default: null })
  expect(await settings.urls()).toEqual(noUrls)
  expect(await settings.cluster()).toEqual({ path: "", aiaPath: "" })
})

describe("the default issuer and the default key", () => {
  test("are set by id or by name, without other changes", async () => {
    await using mount = await mounted()
    const { issuers, settings } = mount.pki
    const one = await issuers.generateRoot({ ...ec, commonName: "One", issuerName: "one", keyName: "key-one" })
    const two = await issuers.generateRoot({ ...ec, commonName: "Two", issuerName: "two", keyName: "key-two" })
    expect((await settings.changeIssuers({ default: "two" })).value.default).toBe(two.issuerId)
    const after = await settings.changeIssuers({ defaultFollowsLatestIssuer: true })
    expect(after.value).toEqual({ default: two.issuerId, defaultFollowsLatestIssuer: true })
    expect((await settings.changeIssuers({ default: one.issuerId })).value.default).toBe(one.issuerId)
    expect((await settings.changeKeys({ default: "key-two" })).value.default).toBe(two.keyId)
    expect((await settings.changeKeys({})).value.default).toBe(two.keyId)
  })

  test.each(["", "default"])("are not set by %j", async (reference) => {
    await using mount = await mounted()
    const { settings } = mount.pki
    const refused = { code: "invalid", faults: [{ field: ["default"] }] }
    await expect(settings.changeIssuers({ default: reference })).rejects.toMatchObject(refused)
    await expect(settings.changeKeys({ default: reference })).rejects.toMatchObject(refused)
  })

  test("must exist", async () => {
    await using mount = await mounted()
    const { settings } = mount.pki
    await expect(settings.changeIssuers({ default: "absent" })).rejects.toMatchObject({
      code: "not-found",
      message: "unable to find PKI issuer for reference: absent",
    })
    await expect(settings.replaceRoot()).rejects.toMatchObject({
      message: "unable to find PKI issuer for reference: next",
    })
    await expect(settings.changeKeys({ default: "absent" })).rejects.toMatchObject({
      code: "not-found",
      message: "unable to find PKI key for reference: absent",
    })
  })
})

describe("URLs", () => {
  test("change one list at a time", async () => {
    await using mount = await mounted()
    const { settings } = mount.pki
    await settings.changeUrls({ issuingCertificates: ["http://ca.example.com/ca"] })
    await settings.changeUrls({ ocspServers: ["http://ca.example.com/ocsp"] })
    const { value } = await settings.changeUrls({ deltaCrlDistributionPoints: ["ldap://ca.example.com/delta"] })
    expect(value).toEqual({
      issuingCertificates: ["http://ca.example.com/ca"],
      crlDistributionPoints: [],
      deltaCrlDistributionPoints: ["ldap://ca.example.com/delta"],
      ocspServers: ["http://ca.example.com/ocsp"],
      enableTemplating: false,
    })
    expect(await settings.urls()).toEqual(value)
  })

  test.each([
    ["a relative URL", { ocspServers: ["/ocsp"] }, "ocspServers"],
    ["a URL outside ASCII", { crlDistributionPoints: ["http://exämple.com/crl"] }, "crlDistributionPoints"],
    ["a template without templating", { issuingCertificates: ["{{cluster_path}}/ca"] }, "issuingCertificates"],
    ["an unknown template", { issuingCertificates: ["{{mount}}/ca"], enableTemplating: true }, "issuingCertificates"],
    ["too many URLs", { ocspServers: Array.from({ length: 33 }, () => "http://a.b") }, "ocspServers"],
  ])("are rejected with %s and stay unchanged", async (_why, patch, field) => {
    await using mount = await mounted()
    const { settings } = mount.pki
    await expect(settings.changeUrls(patch)).rejects.toMatchObject({ code: "invalid", faults: [{ field: [field] }] })
    expect(await settings.urls()).toEqual(noUrls)
  })

  test("must not be templates when templating is turned off", async () => {
    await using mount = await mounted()
    const { settings } = mount.pki
    await settings.changeUrls({ ocspServers: ["{{cluster_path}}/ocsp"], enableTemplating: true })
    await expect(settings.changeUrls({ enableTemplating: false })).rejects.toMatchObject({ code: "invalid" })
  })

  test("with a template without a value cause a warning when either setting changes", async () => {
    await using mount = await mounted()
    const { settings } = mount.pki
    const urls = { ocspServers: ["{{ cluster_aia_path }}/ocsp"], enableTemplating: true }
    const warning = [expect.stringContaining("{{ cluster_aia_path }} has no value")]
    expect((await settings.changeUrls(urls)).warnings).toEqual(warning)
    expect((await settings.changeCluster({ aiaPath: "http://aia.example.com" })).warnings).toEqual([])
    expect((await settings.changeCluster({ aiaPath: "" })).warnings).toEqual(warning)
  })
})

describe("the addresses of a cluster", () => {
  test("change one at a time, without their trailing slash", async () => {
    await using mount = await mounted()
    const { settings } = mount.pki
    await settings.changeCluster({ path: "https://ca.example.com/v1/pki/" })
    const { value } = await settings.changeCluster({ aiaPath: "http://ca.example.com/v1/pki" })
    expect(value).toEqual({ path: "https://ca.example.com/v1/pki", aiaPath: "http://ca.example.com/v1/pki" })
    expect(await settings.cluster()).toEqual(value)
  })

  test.each([
    [{ path: "http://ca.example.com" }, "path"],
    [{ path: "ca.example.com" }, "path"],
    [{ aiaPath: "ldap://ca.example.com" }, "aiaPath"],
    [{ aiaPath: "/pki" }, "aiaPath"],
  ])("are rejected as %j", async (patch, field) => {
    await using mount = await mounted()
    const refused = mount.pki.settings.changeCluster(patch)
    await expect(refused).rejects.toMatchObject({ code: "invalid", faults: [{ field: [field] }] })
  })
})
