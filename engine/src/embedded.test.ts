import { mkdtemp, readFile, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { systemRuntime } from "./core/runtime.ts"
import { openEmbedded } from "./embedded.ts"

test("the first start on an embedded database creates a seal key outside the database file and logs it once", async () => {
  const folder = await mkdtemp(join(tmpdir(), "chancery-embedded-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, "data", "seal-key")
  const warnings: unknown[] = []
  const runtime = systemRuntime({
    debug() {},
    info() {},
    error() {},
    warn: (event, fields) => void warnings.push([event, fields?.["file"]]),
  })
  const open = async () => {
    await using engine = await openEmbedded(`sqlite:${join(folder, "data", "chancery.db")}`, { runtime })
    await engine.ready()
  }
  await open()
  await open()
  expect(warnings).toEqual([["seal-key-created", file]])
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const [key = ""] = (await readFile(file, "utf8")).split("\n").slice(1)
  expect(await readFile(join(folder, "data", "chancery.db"), "latin1")).not.toContain(key)
  await rm(file)
  await expect(open()).rejects.toThrow("is missing")
})
