// Every endpoint, on each store, with all that test/hostile sends a sample of. CHANCERY_SEED repeats a run that failed.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { databaseKinds } from "../../engine/src/storage/temporary-database.ts"
import { openTarget, type Target } from "../hostile/attack.ts"
import {
  complaintsOf,
  mutate,
  validRequest,
  wrongBodies,
  wrongMembers,
  wrongPaths,
  wrongQueries,
} from "../hostile/campaign.ts"
import { endpoints } from "../permissions/matrix.ts"

const seed = Number(process.env["CHANCERY_SEED"] ?? Date.now() % 2 ** 31)
const runs = process.env["CHANCERY_SHORT"] === "1" ? 20 : 300
const kinds = databaseKinds.filter(({ name, available }) => available && name !== "SQLite memory")

describe.each(kinds)("on $name", (kind) => {
  let target: Target
  beforeAll(async () => {
    target = await openTarget(kind)
  })
  afterAll(() => target[Symbol.asyncDispose]())

  test.each(endpoints)(
    `%s takes nothing amiss (seed ${seed})`,
    async (endpoint) => {
      const valid = await validRequest(target, endpoint)
      const attacks = [
        ...(valid.body === undefined ? [] : wrongBodies(valid)),
        ...wrongMembers(valid),
        ...wrongPaths(endpoint, valid),
        ...wrongQueries(valid),
      ]
      expect(await complaintsOf(target, attacks)).toEqual([])
      await mutate(target, endpoint, { runs, seed })
    },
    600_000,
  )
})
