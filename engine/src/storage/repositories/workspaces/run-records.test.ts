import { assert, array, asyncProperty, constantFrom, nat, uint8Array } from "fast-check"
import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../../core/runtime.ts"
import { made } from "../../../../testing/users.ts"
import { populatedEngine } from "../../../../testing/populated-engine.ts"
import type { RunId } from "../../../core/ids.ts"
import { openDatabase } from "../../sql/database.ts"
import { keySealer, newKeyText, parseKeyRing } from "../../sealing/key-sealing.ts"
import { repositoriesOver } from "../repositories.ts"
import { databaseKinds } from "../../../../testing/temporary-database.ts"

const { random, clock } = systemRuntime()

async function newRun(url: string): Promise<RunId> {
  await using testEngine = await populatedEngine({ url })
  const workspace = await testEngine.workspace("web")
  const relationships = { workspace: { data: { type: "workspaces", id: workspace } } }
  const run = await made(testEngine, "POST", "/runs", { data: { type: "runs", attributes: {}, relationships } })
  return run.id as RunId
}

describe.each(databaseKinds.filter(({ available, name }) => available && name !== "SQLite memory"))(
  "the log of a run on $name",
  (kind) => {
    test("is read in any slices as it was written in any chunks", { timeout: 60_000 }, async () => {
      await using place = await kind.place()
      const id = await newRun(place.url)
      await using database = await openDatabase(place.url)
      const storage = repositoriesOver(database, keySealer(parseKeyRing(newKeyText(random)), random), clock)
      const whole = { plan: Buffer.alloc(0), apply: Buffer.alloc(0) }
      const piece = uint8Array({ minLength: 1, maxLength: 40_000 })
      await assert(
        asyncProperty(
          constantFrom("plan" as const, "apply" as const),
          array(piece, { minLength: 1, maxLength: 3 }),
          nat(),
          nat(90_000),
          async (stage, pieces, somewhere, size) => {
            for (const bytes of pieces) {
              await storage.transact(({ runRecords }) => runRecords.appendLog(id, stage, bytes))
              whole[stage] = Buffer.concat([whole[stage], bytes])
            }
            const start = somewhere % (whole[stage].length + 10)
            await storage.read(async ({ runRecords }) => {
              expect(await runRecords.logSize(id, stage)).toBe(whole[stage].length)
              const read = await runRecords.readLog(id, stage, start, size)
              expect(Buffer.compare(read, whole[stage].subarray(start, start + size))).toBe(0)
            })
          },
        ),
        { numRuns: 25 },
      )
    })

    test("of many short lines is stored in few rows", async () => {
      await using place = await kind.place()
      const id = await newRun(place.url)
      await using database = await openDatabase(place.url)
      const storage = repositoriesOver(database, keySealer(parseKeyRing(newKeyText(random)), random), clock)
      const line = Buffer.alloc(1_000, "x")
      for (let count = 0; count < 150; count += 1)
        await storage.transact(({ runRecords }) => runRecords.appendLog(id, "plan", line))
      const rows = await database.read((session) => session.queryMany(session.db.selectFrom("run_logs").select("size")))
      expect(rows.map(({ size }) => size).toSorted((one, other) => other - one)).toEqual([65_000, 65_000, 20_000])
    })
  },
)
