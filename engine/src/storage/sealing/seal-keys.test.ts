import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { newKeyText, parseKeyRing } from "./key-sealing.ts"
import {
  findSealKeys,
  forgetKeyId,
  rememberedKeyIds,
  removeFromKeyFile,
  rotateKeyFile,
  SealedStore,
} from "./seal-keys.ts"
import { databaseKinds, temporaryDatabase } from "../../../testing/temporary-database.ts"

const random = { bytes: (count: number) => globalThis.crypto.getRandomValues(new Uint8Array(count)) }
const memory = databaseKinds.find(({ name }) => name === "SQLite memory")
if (memory === undefined) throw new Error("no SQLite memory")

let folder = ""
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "chancery-keys-"))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test("the first start creates and reports a key file with mode 600; the second uses it", async () => {
  await using temporary = await temporaryDatabase(memory)
  const defaultFile = join(folder, "first")
  const first = await findSealKeys(temporary.database, { defaultFile }, random)
  expect(first.createdFile).toBe(defaultFile)
  expect((await stat(defaultFile)).mode & 0o777).toBe(0o600)
  const second = await findSealKeys(temporary.database, { defaultFile }, random)
  expect(second.createdFile).toBeUndefined()
  expect(second.ring.current.id).toBe(first.ring.current.id)
})

test("a missing key that sealed values is reported, and no new key is created", async () => {
  await using temporary = await temporaryDatabase(memory)
  const { database } = temporary
  const [oldKey, newKey] = [newKeyText(random), newKeyText(random)]
  const oldId = parseKeyRing(oldKey).current.id
  await findSealKeys(database, { text: oldKey }, random)
  await expect(findSealKeys(database, { text: newKey }, random)).rejects.toThrow(oldId)
  const absent = join(folder, "absent")
  await expect(findSealKeys(database, { defaultFile: absent }, random)).rejects.toThrow("is missing")
  await expect(stat(absent)).rejects.toThrow("ENOENT")
  const { ring } = await findSealKeys(database, { text: `${newKey},${oldKey}` }, random)
  expect(ring.keys.has(oldId)).toBe(true)
})

test("the environment takes precedence over a file, and a configured file must exist", async () => {
  await using temporary = await temporaryDatabase(memory)
  const { database } = temporary
  const text = newKeyText(random)
  const { ring } = await findSealKeys(database, { text, file: join(folder, "nowhere") }, random)
  expect(ring.current.id).toBe(parseKeyRing(text).current.id)
  await expect(findSealKeys(database, { file: join(folder, "nowhere") }, random)).rejects.toThrow("is missing")
  await expect(findSealKeys(database, {}, random)).rejects.toThrow("no seal key was given")
})

test("rotation puts a new key first and keeps the old ones", async () => {
  const file = join(folder, "rotated")
  await writeFile(file, `${newKeyText(random)}\n`, { mode: 0o600 })
  const before = parseKeyRing(await readFile(file, "utf8"))
  await rotateKeyFile(file, random)
  const after = parseKeyRing(await readFile(file, "utf8"))
  expect(after.current.id).not.toBe(before.current.id)
  expect([...after.keys.keys()]).toContain(before.current.id)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})

test("a store with sealed values waits for its key; an empty store does not", async () => {
  await using temporary = await temporaryDatabase(memory)
  const { database } = temporary
  const [file, defaultFile] = [join(folder, "nowhere"), join(folder, "nowhere-else")]
  await expect(findSealKeys(database, { file }, random)).rejects.not.toBeInstanceOf(SealedStore)
  await expect(findSealKeys(database, {}, random)).rejects.not.toBeInstanceOf(SealedStore)
  await findSealKeys(database, { text: newKeyText(random) }, random)
  for (const sources of [{ file }, { defaultFile }, {}])
    await expect(findSealKeys(database, sources, random)).rejects.toBeInstanceOf(SealedStore)
  // A wrong key is a permanent error. A missing key may appear later.
  await expect(findSealKeys(database, { text: newKeyText(random) }, random)).rejects.not.toBeInstanceOf(SealedStore)
})

test("a retired key is removed from the store and from its file, without changing the rest", async () => {
  await using temporary = await temporaryDatabase(memory)
  const { database } = temporary
  const file = join(folder, "retired")
  const [one, two, three] = [newKeyText(random), newKeyText(random), newKeyText(random)]
  const idOf = (text: string) => parseKeyRing(text).current.id
  await writeFile(file, `# ours\n${one}, ${two} # both\n${three}\n`)
  await findSealKeys(database, { text: two }, random)
  await findSealKeys(database, { file }, random)
  expect(await rememberedKeyIds(database)).toEqual([idOf(two), idOf(one)])
  await forgetKeyId(database, idOf(two))
  await removeFromKeyFile(file, idOf(two))
  await removeFromKeyFile(file, idOf(three))
  expect(await readFile(file, "utf8")).toBe(`# ours\n${one} # both\n`.replace(`${one} `, one))
  const { ring } = await findSealKeys(database, { file }, random)
  expect([...ring.keys.keys()]).toEqual([idOf(one)])
  await expect(removeFromKeyFile(file, idOf(one))).rejects.toThrow("No seal key was given")
})
