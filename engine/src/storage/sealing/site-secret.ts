// Secrets of the whole installation: created once, stored sealed, and shared by all replicas.
import type { RandomSource } from "../../core/random.ts"
import type { Sealer } from "../../core/sealing.ts"
import type { Database } from "../sql/database.ts"
import { sealKeyIdOf, tryOpen } from "./key-sealing.ts"
import { type QueryRunner, statement } from "../sql/query-runner.ts"

/** `signing-key` signs URLs, `audit-salt` is for the hashes in the audit log. */
const siteSecretNames = ["signing-key", "audit-salt"] as const
export type SiteSecretName = (typeof siteSecretNames)[number]

/** Result of sealing values under another key. */
export interface Rewrapped {
  readonly rewrapped: number
  /** Number of values that do not open: under an unknown key, or damaged. They stay unchanged. */
  readonly unopened: number
  /** Message of the first of these errors. */
  readonly firstProblem: string | undefined
}

/** Returns the secret, 32 random bytes. The first caller creates it. */
export async function siteSecret(
  database: Database,
  name: SiteSecretName,
  sealer: Sealer,
  random: RandomSource,
): Promise<Uint8Array> {
  const stored = await database.read((session) => storedSecret(session, name))
  return sealer.open(name, stored ?? (await makeSecret(database, name, sealer, random)))
}

/** Seals each secret again that does not begin with `header`. */
export async function rewrapSiteSecrets(session: QueryRunner, sealer: Sealer, header: Uint8Array): Promise<Rewrapped> {
  let [rewrapped, unopened, firstProblem] = [0, 0, undefined as string | undefined]
  for (const name of siteSecretNames) {
    const stored = await storedSecret(session, name)
    if (stored === undefined || Buffer.compare(stored.subarray(0, header.length), header) === 0) continue
    const opened = tryOpen(sealer, name, stored)
    if (opened instanceof Error) {
      unopened += 1
      firstProblem ??= opened.message
      continue
    }
    await session.execute(updateSetting, { name, value: textOf(sealer.seal(name, opened)) })
    rewrapped += 1
  }
  return { rewrapped, unopened, firstProblem }
}

/** Returns the id of the seal key of each secret. */
export async function siteSecretKeyIds(session: QueryRunner): Promise<readonly string[]> {
  const ids: string[] = []
  for (const name of siteSecretNames) {
    const stored = await storedSecret(session, name)
    const id = stored && sealKeyIdOf(stored)
    if (id !== undefined) ids.push(id)
  }
  return ids
}

const secretBytes = 32
const textOf = (sealed: Uint8Array): string => JSON.stringify(Buffer.from(sealed).toString("base64"))

const findSetting = statement((db, { name }: { name: string }) =>
  db.selectFrom("settings").select("value").where("name", "=", name),
)
/** The second of two concurrent inserts keeps the value of the first. */
const insertSetting = statement((db, { name, value }: { name: string; value: string }) =>
  db
    .insertInto("settings")
    .values({ name, value })
    .onConflict((known) => known.column("name").doNothing()),
)
const updateSetting = statement((db, { name, value }: { name: string; value: string }) =>
  db.updateTable("settings").set({ value }).where("name", "=", name),
)

async function storedSecret(session: QueryRunner, name: SiteSecretName): Promise<Uint8Array | undefined> {
  const row = await session.queryOne(findSetting, { name })
  return row && Buffer.from(JSON.parse(row.value) as string, "base64")
}

async function makeSecret(
  database: Database,
  name: SiteSecretName,
  sealer: Sealer,
  random: RandomSource,
): Promise<Uint8Array> {
  const value = textOf(sealer.seal(name, random.bytes(secretBytes)))
  const stored = await database.transact(async (session) => {
    await session.execute(insertSetting, { name, value })
    return storedSecret(session, name)
  })
  if (stored === undefined) throw new Error(`the secret ${name} that was just written is missing`)
  return stored
}
