// Kills a copy of a database (SIGKILL) at random moments and resumes it, from SQLite to PostgreSQL and back. The result is the whole
// database, and a server on it locks and issues.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { openDatabase } from "../../engine/src/storage/sql/database.ts"
import { countRows } from "../../engine/testing/filled-store.ts"
import { databaseKinds } from "../../engine/testing/temporary-database.ts"
import { writeInventory } from "../../engine/testing/temporary-inventory.ts"
import { openTestEngine } from "../../engine/testing/test-engine.ts"
import { start } from "../cli/chancery.ts"
import { randomIntegers } from "./crashing-server.ts"

const kills = process.env["CHANCERY_SHORT"] === "1" ? 4 : 30
const seed = Number(process.env["CHANCERY_SEED"] ?? Date.now() % 1_000_000)
const postgres = databaseKinds.find(({ name, available }) => name === "PostgreSQL" && available)
/** PostgreSQL releases the locks of a killed copy once it notices that the client is gone. */
const busyCode = 75
const tries = 200

interface Report {
  readonly tables: Readonly<Record<string, { readonly rows: number }>>
  readonly resumedRows: number
}

/** Kills the copy `kills` times, at a moment after it has begun to write, and lets the last attempt finish. */
async function copyKilling(from: string, to: string, random: (below: number) => number) {
  let killed = 0
  for (let attempt = 0; attempt < tries; attempt += 1) {
    await using copying = start(["storage", "copy", from, to, "--json"])
    if (killed < kills) {
      const { child } = copying
      while (child.exitCode === null && !copying.stderr().includes("%")) await sleep(1)
      await sleep(random(250))
      child.kill("SIGKILL")
    }
    const { code, out, stderr } = await copying.ended
    if (code === 0) return { killed, report: JSON.parse(out) as Report }
    if (code !== null && code !== busyCode) throw new Error(`the copy failed with ${code}: ${stderr}`)
    if (code === null) killed += 1
    else await sleep(50)
  }
  throw new Error(`the copy did not end after ${tries} tries`)
}

async function fill(url: string): Promise<void> {
  await using testEngine = await openTestEngine({ url })
  await testEngine.engine.organizations.create({ name: "acme", email: "ops@example.com" })
  await testEngine.engine.workspaces.create("acme", { name: "network" })
  await testEngine.engine.mounts.create({ path: "pki" })
  const { issuers, roles } = testEngine.engine.pki("pki")
  await issuers.generateRoot({ commonName: "Root", keyType: "ec", ttlMs: 2_000_000_000 })
  await roles.save("web", { allowAnyName: true, keyType: "ec", ttlMs: 3_600_000 })
  await using database = await openDatabase(url)
  await database.transact(writeInventory)
}

async function works(url: string): Promise<void> {
  await using testEngine = await openTestEngine({ url })
  const { id } = await testEngine.engine.workspaces.get({ organization: "acme", name: "network" })
  const path = `/workspaces/${id}/actions`
  expect((await testEngine.request("POST", `${path}/lock`, { body: {} })).status).toBe(200)
  expect((await testEngine.request("POST", `${path}/unlock`)).status).toBe(200)
  const issued = await testEngine.pki("POST", "/pki/issue/web", { body: { common_name: "after.example.com" } })
  expect(issued.status).toBe(200)
}

describe.runIf(postgres !== undefined)(`copies that are killed ${kills} times (seed ${seed})`, () => {
  test("finish as complete stores, there and back", async () => {
    const random = randomIntegers(seed)
    const folder = await mkdtemp(join(tmpdir(), "chancery-copy-crash-"))
    try {
      await using place = await postgres!.place({ empty: true })
      const [first, last] = [`sqlite:${join(folder, "first.db")}`, `sqlite:${join(folder, "last.db")}`]
      await fill(first)
      for (const [from, to] of [
        [first, place.url],
        [place.url, last],
      ] as const) {
        const { killed, report } = await copyKilling(from, to, random)
        expect(killed).toBeGreaterThan(0)
        expect(report.resumedRows).toBeGreaterThan(0)
        const tables = Object.keys(report.tables)
        const counts = await countRows(from, tables)
        expect(counts["certificates"]).toBeGreaterThan(10_000)
        expect(await countRows(to, tables)).toEqual(counts)
        await works(to)
        console.log(`${killed} kills, ${report.resumedRows} rows written by copies that were killed`)
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
