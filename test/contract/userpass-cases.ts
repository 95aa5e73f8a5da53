import { describe, expect, test } from "vitest"
import { hourMs, minuteMs } from "../../engine/src/core/time.ts"
import type { UserpassMethod } from "../../engine/src/access/userpass/userpass-api.ts"
import { initialTokenTerms } from "../../engine/src/access/logins/token-terms.ts"
import { cheapPasswordHash } from "../../engine/testing/cheap-password.ts"
import type { OpenedEngine } from "./engines.ts"
import { refused } from "./refusals.ts"

let count = 0
const right = { name: "web", password: "password" }
const wrong = { name: "web", password: "wrong" }

export function userpassCases(engine: () => OpenedEngine): void {
  async function newMethod(): Promise<UserpassMethod & { readonly path: string }> {
    const { root } = engine()
    const path = `contract/userpass-${(count += 1)}`
    await root.authMethods.enable({ path, type: "userpass" })
    return { path, ...root.userpass(`${path}/`) }
  }

  describe("a user of a userpass method", () => {
    test("is written, changed in part, found in any case, listed and deleted", async () => {
      const { users } = await newMethod()
      await users.save("Web", { passwordHash: cheapPasswordHash, policies: ["issue"], ttlMs: hourMs })
      const user = { ...initialTokenTerms, policies: ["issue"], ttlMs: hourMs }
      expect(await users.get("WEB")).toEqual(user)
      await users.save("web", { ttlMs: null, boundCidrs: ["10.0.0.0/8"] })
      expect(await users.get("web")).toEqual({ ...user, ttlMs: null, boundCidrs: ["10.0.0.0/8"] })
      await users.changePolicies("web", ["other"])
      expect(await users.get("web")).toMatchObject({ policies: ["other"] })
      await users.save("api", { passwordHash: cheapPasswordHash })
      expect(await users.list()).toEqual(["api", "web"])
      expect(await users.list({ after: "api", limit: 5 })).toEqual(["web"])
      await users.delete("web")
      await users.delete("web")
      await expect(users.get("web")).rejects.toMatchObject(refused("not-found"))
      await expect(users.changePolicies("web", [])).rejects.toMatchObject(refused("not-found"))
      await expect(users.changePassword("web", { password: "x" })).rejects.toMatchObject(refused("not-found"))
      expect(await users.list()).toEqual(["api"])
    })

    test("is rejected with each fault by name, and not stored", async () => {
      const { users } = await newMethod()
      await expect(users.save("-", { policies: ["root"], numUses: -1 })).rejects.toMatchObject(
        refused("invalid", ["name"], ["password"], ["policies"], ["numUses"]),
      )
      await expect(users.save("web", { passwordHash: "secret" })).rejects.toMatchObject(
        refused("invalid", ["passwordHash"]),
      )
      expect(await users.list()).toEqual([])
    })

    test("logs in with the password, which can be changed", async () => {
      const { users, logins } = await newMethod()
      const { root } = engine()
      await users.save("web", { password: "first", ttlMs: hourMs })
      const { secret, token, warnings } = await logins.logIn({ name: "WEB", password: "first" })
      expect(warnings).toEqual([])
      expect(token).toMatchObject({ policies: ["default"], ttlMs: hourMs, orphan: true, meta: { username: "web" } })
      expect(await root.serviceTokens.lookup({ secret })).toMatchObject({ accessor: token.accessor })
      await users.changePassword("web", { passwordHash: cheapPasswordHash })
      await expect(logins.logIn({ name: "web", password: "first" })).rejects.toMatchObject(refused("unprocessable"))
      expect((await logins.logIn(right)).token.meta).toEqual({ username: "web" })
      await expect(users.changePassword("web", {})).rejects.toMatchObject(refused("invalid", ["password"]))
      await expect(logins.logIn({ name: "web", password: "" })).rejects.toMatchObject(refused("bad-request"))
      await expect(logins.logIn({ name: "none", password: "x" })).rejects.toMatchObject(refused("unprocessable"))
    })

    test("is locked after failures until it is unlocked", async () => {
      const { path, users, logins } = await newMethod()
      const { root } = engine()
      await root.authMethods.tune(path, { config: { userLockout: { threshold: 4 } } })
      const tuned = await root.authMethods.tune(path, { config: { userLockout: { durationMs: minuteMs } } })
      expect(tuned.config.userLockout).toEqual({ threshold: 4, durationMs: minuteMs })
      await users.save("web", { passwordHash: cheapPasswordHash })
      // A remote engine fails twice each time, because the engine behind its server is compared with it.
      await expect(logins.logIn(wrong)).rejects.toMatchObject(refused("unprocessable"))
      for (let failures = 1; failures < 4; failures += 1)
        await expect(logins.logIn(wrong)).rejects.toMatchObject({ name: "EngineError" })
      await expect(logins.logIn(right)).rejects.toMatchObject(refused("forbidden"))
      const { accessor: mountAccessor } = await root.authMethods.get(path)
      expect(await root.lockedUsers.list({ mountAccessor })).toEqual([{ mountAccessor, names: ["web"] }])
      expect(await root.lockedUsers.list()).toContainEqual({ mountAccessor, names: ["web"] })
      await root.lockedUsers.unlock(mountAccessor, "Web")
      expect(await root.lockedUsers.list({ mountAccessor })).toEqual([])
      await logins.logIn(right)
      await expect(root.lockedUsers.unlock("auth_none", "web")).rejects.toMatchObject(refused("not-found"))
      await expect(root.lockedUsers.list({ mountAccessor: "auth_none" })).rejects.toMatchObject(refused("not-found"))
    })

    test("is not found at a path without a method or with a method of another type", async () => {
      const { root } = engine()
      await root.authMethods.enable({ path: "contract/no-userpass", type: "approle" })
      for (const path of ["contract/none", "contract/no-userpass"]) {
        await expect(root.userpass(path).users.list()).rejects.toMatchObject({ code: "not-found" })
        await expect(root.userpass(path).users.save("web", { password: "x" })).rejects.toMatchObject({
          code: "not-found",
        })
      }
    })

    test("has no lockout in a method of another type", async () => {
      const { root } = engine()
      const enabled = root.authMethods.enable({
        path: "contract/no-lockout",
        type: "approle",
        config: { userLockout: { threshold: 2 } },
      })
      await expect(enabled).rejects.toMatchObject(refused("invalid", ["userLockout"]))
    })
  })
}
