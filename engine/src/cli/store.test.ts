import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sql } from "kysely"
import { expect, onTestFinished, test } from "vitest"
import { systemRuntime } from "../core/runtime.ts"
import { databaseKinds, temporaryDatabase } from "../../testing/temporary-database.ts"
import { configure } from "./configuration.ts"
import { makeDataFolder, openStore } from "./store.ts"

async function settingsFor(storage: string) {
  const data = await mkdtemp(join(tmpdir(), "chancery-"))
  onTestFinished(() => rm(data, { recursive: true, force: true }))
  return configure({ flags: { storage, data }, environment: {}, file: undefined, dev: false })
}

test.each(databaseKinds.filter(({ name, available }) => available && name === "PostgreSQL"))(
  "no seal key is created for $name, because other servers would not have it",
  async (kind) => {
    await using place = await kind.place()
    const settings = await settingsFor(place.url)
    await expect(openStore(settings, systemRuntime(), { server: false })).rejects.toMatchObject({
      exitCode: 78,
      message: expect.stringMatching(
        /cannot be opened\. No seal key was given; set its file with --seal-key-file/,
      ) as string,
    })
    expect(await readdir(settings.data)).toEqual([])
  },
)

test("a database of a newer release is rejected with a remedy, without advice on its address", async () => {
  const kind = databaseKinds.find(({ name }) => name === "SQLite file")
  if (kind === undefined) throw new Error("no SQLite file")
  await using temporary = await temporaryDatabase(kind)
  await temporary.database.transact((session) =>
    session.execute(sql`insert into migrations (position, name) values (999, ${"0999-later"})`),
  )
  const error: unknown = await openStore(await settingsFor(temporary.url), systemRuntime(), { server: false }).catch(
    (thrown: unknown) => thrown,
  )
  expect(error).toMatchObject({ exitCode: 78 })
  expect((error as Error).message).toMatch(
    /cannot be opened\. The database was written by a newer release .* or restore a backup\.$/,
  )
})

test("parents of the data folder are created with access for their owner only", async () => {
  const { data } = await settingsFor("sqlite::memory:")
  await makeDataFolder(join(data, "a", "b"))
  await makeDataFolder(join(data, "a", "b"))
  expect(await readdir(join(data, "a"))).toEqual(["b"])
})

// Node's recursive mkdir never returns for a folder below /proc.
test.each(["/proc/chancery", "/dev/null/chancery"])(
  "a data folder that cannot be created is rejected: %s",
  async (folder) => {
    await expect(makeDataFolder(folder)).rejects.toMatchObject({
      exitCode: 78,
      message: expect.stringContaining(`The data folder ${folder} cannot be created`) as string,
    })
  },
)
