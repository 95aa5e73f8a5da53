// Sources of seal keys: the environment, a named file, or the file `seal-key` next to the embedded database, which the first start creates.
// The database stores the ids of keys that may have sealed values in it. A start without one of these keys fails before anything is sealed
// under another.
import { chmod, mkdir, readFile, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { RandomSource } from "../../core/random.ts"
import { type Database, sqliteFile } from "../sql/database.ts"
import { type QueryRunner, statement } from "../sql/query-runner.ts"
import { UnusableStore } from "../sql/unusable-store.ts"
import { writeDurably } from "../sqlite/durable-file.ts"
import { type KeyRing, newKeyText, parseKeyRing } from "./key-sealing.ts"

export interface SealKeySources {
  /** Keys from the environment. If set, the other sources are ignored. */
  readonly text?: string | undefined
  /** Path of a file that must exist. */
  readonly file?: string | undefined
  /** Path of a file that is created if it is missing and nothing was sealed yet. */
  readonly defaultFile?: string | undefined
}

/**
 * Returns the default source of a database URL: the file `seal-key` next to an embedded database, a temporary key for one in memory, or
 * none.
 */
export function defaultSealKeySources(url: string, random: RandomSource): SealKeySources {
  if (url === "sqlite::memory:") return { text: newKeyText(random) }
  const file = sqliteFile(url)
  return file === undefined ? {} : { defaultFile: join(dirname(file), "seal-key") }
}

export interface FoundSealKeys {
  readonly ring: KeyRing
  /** Path of the file, if it was just created. Report it to the operator: without the file, sealed values are lost. */
  readonly createdFile: string | undefined
}

export async function findSealKeys(
  database: Database,
  sources: SealKeySources,
  random: RandomSource,
): Promise<FoundSealKeys> {
  const used = await database.read(usedKeyIds)
  const found = await load(sources, used, random)
  rejectMissing(used, found.ring)
  if (!used.includes(found.ring.current.id)) await remember(database, found.ring)
  return found
}

/** Seal keys that a start would find, determined without creating a key or changing anything. */
export interface SealKeysAtHand {
  readonly used: readonly string[]
  readonly ring: KeyRing | undefined
  /** Reason why a start would fail or leave the server sealed. */
  readonly problem: UnusableStore | undefined
  /** Path of the key file, existing or to be created; undefined if the keys come from elsewhere. */
  readonly file: string | undefined
}

/** Inspects the seal keys. `session` is undefined if the database does not exist yet. */
export async function sealKeysAtHand(
  session: QueryRunner | undefined,
  { text, file, defaultFile }: SealKeySources,
): Promise<SealKeysAtHand> {
  const used = session === undefined ? [] : await usedKeyIds(session)
  const place = text === undefined ? (file ?? defaultFile) : undefined
  try {
    const content = text ?? (place === undefined ? undefined : await readIfPresent(place))
    if (content === undefined) {
      const isMade = file === undefined && place !== undefined && used.length === 0
      return { used, ring: undefined, problem: isMade ? undefined : noKey(place, used), file: place }
    }
    const ring = parseKeyRing(content)
    rejectMissing(used, ring)
    return { used, ring, problem: undefined, file: place }
  } catch (error) {
    if (!(error instanceof UnusableStore)) throw error
    return { used, ring: undefined, problem: error, file: place }
  }
}

/** The database has sealed values and no seal key is configured. A key may be added later. */
export class SealedStore extends UnusableStore {
  override readonly name = "SealedStore"
}

/** Adds a new key in front. The old keys stay and open what they sealed. */
export async function rotateKeyFile(file: string, random: RandomSource): Promise<KeyRing> {
  const before = await readFile(file, "utf8")
  const text = `${newKeyText(random)}\n${before}`
  const ring = parseKeyRing(text)
  await writeDurably(file, text, 0o600)
  return ring
}

/** Removes a key from its file. Throws `UnusableStore` if no key would be left. */
export async function removeFromKeyFile(file: string, keyId: string): Promise<void> {
  const isOther = (word: string) => word.trim() === "" || parseKeyRing(word).current.id !== keyId
  const lines = (await readFile(file, "utf8")).split("\n").flatMap((line) => {
    const [keys = "", ...comment] = line.split("#")
    const words = keys.split(",")
    const remaining = words.filter(isOther)
    if (remaining.length === words.length) return [line]
    return remaining.length === 0 ? [] : [[remaining.join(","), ...comment].join("#")]
  })
  const text = lines.join("\n")
  parseKeyRing(text)
  await writeDurably(file, text, 0o600)
}

/** Returns the ids of keys that may have sealed values in the database. A start without one of them fails. */
export const rememberedKeyIds = (database: Database): Promise<readonly string[]> => database.read(usedKeyIds)

/** Forgets a key id, so that a start no longer needs the key. Check first that no value is sealed under it. */
export async function forgetKeyId(database: Database, keyId: string): Promise<void> {
  await database.transact(async (session) => {
    const ids = (await usedKeyIds(session)).filter((id) => id !== keyId)
    await session.execute(saveUsed, { name: settingName, value: JSON.stringify(ids) })
  })
}

const fileComment = "# Seals the secrets in the database: store a copy elsewhere. The first key seals, all keys open.\n"

async function load(
  { text, file, defaultFile }: SealKeySources,
  used: readonly string[],
  random: RandomSource,
): Promise<FoundSealKeys> {
  if (text !== undefined) return { ring: parseKeyRing(text), createdFile: undefined }
  if (file !== undefined) {
    const content = await readIfPresent(file)
    if (content !== undefined) return { ring: parseKeyRing(content), createdFile: undefined }
    throw noKey(file, used)
  }
  if (defaultFile === undefined) throw noKey(undefined, used)
  const existing = await readIfPresent(defaultFile)
  if (existing !== undefined) {
    await chmod(defaultFile, 0o600)
    return { ring: parseKeyRing(existing), createdFile: undefined }
  }
  if (used.length > 0) throw noKey(defaultFile, used)
  const created = `${fileComment}${newKeyText(random)}\n`
  await mkdir(dirname(defaultFile), { recursive: true, mode: 0o700 })
  await writeDurably(defaultFile, created, 0o600)
  return { ring: parseKeyRing(created), createdFile: defaultFile }
}

/** Returns a `SealedStore` if there are sealed values: the server then waits for a key. */
function noKey(file: string | undefined, used: readonly string[]): UnusableStore {
  const advice = "set its file with --seal-key-file, or set CHANCERY_SEAL_KEY."
  if (used.length === 0) {
    return new UnusableStore(
      file === undefined
        ? `No seal key was given; ${advice}`
        : `The seal key file ${file} is missing; write the base64 of 32 random bytes into it, or set another with --seal-key-file.`,
    )
  }
  const problem = `The database contains values sealed under key ${used.join(", ")}, but`
  return new SealedStore(
    file === undefined
      ? `${problem} no seal key was given; ${advice}`
      : `${problem} ${file} is missing; restore it, because those values cannot be opened without it.`,
  )
}

function rejectMissing(used: readonly string[], ring: KeyRing): void {
  const missing = used.filter((id) => !ring.keys.has(id))
  if (missing.length === 0) return
  throw new UnusableStore(
    `The database contains values sealed under key ${missing.join(", ")}, which is not among the given seal keys. ` +
      "Add it after the current one.",
  )
}

const settingName = "seal-key-ids"

const findUsed = statement<{ name: string }, { value: string }>((db, { name }) =>
  db.selectFrom("settings").select("value").where("name", "=", name),
)
const saveUsed = statement<{ name: string; value: string }, unknown>((db, { name, value }) =>
  db
    .insertInto("settings")
    .values({ name, value })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ value })),
)

async function usedKeyIds(session: QueryRunner): Promise<readonly string[]> {
  const row = await session.queryOne(findUsed, { name: settingName })
  return row === undefined ? [] : (JSON.parse(row.value) as string[])
}

async function remember(database: Database, ring: KeyRing): Promise<void> {
  await database.transact(async (session) => {
    const used = await usedKeyIds(session)
    rejectMissing(used, ring)
    const ids = [...new Set([...used, ring.current.id])]
    await session.execute(saveUsed, { name: settingName, value: JSON.stringify(ids) })
  })
}

async function readIfPresent(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8")
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ENOENT") return undefined
    throw new UnusableStore(
      `The seal key file ${file} cannot be read (${code}); check that it is a file that the user of this process can read.`,
    )
  }
}

/**
 * Returns a text that changes whenever the content at a path is replaced. The file may be overwritten, renamed, or reached through a
 * symbolic link that is switched, as Kubernetes does with secrets. A watch would follow the inode instead of the path, and gets no events
 * from network file systems. The text of a pipe never changes, because a pipe cannot be read again.
 */
export async function fileVersion(path: string): Promise<string> {
  try {
    const found = await stat(path, { bigint: true })
    return found.isFile() ? [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(":") : "no file"
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "unknown"
  }
}
