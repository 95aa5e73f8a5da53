import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { readWeakKeys } from "./weak-keys.ts"

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "chancery-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

test("[F-P9] weak keys are read from one file, or from the lists of RSA keys of a folder", async () => {
  const folder = await newFolder()
  await writeFile(join(folder, "blacklist.RSA-2048"), "# RSA\n00112233445566778899\n")
  await writeFile(join(folder, "blacklist.RSA-4096"), "ffeeddccbbaa99887766\nffeeddccbbaa99887765\n")
  await writeFile(join(folder, "blacklist.prefix"), "nonsense\n")
  expect((await readWeakKeys(folder)).size).toBe(3)
  expect((await readWeakKeys(join(folder, "blacklist.RSA-2048"))).size).toBe(1)
})

test("[F-P9] an unreadable list of weak keys is a configuration error", async () => {
  const folder = await newFolder()
  const file = join(folder, "list")
  await writeFile(file, "00112233445566778899\nnonsense\n")
  await expect(readWeakKeys(file)).rejects.toThrow(/line 2 must be 20 hexadecimal digits/)
  await expect(readWeakKeys(join(folder, "missing"))).rejects.toThrow(/cannot be read/)
})
