import { describe, expect, test } from "vitest"
import { hourMs, minuteMs } from "../../engine/src/core/time.ts"
import type { TokenRole } from "../../engine/src/access/service-tokens/token-role.ts"
import { initialAuthMethodConfig } from "../../engine/src/access/logins/auth-method.ts"
import type { OpenedEngine } from "./engines.ts"
import { notFound, refused } from "./refusals.ts"

let count = 0
const newPath = (): string => `contract/method-${(count += 1)}`

export function loginCases(engine: () => OpenedEngine): void {
  describe("a token role", () => {
    test("is created, listed, changed in part and deleted", async () => {
      const { tokenRoles } = engine().root
      const name = `contract-role-${(count += 1)}`
      const input: Partial<TokenRole> = {
        allowedPolicies: ["web"],
        allowedPoliciesGlob: ["team-*"],
        disallowedPolicies: ["admin"],
        disallowedPoliciesGlob: ["*-admin"],
        orphan: true,
        renewable: false,
        pathSuffix: "v1",
        explicitMaxTtlMs: hourMs,
        periodMs: minuteMs,
        boundCidrs: ["10.0.0.0/8"],
        noDefaultPolicy: true,
        numUses: 7,
        tokenType: "service",
      }
      const made = await tokenRoles.save(name, input)
      expect(made).toEqual(input)
      expect(await tokenRoles.get(name)).toEqual(made)
      const changed = await tokenRoles.save(name, { periodMs: null, allowedPolicies: [], renewable: true })
      expect(changed).toEqual({ ...made, periodMs: null, allowedPolicies: [], renewable: true })
      expect(await tokenRoles.list()).toContain(name)
      expect(await tokenRoles.list({ after: name, limit: 1 })).not.toContain(name)
      await tokenRoles.delete(name)
      await tokenRoles.delete(name)
      await expect(tokenRoles.get(name)).rejects.toMatchObject(notFound)
      expect(await tokenRoles.list()).not.toContain(name)
    })

    test("creates tokens with its settings, and is not found when missing", async () => {
      const { tokenRoles, serviceTokens, policies } = engine().root
      const name = `contract-role-${(count += 1)}`
      await policies.put("contract-role", "# nothing")
      await tokenRoles.save(name, {
        allowedPolicies: ["contract-role"],
        boundCidrs: ["192.0.2.0/24"],
        pathSuffix: "v1",
      })
      const { token } = await serviceTokens.createByRole(name, {})
      expect(token).toMatchObject({
        policies: ["contract-role", "default"],
        boundCidrs: ["192.0.2.0/24"],
        path: `auth/token/create/${name}/v1`,
        role: name,
      })
      expect(await serviceTokens.lookup({ accessor: token.accessor })).toMatchObject({ role: name })
      await expect(serviceTokens.createByRole(name, { policies: ["root"] })).rejects.toMatchObject(
        refused("invalid", ["policies"]),
      )
      await expect(serviceTokens.createByRole("contract-absent", {})).rejects.toMatchObject(notFound)
      await serviceTokens.revoke({ accessor: token.accessor })
      await tokenRoles.delete(name)
    })

    test("is rejected with every fault named, and nothing is created", async () => {
      const { tokenRoles } = engine().root
      const wrong = { pathSuffix: "a/b", boundCidrs: ["host"], numUses: -1 }
      await expect(
        tokenRoles.save("-contract", { ...wrong, allowedPolicies: ["x".repeat(129)] }),
      ).rejects.toMatchObject(
        refused("invalid", ["roleName"], ["allowedPolicies"], ["pathSuffix"], ["boundCidrs"], ["numUses"]),
      )
      await expect(tokenRoles.get("-contract")).rejects.toMatchObject(notFound)
    })
  })
  describe("an auth method", () => {
    test("is enabled, found, listed beside the built-in ones, tuned and disabled", async () => {
      const { authMethods } = engine().root
      const path = newPath()
      const made = await authMethods.enable({
        path: `${path}/`,
        type: "approle",
        description: "Machines",
        config: { defaultLeaseTtlMs: minuteMs, maxLeaseTtlMs: hourMs, tokenType: "service" },
        traits: { sealWrap: true },
        options: { version: "2", empty: "" },
      })
      const config = { ...initialAuthMethodConfig, defaultLeaseTtlMs: minuteMs, maxLeaseTtlMs: hourMs }
      expect(made).toEqual({
        path,
        type: "approle",
        description: "Machines",
        config: { ...config, tokenType: "service" },
        traits: { local: false, sealWrap: true, externalEntropyAccess: false },
        options: { version: "2" },
        accessor: expect.stringMatching(/^auth_approle_[0-9a-f]{8}$/),
        uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      })
      expect([await authMethods.get(path), await authMethods.get(`${path}/`)]).toEqual([made, made])
      const listed = await authMethods.list()
      expect(listed).toContainEqual(made)
      expect(listed).toContainEqual(await authMethods.get("token"))
      const patch = { description: "tuned", config: { maxLeaseTtlMs: null, listingVisibility: "unauth" as const } }
      const options = { version: "", kind: "1" }
      const tuned = await authMethods.tune(path, { ...patch, options })
      const tunedConfig = { ...made.config, ...patch.config }
      expect(tuned).toEqual({ ...made, description: "tuned", config: tunedConfig, options: { kind: "1" } })
      await authMethods.disable(path)
      await expect(authMethods.get(path)).rejects.toMatchObject(notFound)
      await expect(authMethods.disable(path)).rejects.toMatchObject(notFound)
      await expect(authMethods.tune(path, {})).rejects.toMatchObject(notFound)
    })

    test("is rejected when its path or its settings are invalid, and nothing changes", async () => {
      const { authMethods } = engine().root
      const path = newPath()
      const type = "approle"
      const config = { defaultLeaseTtlMs: 2 * hourMs, maxLeaseTtlMs: hourMs }
      await expect(authMethods.enable({ path: "token/x", type, description: "a\nb", config })).rejects.toMatchObject(
        refused("invalid", ["path"], ["description"], ["defaultLeaseTtlMs"]),
      )
      for (const wrong of ["", "/", "a//b", "token", "x/tune"])
        await expect(authMethods.enable({ path: wrong, type })).rejects.toMatchObject(refused("invalid", ["path"]))
      const made = await authMethods.enable({ path, type })
      for (const taken of [path, `${path}/below`])
        await expect(authMethods.enable({ path: taken, type })).rejects.toMatchObject(refused("conflict"))
      await expect(authMethods.tune(path, { config })).rejects.toMatchObject(refused("invalid", ["defaultLeaseTtlMs"]))
      expect(await authMethods.get(path)).toEqual(made)
      await authMethods.disable(path)
    })

    test("that is built in can be neither tuned nor disabled", async () => {
      const { authMethods } = engine().root
      await expect(authMethods.tune("token", {})).rejects.toMatchObject(refused("unprocessable"))
      await expect(authMethods.disable("token/")).rejects.toMatchObject(refused("unprocessable"))
    })
  })
}
