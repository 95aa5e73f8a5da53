import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { databaseKinds } from "../../../testing/temporary-database.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"

describe.each(databaseKinds.filter(({ available }) => available))("roles on $name", ({ place }) => {
  let testEngine: TestEngine
  const closing = new AsyncDisposableStack()
  beforeAll(async () => {
    const { url } = closing.use(await place())
    testEngine = closing.use(await openTestEngine({ url }))
    await testEngine.engine.mounts.create({ path: "pki" })
  })
  afterAll(() => closing.disposeAsync())

  test("a role is created with defaults, patched, replaced and deleted", async () => {
    const { roles } = testEngine.engine.pki("pki")
    await roles.save("web", { allowedDomains: ["example.com"], allowSubdomains: true, keyType: "ec" })
    expect(await roles.get("web")).toMatchObject({ keyType: "ec", keyBits: 256, allowLocalhost: true })

    await roles.update("web", { allowLocalhost: false })
    expect(await roles.get("web")).toMatchObject({ allowLocalhost: false, allowedDomains: ["example.com"] })

    await roles.save("web", { keyType: "ed25519" })
    expect(await roles.get("web")).toMatchObject({ keyType: "ed25519", allowLocalhost: true, allowedDomains: [] })
    expect(await roles.list()).toEqual(["web"])

    await roles.delete("web")
    await roles.delete("web")
    await expect(roles.get("web")).rejects.toMatchObject({ code: "not-found" })
  })

  test("a rejected change does not change the role", async () => {
    const { roles } = testEngine.engine.pki("pki")
    await roles.save("kept", { ttlMs: 3_600_000 })
    await expect(roles.update("kept", { maxTtlMs: 60_000 })).rejects.toMatchObject({ code: "invalid" })
    expect((await roles.get("kept")).maxTtlMs).toBe(0)
    await expect(roles.update("absent", {})).rejects.toMatchObject({ code: "unprocessable" })
    await expect(roles.save("-odd-", {})).rejects.toMatchObject({ faults: [{ field: ["name"] }] })
  })

  test("an unknown mount has no roles", async () => {
    await expect(testEngine.engine.pki("elsewhere").roles.list()).rejects.toMatchObject({ code: "not-found" })
  })
})
