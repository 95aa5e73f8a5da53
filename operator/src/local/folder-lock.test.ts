import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { lockFolder } from "./folder-lock.ts"

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "chancery-lock-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

test("a folder is locked by one process, and free after its end", async () => {
  const folder = await temporary()
  const other = spawn(process.execPath, ["--eval", "setInterval(() => {}, 1000)"])
  onTestFinished(() => void other.kill("SIGKILL"))
  await writeFile(join(folder, "lock"), String(other.pid))
  expect(await lockFolder(folder)).toBeUndefined()
  other.kill("SIGKILL")
  await once(other, "exit")
  await using lock = await lockFolder(folder)
  expect(lock).toBeDefined()
  expect(await readFile(join(folder, "lock"), "utf8")).toBe(String(process.pid))
})

test.each(["", "0", "-1", "nobody"])("a lock file without a process id (%j) locks nothing", async (text) => {
  const folder = await temporary()
  await writeFile(join(folder, "lock"), text)
  await using lock = await lockFolder(folder)
  expect(lock).toBeDefined()
})
