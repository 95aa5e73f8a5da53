// Secrets of the site itself: made once, kept sealed in the database and shared by all replicas.
import type { RandomSource } from "../core/random.ts"
import type { Sealer } from "../core/sealing.ts"
import type { Database } from "./database.ts"
import { type Session, statement } from "./session.ts"

/** `signing-key` makes signed addresses, `audit-salt` the hashes in the audit log. */
export type SiteSecretName = "signing-key" | "audit-salt"

/** 32 random bytes; the first to come makes them. */
export async function siteSecret(
  database: Database,
  name: SiteSecretName,
  sealer: Sealer,
  random: RandomSource,
): Promise<Uint8Array> {
  const stored = await database.read((session) => storedSecret(session, name))
  return sealer.open(name, stored ?? (await makeSecret(database, name, sealer, random)))
}

const secretBytes = 32

const findSetting = statement((db, { name }: { name: string }) =>
  db.selectFrom("settings").select("value").where("name", "=", name),
)
/** Whoever comes second keeps what the first wrote. */
const insertSetting = statement((db, { name, value }: { name: string; value: string }) =>
  db
    .insertInto("settings")
    .values({ name, value })
    .onConflict((known) => known.column("name").doNothing()),
)

async function storedSecret(session: Session, name: SiteSecretName): Promise<Uint8Array | undefined> {
  const row = await session.first(findSetting, { name })
  return row && Buffer.from(JSON.parse(row.value) as string, "base64")
}

async function makeSecret(
  database: Database,
  name: SiteSecretName,
  sealer: Sealer,
  random: RandomSource,
): Promise<Uint8Array> {
  const value = Buffer.from(sealer.seal(name, random.bytes(secretBytes))).toString("base64")
  const stored = await database.transact(async (session) => {
    await session.run(insertSetting, { name, value: JSON.stringify(value) })
    return storedSecret(session, name)
  })
  if (stored === undefined) throw new Error(`the secret ${name} that was just written is not there`)
  return stored
}
