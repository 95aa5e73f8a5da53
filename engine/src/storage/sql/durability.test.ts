// A process that reports its commits is killed at random moments: every reported commit must be stored, and none in part.
import { spawn } from "node:child_process"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, test } from "vitest"
import { isEngineError } from "../../core/errors.ts"
import { openDatabase } from "./database.ts"
import { statement } from "./query-runner.ts"
import { databaseKinds, temporaryDatabase } from "../../../testing/temporary-database.ts"

const setSetting = statement<{ name: string; value: string }, unknown>((db, { name, value }) =>
  db.insertInto("settings").values({ name, value }),
)
const databaseModule = JSON.stringify(new URL("./database.ts", import.meta.url).href)

const rounds = [40, 90, 150, 230, 320]
const durable = databaseKinds.filter(({ available, name }) => available && name !== "SQLite memory")

test.each(durable)("$name keeps what it acknowledged when its process is killed", async (kind) => {
  await using temporary = await temporaryDatabase(kind)
  for (const [round, aliveMs] of rounds.entries()) {
    const acknowledged = await writeUntilKilled(temporary.url, `round-${round}`, aliveMs)
    expect(acknowledged.length).toBeGreaterThan(0)
    await using database = await openDatabase(temporary.url)
    const rows = await database.read((session) => session.queryMany(session.db.selectFrom("settings").select("name")))
    const present = new Set(rows.map(({ name }) => name))
    expect(acknowledged.filter((name) => !present.has(`${name}-a`) || !present.has(`${name}-b`))).toEqual([])
    expect([...present].filter((name) => name.endsWith("-a") && !present.has(`${name.slice(0, -1)}b`))).toEqual([])
  }
})

/** Returns the names of the transactions whose success the process reported before it was killed. */
async function writeUntilKilled(url: string, prefix: string, aliveMs: number): Promise<readonly string[]> {
  const program = `
    import { writeSync } from "node:fs"
    import { sql } from "kysely"
    import { openDatabase } from ${databaseModule}
    const database = await openDatabase(${JSON.stringify(url)})
    let count = 0
    await Promise.all(Array.from({ length: 8 }, async () => {
      while (true) {
        const name = ${JSON.stringify(prefix)} + "-" + count++
        await database.transact(async (session) => {
          await session.execute(sql\`insert into settings (name, value) values (\${name + "-a"}, '')\`)
          await session.execute(sql\`insert into settings (name, value) values (\${name + "-b"}, '')\`)
        })
        writeSync(1, name + "\\n")
      }
    }))`
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: import.meta.dirname,
    stdio: ["ignore", "pipe", "inherit"],
  })
  let output = ""
  const exited = new Promise((resolve) => child.once("close", resolve))
  const started = new Promise((resolve) => child.stdout.once("data", resolve))
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text
  })
  await Promise.race([started, exited])
  await sleep(aliveMs)
  child.kill("SIGKILL")
  await exited
  return output.split("\n").slice(0, -1)
}

const [file] = durable
if (file === undefined) throw new Error("no SQLite file")

test("a writer waits for another process that locks the file, without blocking the event loop", async () => {
  await using temporary = await temporaryDatabase(file)
  const { database, url } = temporary
  await using holder = await holdFrom(url)
  const begun = performance.eventLoopUtilization()
  const waiting = database.transact((session) => session.execute(setSetting, { name: "a", value: "" }))
  await sleep(100)
  // The utilization stays high if the event loop is blocked by the wait for the file lock. On a busy machine the low value may come late.
  await expect.poll(() => performance.eventLoopUtilization(begun).utilization).toBeLessThan(0.5)
  expect(await database.read((session) => session.queryMany(session.db.selectFrom("settings").select("name")))).toEqual(
    [],
  )
  await holder.release()
  expect(await waiting).toBe(1)
})

test("a writer gets a busy error after waiting too long", async () => {
  await using temporary = await temporaryDatabase(file, { attempts: 3 })
  await using holder = await holdFrom(temporary.url)
  const waiting = temporary.database.transact((session) => session.execute(setSetting, { name: "a", value: "" }))
  expect(isEngineError(await waiting.catch((error: unknown) => error), "busy")).toBe(true)
  await holder.release()
  expect(await temporary.database.transact((session) => session.execute(setSetting, { name: "a", value: "" }))).toBe(1)
})

/** Starts another process that has begun a write transaction. */
async function holdFrom(url: string): Promise<{ release(): Promise<void> } & AsyncDisposable> {
  const program = `
    import { DatabaseSync } from "node:sqlite"
    const database = new DatabaseSync(${JSON.stringify(url.slice("sqlite:".length))})
    database.exec("begin immediate")
    process.stdout.write("held")
    process.stdin.once("data", () => { database.exec("rollback"); process.exit() })`
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["pipe", "pipe", "inherit"],
  })
  const exited = new Promise((resolve) => child.once("exit", resolve))
  await new Promise((resolve) => child.stdout.once("data", resolve))
  const release = async () => {
    if (child.exitCode === null) child.stdin.write("go")
    await exited
  }
  return { release, [Symbol.asyncDispose]: release }
}
