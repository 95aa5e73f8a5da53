import { describe, expect, test } from "vitest"
import { hourMs } from "../../engine/src/core/time.ts"
import type { OpenedEngine } from "./engines.ts"
import { notFound, refused } from "./refusals.ts"

let count = 0

export function acmeCases(engine: () => OpenedEngine): void {
  async function newMount(allowedResponseHeaders: readonly string[] = []) {
    const path = `contract/acme-${(count += 1)}`
    const { mounts, pki, acme } = engine().root
    await mounts.create({ path, config: { allowedResponseHeaders } })
    await pki(path).issuers.generateRoot({ commonName: "Root", keyType: "ec" })
    return { pki: pki(path), bindings: acme(path).eab }
  }

  describe("how ACME is served", () => {
    test("is configured, and read as it was", async () => {
      const { pki } = await newMount(["Location", "Replay-Nonce", "Link"])
      const before = await pki.settings.acme()
      expect(before).toMatchObject({ enabled: false, allowedRoles: ["*"], maxTtlMs: 0, eabPolicy: "not-required" })
      await pki.settings.changeCluster({ path: "https://chancery.test/v1/pki" })
      await pki.roles.save("web", { allowAnyName: true })
      const written = {
        enabled: true,
        allowedIssuers: ["default"],
        allowedRoles: ["web"],
        defaultDirectoryPolicy: "role:web",
        dnsResolver: "10.0.0.53:5353",
        eabPolicy: "always-required" as const,
      }
      const besides = {
        maxTtlMs: 720 * hourMs,
        allowRoleExtKeyUsage: true,
        challengePermittedIpRanges: ["10.0.0.0/8"],
        caaIdentities: ["ca.example"],
        termsOfService: "https://ca.example/terms",
        website: "https://ca.example",
      }
      expect(await pki.settings.changeAcme({ ...written, ...besides })).toEqual({ value: written, warnings: [] })
      expect(await pki.settings.acme()).toEqual({ ...written, ...besides })
    })

    test("is not changed by what cannot be", async () => {
      const { pki } = await newMount()
      const before = await pki.settings.acme()
      await expect(
        pki.settings.changeAcme({ enabled: true, allowedRoles: ["absent"], dnsResolver: "no address" }),
      ).rejects.toMatchObject(refused("invalid", ["enabled"], ["allowedRoles"], ["dnsResolver"]))
      expect(await pki.settings.acme()).toEqual(before)
    })
  })

  describe("a binding", () => {
    test("is made for one directory, listed and deleted", async () => {
      const { pki, bindings } = await newMount()
      await pki.roles.save("web", {})
      expect(await bindings.list()).toEqual([])
      const made = await bindings.create({ role: "web" }, { ttlMs: hourMs })
      expect(made).toMatchObject({ acmeDirectory: "roles/web/acme/directory" })
      expect(made.key).toHaveLength(32)
      const other = await bindings.create({})
      const { key: _key, ...listed } = made
      expect(await bindings.list()).toHaveLength(2)
      expect(await bindings.list()).toContainEqual(listed)
      await bindings.delete(other.id)
      expect(await bindings.list()).toEqual([listed])
      await expect(bindings.delete(other.id)).rejects.toMatchObject(notFound)
    })

    test("is not made for a directory that there is not", async () => {
      const { bindings } = await newMount()
      await expect(bindings.create({ role: "absent" })).rejects.toMatchObject(refused("unprocessable"))
      await expect(bindings.create({}, { ttlMs: 400 * 24 * hourMs })).rejects.toMatchObject(
        refused("invalid", ["ttlMs"]),
      )
      await expect(engine().root.acme("contract/absent").eab.list()).rejects.toMatchObject(notFound)
    })
  })
}
