// A mount in each kind of database, for tests of rows that refer to a mount: the engine that created it, and a second connection.
import { afterAll, beforeAll } from "vitest"
import { openEmbedded } from "../src/embedded.ts"
import type { ServedEngine } from "../src/engine.ts"
import type { MountId } from "../src/pki/mounts/mount.ts"
import { type Database, openDatabase } from "../src/storage/sql/database.ts"
import { type DatabaseKind, databaseKinds } from "./temporary-database.ts"

/** Kinds of databases that two connections can share. */
export const sharedDatabaseKinds = databaseKinds.filter(({ available, name }) => available && name !== "SQLite memory")

export interface StoredMount {
  readonly engine: ServedEngine
  readonly database: Database
  readonly mountId: MountId
}

/** Sets up a mount for the tests of a block. The result is filled in before the first test. */
export function storedMount(kind: DatabaseKind): StoredMount {
  const opened = new AsyncDisposableStack()
  const stored = {} as { -readonly [Member in keyof StoredMount]: StoredMount[Member] }
  beforeAll(async () => {
    const { url } = opened.use(await kind.place())
    const sealKeys = { text: Buffer.alloc(32).toString("base64") }
    stored.engine = opened.use(await openEmbedded(url, { jobs: false, sealKeys }))
    await stored.engine.mounts.create({ path: "pki" })
    stored.mountId = (await stored.engine.mountTable()).at("pki").id
    stored.database = opened.use(await openDatabase(url))
  })
  afterAll(() => opened.disposeAsync())
  return stored
}
