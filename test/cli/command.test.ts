import { access, constants, readFile } from "node:fs/promises"
import { expect, test } from "vitest"

const engine = new URL("../../engine/", import.meta.url)

test("npm links the command in a clone that is not built, and packs it into the package", async () => {
  const manifest = JSON.parse(await readFile(new URL("package.json", engine), "utf8")) as {
    bin: { chancery: string }
    files: string[]
  }
  const { chancery } = manifest.bin
  await access(new URL(chancery, engine), constants.X_OK)
  expect(chancery).not.toMatch(/^dist\//)
  expect(manifest.files).toContain(chancery.split("/")[0])
})
