import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"

/** Program that writes more commits and pages than a database accepts before it starts its checkpoint thread. */
const program = (url: string) => `
import { statement } from ${JSON.stringify(new URL("../sql/query-runner.ts", import.meta.url).href)}
import { openDatabase } from ${JSON.stringify(new URL("../sql/database.ts", import.meta.url).href)}
const database = await openDatabase(${JSON.stringify(url)})
await database.migrate()
const write = statement((db, { name, value }) => db.insertInto("settings").values({ name, value }))
for (let index = 0; index < 800; index += 1)
  await database.transact((session) => session.execute(write, { name: "setting-" + index, value: "x".repeat(4096) }))
await database[Symbol.asyncDispose]()
console.log("closed")
`

test("closing the database resolves in a process without other work", async () => {
  const folder = await mkdtemp(join(tmpdir(), "chancery-"))
  try {
    const source = program(`sqlite:${join(folder, "state.db")}`)
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", source])
    expect(stdout).toBe("closed\n")
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
