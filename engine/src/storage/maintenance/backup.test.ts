import { sql } from "kysely"
import { spawn } from "node:child_process"
import { mkdtemp, open, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { backUp, BackupRefused, restore, verifyBackup } from "./backup.ts"
import { migrations } from "../schema/migrations/index.ts"
import { openDatabase, sqliteFile, type Database } from "../sql/database.ts"
import { statement } from "../sql/query-runner.ts"
import { databaseKinds, temporaryDatabase } from "../../../testing/temporary-database.ts"

const [file] = databaseKinds
if (file?.name !== "SQLite file") throw new Error("no SQLite file")

const setSetting = statement<{ name: string; value: string }, unknown>((db, { name, value }) =>
  db.insertInto("settings").values({ name, value }),
)
const write = (database: Database, names: readonly string[], value = "") =>
  database.transact(async (session) => {
    for (const name of names) await session.execute(setSetting, { name, value })
  })
const settingsOf = (database: Database) =>
  database.read(async (session) => {
    const rows = await session.queryMany(session.db.selectFrom("settings").select("name").orderBy("name"))
    return rows.map(({ name }) => name)
  })

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "chancery-backup-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

describe("backup", () => {
  test("of a running server restores elsewhere with all data, and reports its contents", async () => {
    await using temporary = await temporaryDatabase(file)
    const folder = await temporaryFolder()
    const target = join(folder, "chancery.backup")
    await write(temporary.database, ["a", "b"])
    const report = await backUp({ file: sqliteFile(temporary.url) ?? "", target })
    expect(report).toMatchObject({
      file: target,
      schema: migrations.at(-1)?.name,
      rows: { settings: 2, generations: 1 },
    })
    expect(report.bytes).toBe((await stat(target)).size)
    expect((await stat(target)).mode & 0o777).toBe(0o600)
    expect(await readdir(folder)).toEqual(["chancery.backup"])
    const restored = join(folder, "restored.db")
    expect((await restore({ backup: target, file: restored })).rows).toEqual(report.rows)
    await using database = await openDatabase(`sqlite:${restored}`)
    expect(await database.migrate()).toEqual([])
    expect(await settingsOf(database)).toEqual(["a", "b"])
    await write(database, ["c"])
  })

  test("is one snapshot while writes go on, and reports its progress", async () => {
    await using temporary = await temporaryDatabase(file)
    const { database } = temporary
    const target = join(await temporaryFolder(), "backup")
    await write(
      database,
      Array.from({ length: 400 }, (_, index) => `before-${index}`),
      "x".repeat(20_000),
    )
    const enough = new AbortController()
    let written = 0
    const writer = (async () => {
      while (!enough.signal.aborted) {
        await write(database, [`during-${written}-a`, `during-${written}-b`])
        written += 1
      }
    })()
    const seen: number[] = []
    let writtenAtFirstReport = 0
    const report = await backUp({
      file: sqliteFile(temporary.url) ?? "",
      target,
      progress({ donePages, totalPages }) {
        writtenAtFirstReport ||= written
        seen.push(donePages / totalPages)
      },
    })
    enough.abort()
    await writer
    expect(seen.length).toBeGreaterThan(3)
    expect(seen).toEqual(seen.toSorted((a, b) => a - b))
    expect(seen.at(-1)).toBe(1)
    expect(written).toBeGreaterThan(writtenAtFirstReport)
    // Each transaction wrote two rows; the backup has both or neither.
    expect(((report.rows["settings"] ?? 0) - 400) % 2).toBe(0)
    expect(report.rows["settings"]).toBeLessThan(400 + 2 * written)
  })

  test("omits the seal key by default", async () => {
    await using temporary = await temporaryDatabase(file)
    const folder = await temporaryFolder()
    const key = join(folder, "seal-key")
    await writeFile(key, "a key\n")
    const source = sqliteFile(temporary.url) ?? ""
    const without = await backUp({ file: source, target: join(folder, "without") })
    expect(without.sealKeyFile).toBeUndefined()
    const { sealKeyFile } = await backUp({ file: source, target: join(folder, "with"), sealKeyFile: key })
    expect(sealKeyFile).toBe(join(folder, "with.seal-key"))
    expect(await readFile(sealKeyFile ?? "", "utf8")).toBe("a key\n")
    expect((await readdir(folder)).toSorted()).toEqual(["seal-key", "with", "with.seal-key", "without"])
  })

  test("does not overwrite another seal key, and fails when the key cannot be copied", async () => {
    await using temporary = await temporaryDatabase(file)
    const folder = await temporaryFolder()
    const [key, target] = [join(folder, "seal-key"), join(folder, "copy")]
    await writeFile(key, "a key\n")
    await writeFile(`${target}.seal-key`, "another key\n")
    const source = sqliteFile(temporary.url) ?? ""
    const refused = backUp({ file: source, target, sealKeyFile: key })
    await expect(refused).rejects.toThrow(`${target}.seal-key already contains another key`)
    expect(await readFile(`${target}.seal-key`, "utf8")).toBe("another key\n")
    await expect(backUp({ file: source, target, sealKeyFile: join(folder, "none") })).rejects.toThrow("none")
    expect((await readdir(folder)).toSorted()).toEqual(["copy.seal-key", "seal-key"])
    await writeFile(`${target}.seal-key`, "a key\n")
    expect(await backUp({ file: source, target, sealKeyFile: key })).toMatchObject({
      sealKeyFile: `${target}.seal-key`,
    })
  })

  test("of a stopped server works too", async () => {
    await using temporary = await temporaryDatabase(file)
    const target = join(await temporaryFolder(), "backup")
    await write(temporary.database, ["a"])
    await temporary.database.close()
    const { rows } = await backUp({ file: sqliteFile(temporary.url) ?? "", target })
    expect(rows["settings"]).toBe(1)
  })

  test("does not overwrite, and needs a database", async () => {
    await using temporary = await temporaryDatabase(file)
    const folder = await temporaryFolder()
    const target = join(folder, "backup")
    await writeFile(target, "something else")
    await expect(backUp({ file: sqliteFile(temporary.url) ?? "", target })).rejects.toThrow("already exists")
    await expect(backUp({ file: join(folder, "none"), target: join(folder, "x") })).rejects.toThrow(
      "No database exists",
    )
    expect(await readdir(folder)).toEqual(["backup"])
  })
})

describe("restore", () => {
  test("replaces a database only on request, and never one in use", async () => {
    await using temporary = await temporaryDatabase(file)
    const source = sqliteFile(temporary.url) ?? ""
    const target = join(await temporaryFolder(), "backup")
    await write(temporary.database, ["a"])
    await backUp({ file: source, target })
    await write(temporary.database, ["b"])
    await expect(restore({ backup: target, file: source })).rejects.toThrow("already")
    await expect(restore({ backup: target, file: source, overwrite: true })).rejects.toThrow("running server")
    expect(await settingsOf(temporary.database)).toEqual(["a", "b"])
    await temporary.database.close()
    await restore({ backup: target, file: source, overwrite: true })
    await using database = await openDatabase(temporary.url)
    expect(await settingsOf(database)).toEqual(["a"])
  })

  test("over a server that was killed does not replay its log", async () => {
    await using place = await file.place()
    const source = sqliteFile(place.url) ?? ""
    const target = join(await temporaryFolder(), "backup")
    const database = await openDatabase(place.url)
    await database.migrate()
    await write(database, ["a"])
    await backUp({ file: source, target })
    await database.close()
    await killedWhileWriting(place.url)
    expect(await readdir(dirname(source))).toContain("chancery.db-wal")
    await restore({ backup: target, file: source, overwrite: true })
    await using restored = await openDatabase(place.url)
    expect(await settingsOf(restored)).toEqual(["a"])
  })

  test.each([
    { name: "truncated", damage: (path: string, bytes: number) => truncate(path, bytes - 8_192) },
    { name: "overwritten in the middle", damage: (path: string) => overwrite(path, 3 * 4_096, 4_096) },
    { name: "without a header", damage: (path: string) => overwrite(path, 0, 100) },
    { name: "empty", damage: (path: string) => truncate(path, 0) },
  ])("rejects a backup that is $name, and leaves no files", async ({ damage }) => {
    await using temporary = await temporaryDatabase(file)
    const folder = await temporaryFolder()
    const target = join(folder, "backup")
    await write(
      temporary.database,
      Array.from({ length: 50 }, (_, index) => `name-${index}`),
      "x".repeat(1_000),
    )
    const { bytes } = await backUp({ file: sqliteFile(temporary.url) ?? "", target })
    await damage(target, bytes)
    await expect(restore({ backup: target, file: join(folder, "restored.db") })).rejects.toBeInstanceOf(BackupRefused)
    expect(await readdir(folder)).toEqual(["backup"])
  })

  test("names the backup, not its copy, when it is truncated or not a database", async () => {
    await using temporary = await temporaryDatabase(file)
    const folder = await temporaryFolder()
    const target = join(folder, "cut")
    await backUp({ file: sqliteFile(temporary.url) ?? "", target })
    await truncate(target, 20_000)
    const other = join(folder, "other")
    await writeFile(other, "no database")
    for (const backup of [target, other]) {
      const restored = restore({ backup, file: join(folder, "restored") })
      await expect(restored).rejects.toThrow(`${backup} is not a complete SQLite database`)
    }
  })

  test("refuses a backup of a newer release", async () => {
    await using temporary = await temporaryDatabase(file)
    const target = join(await temporaryFolder(), "backup")
    await temporary.database.transact((session) =>
      session.execute(
        sql`insert into migrations (position, name) values (${migrations.length + 1}, '9999-from-the-future')`,
      ),
    )
    await expect(backUp({ file: sqliteFile(temporary.url) ?? "", target })).rejects.toThrow("newer release")
  })

  test("replaces a damaged database on request", async () => {
    await using temporary = await temporaryDatabase(file)
    const folder = await temporaryFolder()
    const [target, broken] = [join(folder, "backup"), join(folder, "broken.db")]
    await backUp({ file: sqliteFile(temporary.url) ?? "", target })
    await writeFile(broken, "not a database at all".repeat(1_000))
    await restore({ backup: target, file: broken, overwrite: true })
    expect(verifyBackup(broken).schema).toBe(migrations.at(-1)?.name)
  })
})

async function overwrite(path: string, position: number, length: number): Promise<void> {
  const handle = await open(path, "r+")
  await handle.write(Buffer.alloc(length, 0xa5), 0, length, position)
  await handle.close()
}

async function killedWhileWriting(url: string): Promise<void> {
  const module = new URL("../sql/database.ts", import.meta.url).href
  const program = `
    import { sql } from "kysely"
    import { openDatabase } from ${JSON.stringify(module)}
    const database = await openDatabase(${JSON.stringify(url)})
    await database.transact((session) => session.execute(sql\`insert into settings values ('lost', '')\`))
    process.kill(process.pid, "SIGKILL")`
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], { cwd: import.meta.dirname })
  await new Promise((resolve) => child.once("exit", resolve))
}
