import { describe, expect, test } from "vitest"
import { hourMs } from "../../engine/src/core/time.ts"
import { newTestAccount } from "../../engine/testing/acme-account.ts"
import type { OpenedEngine } from "./engines.ts"
import { notFound, refused } from "./refusals.ts"

let count = 0

export function acmeCases(engine: () => OpenedEngine): void {
  async function newMount(allowedResponseHeaders: readonly string[] = []) {
    const path = `contract/acme-${(count += 1)}`
    const { mounts, pki, acme } = engine().root
    await mounts.create({ path, config: { allowedResponseHeaders } })
    await pki(path).issuers.generateRoot({ commonName: "Root", keyType: "ec" })
    return { path, pki: pki(path), bindings: acme(path).eab, managed: acme(path) }
  }

  async function newServingMount() {
    const mount = await newMount(["Location", "Replay-Nonce", "Link"])
    await mount.pki.settings.changeCluster({ path: `https://chancery.test/v1/${mount.path}` })
    await mount.pki.settings.changeAcme({ enabled: true, maxTtlMs: 24 * hourMs })
    const newAccount = (contact: readonly string[] = []) => newTestAccount(engine().served, mount.path, { contact })
    return { ...mount, newAccount }
  }

  describe("the ACME configuration", () => {
    test("is written and read back", async () => {
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
        challengeExcludedIpRanges: ["10.1.0.0/16"],
        caaIdentities: ["ca.example"],
        termsOfService: "https://ca.example/terms",
        website: "https://ca.example",
        ordersPerAccount: 300,
        ordersPerName: 50,
        accountsPerAddress: 10,
        failedValidations: 5,
        directoryLimits: ["roles/servers/acme orders_per_account=30"],
      }
      expect(await pki.settings.changeAcme({ ...written, ...besides })).toEqual({ value: written, warnings: [] })
      expect(await pki.settings.acme()).toEqual({ ...written, ...besides })
    })

    test("is unchanged by an invalid update", async () => {
      const { pki } = await newMount()
      const before = await pki.settings.acme()
      await expect(
        pki.settings.changeAcme({ enabled: true, allowedRoles: ["absent"], dnsResolver: "no address" }),
      ).rejects.toMatchObject(refused("invalid", ["enabled"], ["allowedRoles"], ["dnsResolver"]))
      expect(await pki.settings.acme()).toEqual(before)
    })
  })

  describe("an external account binding", () => {
    test("is created for one directory, listed and deleted", async () => {
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

    test("is not created for a missing directory", async () => {
      const { bindings } = await newMount()
      await expect(bindings.create({ role: "absent" })).rejects.toMatchObject(refused("unprocessable"))
      await expect(bindings.create({}, { ttlMs: 400 * 24 * hourMs })).rejects.toMatchObject(
        refused("invalid", ["ttlMs"]),
      )
      await expect(engine().root.acme("contract/absent").eab.list()).rejects.toMatchObject(notFound)
    })
  })

  describe("accounts and orders", () => {
    test("are listed, shown, disabled, enabled and deleted", async () => {
      const { managed, newAccount } = await newServingMount()
      const { accounts, orders } = managed
      expect(await accounts.list()).toEqual([])
      expect(await orders.list()).toEqual([])
      const account = await newAccount(["mailto:ops@example.com"])
      const other = await newAccount()
      const order = await account.order("b.example.com", "a.example.com")
      const { orders: shown, ...view } = await accounts.get(account.id)
      expect(view).toEqual({
        id: account.id,
        status: "valid",
        statusAt: expect.any(Number),
        createdAt: expect.any(Number),
        acmeDirectory: "acme/directory",
        thumbprint: account.thumbprint,
        contact: ["mailto:ops@example.com"],
        termsOfServiceAgreed: true,
        bindingId: null,
      })
      const pending = {
        id: order,
        accountId: account.id,
        status: "pending",
        identifiers: ["a.example.com", "b.example.com"],
        createdAt: expect.any(Number),
        expiresAt: expect.any(Number),
        profile: null,
        replaces: null,
        serialNumber: null,
        error: null,
      }
      expect(shown).toEqual([pending])
      expect(await orders.get(order)).toEqual(pending)
      expect(await orders.list({ accountId: account.id })).toEqual([pending])
      expect(await orders.list({ accountId: other.id })).toEqual([])
      const ids = [account.id, other.id].toSorted()
      expect((await accounts.list({ after: ids[0] ?? "", limit: 5 })).map(({ id }) => id)).toEqual(ids.slice(1))
      expect(await accounts.changeStatus(account.id, "revoked")).toMatchObject({ status: "revoked" })
      expect(await orders.get(order)).toMatchObject({ status: "invalid", error: expect.any(String) })
      expect(await accounts.changeStatus(account.id, "valid")).toMatchObject({ status: "valid" })
      await orders.delete(order)
      expect(await orders.list()).toEqual([])
      await accounts.delete(account.id)
      expect((await accounts.list()).map(({ id }) => id)).toEqual([other.id])
    })

    test("are not found when missing", async () => {
      const { managed } = await newServingMount()
      const { accounts, orders } = managed
      for (const refusal of [
        () => accounts.get("acct-absent"),
        () => accounts.changeStatus("acct-absent", "revoked"),
        () => accounts.delete("acct-absent"),
        () => orders.get("order-absent"),
        () => orders.delete("order-absent"),
      ])
        await expect(refusal()).rejects.toMatchObject(notFound)
      expect(await orders.list({ accountId: "acct-absent" })).toEqual([])
      await expect(engine().root.acme("contract/absent").accounts.list()).rejects.toMatchObject(notFound)
    })
  })

  describe("renewal signals", () => {
    test("are raised, listed, shown and withdrawn", async () => {
      const { pki, managed } = await newMount()
      const { renewals } = managed
      await pki.roles.save("web", { allowAnyName: true, keyType: "ec", ttlMs: hourMs })
      const { serialNumber } = await pki.certificates.issue("web", { commonName: "a.example.com" })
      const named = await renewals.raise({ serialNumbers: [serialNumber], explanationUrl: "https://ca.example/why" })
      expect(named).toMatchObject({ issuerId: null, serialNumberCount: 1, explanationUrl: "https://ca.example/why" })
      expect(named.renewBy).toBe(named.raisedAt)
      const all = await renewals.raise({ issuerRef: "default", withinMs: hourMs })
      expect(all).toMatchObject({ issuerId: expect.any(String), serialNumberCount: 0, explanationUrl: null })
      expect(all.renewBy - all.raisedAt).toBe(hourMs)
      expect(await renewals.list()).toHaveLength(2)
      expect(await renewals.list()).toEqual(expect.arrayContaining([named, all]))
      expect(await renewals.get(named.id)).toEqual({ ...named, serialNumbers: [serialNumber] })
      await renewals.withdraw(named.id)
      expect(await renewals.list()).toEqual([all])
      await expect(renewals.get(named.id)).rejects.toMatchObject(notFound)
      await expect(renewals.withdraw(named.id)).rejects.toMatchObject(notFound)
    })

    test("are not raised for missing certificates", async () => {
      const { renewals } = (await newMount()).managed
      await expect(renewals.raise({})).rejects.toMatchObject(refused("invalid", ["serialNumbers"]))
      await expect(renewals.raise({ issuerRef: "absent" })).rejects.toMatchObject(refused("invalid", ["issuerRef"]))
      await expect(
        renewals.raise({ serialNumbers: ["x"], withinMs: 400 * 24 * hourMs, explanationUrl: "none" }),
      ).rejects.toMatchObject(refused("invalid", ["serialNumbers"], ["withinMs"], ["explanationUrl"]))
      await expect(engine().root.acme("contract/absent").renewals.list()).rejects.toMatchObject(notFound)
    })
  })
}
