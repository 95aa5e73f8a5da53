import { describe, expect, test } from "vitest"
import { hourMs, minuteMs } from "../../engine/src/core/time.ts"
import { initialAuthMethodConfig } from "../../engine/src/pki/logins/auth-method.ts"
import type { OpenedEngine } from "./engines.ts"
import { notFound, refused } from "./refusals.ts"

let count = 0
const newPath = (): string => `contract/method-${(count += 1)}`

export function loginCases(engine: () => OpenedEngine): void {
  describe("an auth method", () => {
    test("is enabled, found, listed beside the server's own, tuned and disabled", async () => {
      const { authMethods } = engine().root
      const path = newPath()
      const made = await authMethods.enable({
        path: `${path}/`,
        type: "approle",
        description: "Machines",
        config: { defaultLeaseTtlMs: minuteMs, maxLeaseTtlMs: hourMs, tokenType: "service" },
      })
      const config = { ...initialAuthMethodConfig, defaultLeaseTtlMs: minuteMs, maxLeaseTtlMs: hourMs }
      expect(made).toEqual({
        path,
        type: "approle",
        description: "Machines",
        config: { ...config, tokenType: "service" },
        accessor: expect.stringMatching(/^auth_approle_[0-9a-f]{8}$/),
        uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      })
      expect([await authMethods.get(path), await authMethods.get(`${path}/`)]).toEqual([made, made])
      const listed = await authMethods.list()
      expect(listed).toContainEqual(made)
      expect(listed).toContainEqual(await authMethods.get("token"))
      const patch = { description: "tuned", config: { maxLeaseTtlMs: null, listingVisibility: "unauth" as const } }
      const tuned = await authMethods.tune(path, patch)
      expect(tuned).toEqual({ ...made, description: "tuned", config: { ...made.config, ...patch.config } })
      await authMethods.disable(path)
      await expect(authMethods.get(path)).rejects.toMatchObject(notFound)
      await expect(authMethods.disable(path)).rejects.toMatchObject(notFound)
      await expect(authMethods.tune(path, {})).rejects.toMatchObject(notFound)
    })

    test("is refused where its path or its settings are wrong, and nothing changes", async () => {
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

    test("of the server itself is neither tuned nor disabled", async () => {
      const { authMethods } = engine().root
      await expect(authMethods.tune("token", {})).rejects.toMatchObject(refused("unprocessable"))
      await expect(authMethods.disable("token/")).rejects.toMatchObject(refused("unprocessable"))
    })
  })
}
