import { mkdtemp, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { canSharePluginCache, preparePluginCache } from "./plugin-cache.ts"

describe("a plugin cache", () => {
  test("is a folder of the slot that only the agent may read", async () => {
    const cache = await mkdtemp(join(tmpdir(), "plugins-"))
    onTestFinished(() => rm(cache, { recursive: true }))
    const folder = await preparePluginCache(cache, "agent-1")
    expect(folder).toBe(join(cache, "plugins", "agent-1"))
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    expect(await preparePluginCache(cache, "agent-1")).toBe(folder)
    expect(await preparePluginCache(cache, "agent-2")).not.toBe(folder)
  })

  test.each(["", "..", "a/b", "-a", "a".repeat(64)])("is rejected when the slot is %j", async (slot) => {
    await expect(preparePluginCache("/nonexistent", slot)).rejects.toThrow("slot must have 1 to 63")
  })

  test.each([
    { kind: "terraform", version: "1.3.10", expected: false },
    { kind: "terraform", version: "1.4.0", expected: true },
    { kind: "terraform", version: "1.10.0-rc1", expected: true },
    { kind: "opentofu", version: "1.6.0", expected: true },
  ] as const)("may be shared ($expected) by runs of $kind $version", ({ kind, version, expected }) => {
    expect(canSharePluginCache(kind, version)).toBe(expected)
  })
})
