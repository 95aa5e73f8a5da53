import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { systemRuntime } from "../core/runtime.ts"
import { openConnection } from "./sqlite-connection.ts"
import { UnusableStore } from "./unusable-store.ts"

test("a file that can have no write-ahead log is refused when it is opened", async () => {
  const folder = await mkdtemp(join(tmpdir(), "chancery-"))
  try {
    const { random, log } = systemRuntime()
    const open = (query: string) =>
      openConnection(`file:${folder}/chancery.db${query}`, "writer", { random, log, stopwatch: () => 0 })
    // Locks that are files leave no memory to share, as on drives whose locks are of no use.
    await expect(open("?vfs=unix-dotfile")).rejects.toThrow(UnusableStore)
    const connection = await open("")
    connection.close()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
