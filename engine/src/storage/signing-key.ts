// The key of signed addresses. It is made once, kept sealed in the database, and shared by all replicas, so that an
// address stays good across restarts and wherever it is sent.
import { createHmac, timingSafeEqual } from "node:crypto"
import type { RandomSource } from "../core/random.ts"
import type { Sealer } from "../core/sealing.ts"
import type { Signer } from "../core/signing.ts"
import type { Database } from "./database.ts"
import { type Session, statement } from "./session.ts"

/** The first to come makes the key. */
export async function openSigner(database: Database, sealer: Sealer, random: RandomSource): Promise<Signer> {
  const stored = await database.read(storedKey)
  return hmacSigner(sealer.open(settingName, stored ?? (await makeKey(database, sealer, random))))
}

export const hmacSigner = (key: Uint8Array): Signer => {
  const codeOf = (message: string) => createHmac("sha256", key).update(message).digest()
  return {
    sign: (message) => codeOf(message).toString("base64url"),
    verify: (message, signature) => {
      const given = Buffer.from(signature, "base64url")
      const expected = codeOf(message)
      return given.length === expected.length && timingSafeEqual(given, expected)
    },
  }
}

const settingName = "signing-key"
const keyBytes = 32

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

async function storedKey(session: Session): Promise<Uint8Array | undefined> {
  const row = await session.first(findSetting, { name: settingName })
  return row && Buffer.from(JSON.parse(row.value) as string, "base64")
}

async function makeKey(database: Database, sealer: Sealer, random: RandomSource): Promise<Uint8Array> {
  const value = Buffer.from(sealer.seal(settingName, random.bytes(keyBytes))).toString("base64")
  const stored = await database.transact(async (session) => {
    await session.run(insertSetting, { name: settingName, value: JSON.stringify(value) })
    return storedKey(session)
  })
  if (stored === undefined) throw new Error("the signing key that was just written is not there")
  return stored
}
