import { describe, expect, test } from "vitest"
import { hourMs } from "../../engine/src/core/time.ts"
import type { CertificateLogins } from "../../engine/src/access/certificates/certificate-login-api.ts"
import { initialCertificateRole } from "../../engine/src/access/certificates/certificate-role.ts"
import { authorityExtensions, testCertificate, testRevocationList } from "../../engine/testing/client-certificates.ts"
import type { OpenedEngine } from "./engines.ts"
import { notFound, refused } from "./refusals.ts"

let count = 0
const authority = testCertificate({ subject: "/CN=contract", extensions: authorityExtensions })
const { certificate } = authority

export function certificateLoginCases(engine: () => OpenedEngine): void {
  async function newMethod(): Promise<CertificateLogins> {
    const { root } = engine()
    const path = `contract/cert-${(count += 1)}`
    await root.authMethods.enable({ path, type: "cert" })
    return root.certificateLogins(`${path}/`)
  }

  describe("the configuration of a certificate auth method", () => {
    test("has defaults, and is changed in part", async () => {
      const logins = await newMethod()
      const initial = {
        disableBinding: false,
        enableIdentityAliasMetadata: false,
        enableMetadataOnFailures: false,
        ocspCacheSize: 100,
        roleCacheSize: 200,
      }
      expect(await logins.getConfig()).toEqual(initial)
      await logins.configure({ disableBinding: true, roleCacheSize: -1 })
      await logins.configure({ ocspCacheSize: 50 })
      expect(await logins.getConfig()).toEqual({
        ...initial,
        disableBinding: true,
        roleCacheSize: -1,
        ocspCacheSize: 50,
      })
      await expect(logins.configure({ ocspCacheSize: 0 })).rejects.toMatchObject(refused("invalid", ["ocspCacheSize"]))
    })

    test("is not found at a path without a method or with a method of another type", async () => {
      const { root } = engine()
      await root.authMethods.enable({ path: "contract/no-cert", type: "approle" })
      for (const path of ["contract/none", "contract/no-cert"])
        await expect(root.certificateLogins(path).getConfig()).rejects.toMatchObject({ code: "not-found" })
    })
  })

  describe("a role of a certificate auth method", () => {
    test("is written, changed in part, found in any case, listed and deleted", async () => {
      const logins = await newMethod()
      await logins.saveRole("Printers", { certificate, policies: ["issue"], ttlMs: hourMs })
      const role = {
        ...initialCertificateRole,
        certificate,
        displayName: "printers",
        policies: ["issue"],
        ttlMs: hourMs,
      }
      expect(await logins.getRole("printers")).toEqual(role)
      const change = { allowedCommonNames: ["printer-*"], ocspEnabled: true, ocspThisUpdateMaxAgeMs: hourMs }
      await logins.saveRole("printers", change)
      expect(await logins.getRole("PRINTERS")).toEqual({ ...role, ...change })
      await logins.saveRole("api", { certificate })
      expect(await logins.listRoles()).toEqual(["api", "printers"])
      expect(await logins.listRoles({ after: "api", limit: 5 })).toEqual(["printers"])
      await logins.deleteRole("printers")
      await logins.deleteRole("printers")
      await expect(logins.getRole("printers")).rejects.toMatchObject(notFound)
    })

    test("is rejected with each fault by name, and not stored", async () => {
      const logins = await newMethod()
      const wrong = { certificate: "x", requiredExtensions: ["x"], ocspMaxRetries: 11, policies: ["root"] }
      await expect(logins.saveRole("web", wrong)).rejects.toMatchObject(
        refused("invalid", ["certificate"], ["requiredExtensions"], ["ocspMaxRetries"], ["policies"]),
      )
      await expect(logins.saveRole("-", { certificate })).rejects.toMatchObject(refused("invalid", ["name"]))
      expect(await logins.listRoles()).toEqual([])
    })
  })

  test("a CRL of a certificate auth method is stored, read, listed and deleted", async () => {
    const logins = await newMethod()
    await logins.saveRevocationList("Root", { crl: testRevocationList(authority, [7, 300]) })
    expect(await logins.getRevocationList("root")).toEqual({
      serials: ["7", "300"],
      url: "",
      validUntil: Date.UTC(2049, 0, 1),
    })
    expect(await logins.listRevocationLists()).toEqual(["root"])
    await expect(logins.saveRevocationList("x", {})).rejects.toMatchObject(refused("bad-request"))
    await expect(logins.saveRevocationList("x", { crl: "x" })).rejects.toMatchObject(refused("invalid", ["crl"]))
    await logins.deleteRevocationList("root")
    await logins.deleteRevocationList("root")
    await expect(logins.getRevocationList("root")).rejects.toMatchObject(notFound)
  })

  test("a client logs in with a certificate of the role's CA", async () => {
    const { root, device } = engine()
    const path = `contract/cert-${(count += 1)}`
    await root.authMethods.enable({ path, type: "cert" })
    await root.certificateLogins(path).saveRole("web", { certificate, policies: ["none"], ttlMs: hourMs })
    const client = testCertificate({ issuer: authority, subject: "/CN=web-1" })
    const engineOfClient = await device(client)
    const from = { remoteAddress: undefined, clientCertificate: { chain: [client.der] } }
    const { token, secret, warnings } = await engineOfClient.certificateLogins(path).login({ name: "" }, from)
    expect(warnings).toEqual(['policy "none" does not exist and is omitted'])
    expect(token).toMatchObject({ orphan: true, ttlMs: hourMs, meta: { cert_name: "web", common_name: "web-1" } })
    expect(await root.serviceTokens.lookup({ secret })).toMatchObject({ accessor: token.accessor })
  })

  test("a client without a certificate is rejected", async () => {
    const logins = await newMethod()
    await logins.saveRole("web", { certificate })
    await expect(logins.login({ name: "web" })).rejects.toMatchObject(refused("bad-request"))
  })
}
