import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { silentLog, systemRuntime } from "../../core/runtime.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { manualTimers } from "../../../testing/manual-timers.ts"
import { followSealKeys } from "./follow-seal-keys.ts"
import { keySealer, newKeyText, parseKeyRing, sealKeyIdOf } from "./key-sealing.ts"
import { findSealKeys, rememberedKeyIds, rotateKeyFile } from "./seal-keys.ts"
import { databaseKinds, temporaryDatabase } from "../../../testing/temporary-database.ts"

const { random } = systemRuntime()
const memory = databaseKinds.find(({ name }) => name === "SQLite memory")
if (memory === undefined) throw new Error("no SQLite memory")

async function followed() {
  const folder = await mkdtemp(join(tmpdir(), "chancery-keys-"))
  const temporary = await temporaryDatabase(memory ?? databaseKinds[1]!)
  const { database } = temporary
  const file = join(folder, "seal-key")
  await writeFile(file, newKeyText(random))
  const found = await findSealKeys(database, { file }, random)
  const timers = manualTimers(manualClock())
  const logged: string[] = []
  const record = (event: string) => void logged.push(event)
  const log = { ...silentLog, info: record, error: record }
  const { sealer, ...rest } = followSealKeys(database, { file }, found, { random, log, timers })
  onTestFinished(async () => {
    rest[Symbol.dispose]()
    await temporary[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })
  const usedKey = () => sealKeyIdOf(sealer.seal("a", Buffer.of(1)))
  return {
    database,
    file,
    timers,
    logged,
    sealer,
    usedKey,
    firstId: found.ring.current.id,
    dispose: rest[Symbol.dispose],
  }
}

test("a key that is added first in the file is used within a second, after its id is stored", async () => {
  const { database, file, timers, logged, sealer, usedKey, firstId } = await followed()
  const before = sealer.seal("a", Buffer.from("secret"))
  expect(usedKey()).toBe(firstId)
  const { current } = await rotateKeyFile(file, random)
  await timers.advance(1_000)
  await expect.poll(usedKey).toBe(current.id)
  expect(await rememberedKeyIds(database)).toEqual([firstId, current.id])
  expect(Buffer.from(sealer.open("a", before)).toString()).toBe("secret")
  expect(logged).toEqual(["seal-key-replaced"])
})

test("a value under a key that is in the file already opens at once", async () => {
  const { file, sealer } = await followed()
  const ring = await rotateKeyFile(file, random)
  const sealed = keySealer(ring, random).seal("a", Buffer.from("secret"))
  expect(Buffer.from(sealer.open("a", sealed)).toString()).toBe("secret")
})

test("a value under an unknown key does not open, and the error says that the engine is sealed", async () => {
  const { sealer } = await followed()
  const sealed = keySealer(parseKeyRing(newKeyText(random)), random).seal("a", Buffer.from("secret"))
  expect(() => sealer.open("a", sealed)).toThrow(
    expect.objectContaining({
      code: "out-of-service",
      message: expect.stringContaining("is not among its seal keys") as string,
    }),
  )
})

test.each([
  { what: "is broken", text: "no key\n" },
  { what: "contains another key without the current one", text: `${newKeyText(random)}\n` },
])("a key file that $what changes nothing, is logged once, and is used when it is corrected", async ({ text }) => {
  const { file, timers, logged, usedKey, firstId } = await followed()
  // The first check reads the keys that are known already.
  await timers.advance(1_000)
  await expect.poll(() => timers.pendingCount).toBe(1)
  const original = await readFile(file, "utf8")
  await writeFile(file, text)
  for (let look = 0; look < 5; look += 1) {
    await timers.advance(1_000)
    await expect.poll(() => timers.pendingCount).toBe(1)
  }
  expect([usedKey(), logged]).toEqual([firstId, ["seal-keys-not-replaced"]])
  const mended = `${newKeyText(random)}\n${original}`
  await writeFile(file, mended)
  await timers.advance(1_000)
  await expect.poll(usedKey).toBe(parseKeyRing(mended).current.id)
})

test("a key file that is missing for a while has no effect", async () => {
  const { file, timers, sealer, usedKey, firstId } = await followed()
  const sealed = sealer.seal("a", Buffer.from("secret"))
  await rm(file)
  for (let look = 0; look < 3; look += 1) {
    await timers.advance(1_000)
    await expect.poll(() => timers.pendingCount).toBe(1)
  }
  expect(usedKey()).toBe(firstId)
  expect(Buffer.from(sealer.open("a", sealed)).toString()).toBe("secret")
})

test("the key file is not read after disposal", async () => {
  const { timers, dispose } = await followed()
  dispose()
  expect(timers.pendingCount).toBe(0)
})
