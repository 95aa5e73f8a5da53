import { describe, expect, test } from "vitest"
import { hourMs, minuteMs } from "../../engine/src/core/time.ts"
import { appRoleParts } from "../../engine/src/access/approle/app-role.ts"
import { initialTokenTerms } from "../../engine/src/access/logins/token-terms.ts"
import type { OpenedEngine } from "./engines.ts"
import { notFound, refused } from "./refusals.ts"

let count = 0

export function appRoleCases(engine: () => OpenedEngine): void {
  async function newMethod() {
    const path = `contract/programs-${(count += 1)}`
    const { authMethods, appRoles } = engine().root
    await authMethods.enable({ path, type: "approle", config: { maxLeaseTtlMs: 2 * hourMs } })
    return { path, ...appRoles(path) }
  }

  describe("AppRole roles", () => {
    test("are written, changed, read, listed and deleted", async () => {
      const { roles } = await newMethod()
      expect(await roles.list()).toEqual([])
      const input = {
        secretIdBoundCidrs: ["10.0.0.0/8", "127.0.0.1"],
        secretIdNumUses: 5,
        secretIdTtlMs: hourMs,
        roleId: "chosen",
        terms: { ttlMs: minuteMs, maxTtlMs: hourMs, policies: ["default"], boundCidrs: ["127.0.0.0/8"], numUses: 9 },
      }
      expect(await roles.save("Web", input)).toEqual([])
      const { roleId, terms, ...own } = input
      const saved = {
        name: "web",
        bindSecretId: true,
        localSecretIds: false,
        ...own,
        terms: { ...initialTokenTerms, ...terms },
      }
      expect(await roles.get("WEB")).toEqual(saved)
      expect(await roles.getRoleId("web")).toBe(roleId)
      await roles.save("web", { secretIdNumUses: 0, terms: { maxTtlMs: null } })
      const changed = { ...saved, secretIdNumUses: 0, terms: { ...saved.terms, maxTtlMs: null } }
      expect(await roles.get("web")).toEqual(changed)
      await roles.changeRoleId("web", "other")
      expect(await roles.getRoleId("web")).toBe("other")
      await roles.save("api", {})
      expect(await roles.list()).toEqual(["api", "web"])
      expect(await roles.list({ after: "api", limit: 5 })).toEqual(["web"])
      await roles.delete("web")
      await roles.delete("web")
      expect(await roles.list()).toEqual(["api"])
    })

    test("have members that are read and written singly", async () => {
      const { roles } = await newMethod()
      await roles.save("web", { secretIdBoundCidrs: ["10.0.0.0/8"] })
      const before = await roles.get("web")
      for (const part of appRoleParts) {
        const initial = await roles.getPart("web", part)
        await roles.changePart("web", part, initial)
        expect(await roles.get("web")).toEqual(before)
      }
      await roles.changePart("web", "period", { terms: { periodMs: hourMs } })
      await roles.changePart("web", "bind-secret-id", { bindSecretId: false })
      expect(await roles.getPart("web", "period")).toEqual({ terms: { periodMs: hourMs } })
      expect(await roles.getPart("web", "bind-secret-id")).toEqual({ bindSecretId: false })
      await roles.resetPart("web", "period")
      await roles.resetPart("web", "bind-secret-id")
      expect(await roles.get("web")).toEqual(before)
    })

    test("warn of settings that logins ignore", async () => {
      const { roles } = await newMethod()
      const warnings = await roles.save("web", { terms: { maxTtlMs: 3 * hourMs, policies: ["contract-none"] } })
      expect(warnings).toEqual([expect.stringMatching(/token_max_ttl.*7200/), expect.stringContaining("contract-none")])
    })

    test("are rejected, and nothing changes", async () => {
      const { roles } = await newMethod()
      await expect(roles.save("a b", {})).rejects.toMatchObject(refused("invalid", ["name"]))
      await expect(
        roles.save("web", {
          secretIdNumUses: -1,
          secretIdBoundCidrs: ["none"],
          terms: { boundCidrs: ["none"], ttlMs: 2 * hourMs, maxTtlMs: hourMs },
        }),
      ).rejects.toMatchObject(
        refused("invalid", ["secretIdBoundCidrs"], ["secretIdNumUses"], ["ttlMs"], ["boundCidrs"]),
      )
      await expect(roles.save("web", { bindSecretId: false })).rejects.toMatchObject(refused("unprocessable"))
      expect(await roles.list()).toEqual([])
      await roles.save("web", { roleId: "taken" })
      await expect(roles.save("api", { roleId: "taken" })).rejects.toMatchObject(refused("invalid", ["roleId"]))
      await expect(roles.changeRoleId("web", "")).rejects.toMatchObject(refused("invalid", ["roleId"]))
      await expect(roles.changePart("web", "token-ttl", {})).rejects.toMatchObject(refused("invalid", ["ttlMs"]))
      await expect(roles.changePart("web", "secret-id-num-uses", { secretIdNumUses: -1 })).rejects.toMatchObject(
        refused("invalid", ["secretIdNumUses"]),
      )
      await expect(roles.save("web", { localSecretIds: true })).rejects.toMatchObject(refused("unprocessable"))
      for (const missing of [
        () => roles.get("none"),
        () => roles.getRoleId("none"),
        () => roles.changeRoleId("none", "x"),
        () => roles.getPart("none", "period"),
        () => roles.resetPart("none", "period"),
      ])
        await expect(missing()).rejects.toMatchObject(notFound)
      expect(await roles.list()).toEqual(["web"])
    })

    test("exist only below a method of their type", async () => {
      const { appRoles } = engine().root
      const { roles, logins } = appRoles("contract/no-method")
      await expect(roles.list()).rejects.toMatchObject(notFound)
      await expect(logins.logIn({ roleId: "any" })).rejects.toMatchObject(notFound)
    })
  })

  describe("secret ids", () => {
    test("are created, read, listed and destroyed", async () => {
      const { roles, secretIds } = await newMethod()
      await roles.save("web", { secretIdNumUses: 5, secretIdTtlMs: hourMs, terms: { boundCidrs: ["127.0.0.0/8"] } })
      const made = await secretIds.create("web", {
        metadata: { job: "7", note: "a=b, c" },
        cidrList: ["127.0.0.1"],
        tokenBoundCidrs: ["127.0.0.1/32"],
        numUses: 2,
        ttlMs: minuteMs,
      })
      const { secretId, accessor } = made
      expect(made).toEqual({ secretId, accessor, ttlMs: minuteMs, usesLeft: 2, warnings: [] })
      const view = await secretIds.get("web", { accessor })
      expect(view).toEqual({
        accessor,
        usesLeft: 2,
        ttlMs: minuteMs,
        createdAt: expect.any(Number),
        updatedAt: view.createdAt,
        expiresAt: view.createdAt + minuteMs,
        metadata: { job: "7", note: "a=b, c" },
        cidrList: ["127.0.0.1"],
        tokenBoundCidrs: ["127.0.0.1/32"],
      })
      expect(await secretIds.get("WEB", { secretId })).toEqual(view)
      await roles.save("web", { secretIdNumUses: 0, secretIdTtlMs: 0 })
      const chosen = await secretIds.create("web", { secretId: "chosen" })
      expect(chosen).toMatchObject({ secretId: "chosen", ttlMs: null, usesLeft: null })
      expect(await secretIds.get("web", { secretId: "chosen" })).toMatchObject({ ttlMs: null, expiresAt: null })
      const long = await secretIds.create("web", { ttlMs: 3 * hourMs })
      expect(long).toMatchObject({ ttlMs: 2 * hourMs, warnings: [expect.stringContaining("10800s")] })
      const accessors = [accessor, chosen.accessor, long.accessor].toSorted()
      expect(await secretIds.list("web")).toEqual(accessors)
      expect(await secretIds.list("web", { after: accessors[0] ?? "", limit: 1 })).toEqual(accessors.slice(1, 2))
      await secretIds.destroy("web", { secretId })
      await secretIds.destroy("web", { secretId })
      await secretIds.destroy("web", { accessor: chosen.accessor })
      expect(await secretIds.list("web")).toEqual([long.accessor])
      expect(await secretIds.tidy()).toEqual([expect.stringContaining("started")])
      expect(await secretIds.list("web")).toEqual([long.accessor])
    })

    test("are rejected, and none is created", async () => {
      const { roles, secretIds } = await newMethod()
      await roles.save("web", { secretIdNumUses: 1, secretIdTtlMs: hourMs, secretIdBoundCidrs: ["10.0.0.0/8"] })
      await expect(
        secretIds.create("web", { cidrList: ["0.0.0.0/0"], tokenBoundCidrs: ["x"], numUses: 2, ttlMs: 0 }),
      ).rejects.toMatchObject(refused("invalid", ["cidrList"], ["tokenBoundCidrs"], ["numUses"], ["ttlMs"]))
      await expect(secretIds.create("web", { secretId: "" })).rejects.toMatchObject(refused("invalid", ["secretId"]))
      expect(await secretIds.list("web")).toEqual([])
      await secretIds.create("web", { secretId: "chosen" })
      await expect(secretIds.create("web", { secretId: "chosen" })).rejects.toMatchObject(
        refused("invalid", ["secretId"]),
      )
      await roles.save("open", { bindSecretId: false, secretIdBoundCidrs: ["10.0.0.0/8"] })
      await expect(secretIds.create("open", {})).rejects.toMatchObject(refused("unprocessable"))
      for (const missing of [
        () => secretIds.create("none", {}),
        () => secretIds.list("none"),
        () => secretIds.get("none", { secretId: "any" }),
        () => secretIds.get("web", { secretId: "any" }),
        () => secretIds.get("web", { accessor: "any" }),
        () => secretIds.destroy("none", { secretId: "any" }),
        () => secretIds.destroy("web", { accessor: "any" }),
      ])
        await expect(missing()).rejects.toMatchObject(notFound)
    })
  })

  describe("an AppRole login", () => {
    test("returns a token once for each use of a secret id", async () => {
      const { path, roles, secretIds, logins } = await newMethod()
      await roles.save("web", { terms: { ttlMs: minuteMs, policies: ["default"], noDefaultPolicy: true } })
      const roleId = await roles.getRoleId("web")
      const { secretId } = await secretIds.create("web", { metadata: { job: "7" }, numUses: 1 })
      const { secret, token, warnings } = await logins.logIn({ roleId, secretId })
      expect(warnings).toEqual([])
      expect(token).toMatchObject({
        displayName: path.replaceAll("/", "-"),
        policies: ["default"],
        meta: { job: "7", role_name: "web" },
        orphan: true,
        path: `auth/${path}/login`,
        ttlMs: minuteMs,
        renewable: true,
      })
      const self = await engine().as(secret)
      expect((await self.serviceTokens.lookup("self")).accessor).toBe(token.accessor)
      await self.serviceTokens.renew("self")
      await expect(logins.logIn({ roleId, secretId })).rejects.toMatchObject({
        ...refused("unprocessable"),
        message: "invalid role or secret ID",
      })
    })

    test("is rejected with the same words, whatever is wrong", async () => {
      const { roles, secretIds, logins } = await newMethod()
      await roles.save("web", { roleId: "web" })
      const { secretId } = await secretIds.create("web", { cidrList: ["192.0.2.0/24"] })
      for (const credentials of [
        { roleId: "none", secretId },
        { roleId: "web", secretId: "none" },
        { roleId: "web" },
        { roleId: "web", secretId },
      ])
        await expect(logins.logIn(credentials)).rejects.toMatchObject({
          ...refused("unprocessable"),
          message: "invalid role or secret ID",
        })
      await expect(logins.logIn({ roleId: "" })).rejects.toMatchObject(refused("invalid", ["roleId"]))
    })
  })
}
