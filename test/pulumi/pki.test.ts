// The shortest life of a mount with a role, by the real Pulumi engine; test/long has the whole stories.
import { beforeAll, describe, expect, test } from "vitest"
import { pulumiProgram } from "../toolchain/pulumi.ts"
import { declarePki } from "./pki-story.ts"
import { buildProvider, openStack } from "./stack.ts"

const pulumi = await pulumiProgram()

beforeAll(buildProvider)

describe.skipIf(pulumi === undefined).each(["embedded", "remote"] as const)("with the %s engine", (mode) => {
  test("a mount and its role come, change and go", { timeout: 300_000 }, async () => {
    await using stack = await openStack(pulumi ?? "", mode)
    const { engine } = stack
    const mount = { maxLeaseTtl: "8760h" }
    const created = { pki: "create", web: "create" }
    expect((await stack.up(declarePki({ mount, role: { ttl: "24h" } }))).operations).toEqual(created)
    const changed = declarePki({ mount, role: { ttl: "48h", allowAnyName: true } })
    expect((await stack.up(changed)).operations).toEqual({ pki: "same", web: "update" })
    expect(await engine.pki("pki").roles.get("web")).toMatchObject({ ttlMs: 172_800_000, allowAnyName: true })
    await stack.destroy()
    expect(await engine.mounts.list()).toEqual([])
  })
})
