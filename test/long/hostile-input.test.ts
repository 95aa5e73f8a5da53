// Every endpoint, on each store, with all that test/hostile sends a sample of. CHANCERY_SEED repeats a run that failed.
import { describe, expect, test } from "vitest"
import { databaseKinds } from "../../engine/src/storage/temporary-database.ts"
import { openPkiTarget, openTarget } from "../hostile/attack.ts"
import {
  complaintsOf,
  mutate,
  sampled,
  validPkiRequest,
  validRequest,
  wrongBodies,
  wrongMembers,
  wrongPaths,
  wrongPkiQueries,
  wrongQueries,
} from "../hostile/campaign.ts"
import { endpoints } from "../permissions/matrix.ts"
import { pkiEndpoints } from "../permissions/pki/matrix.ts"

const seed = Number(process.env["CHANCERY_SEED"] ?? Date.now() % 2 ** 31)
const { attackCount, runs } =
  process.env["CHANCERY_SHORT"] === "1"
    ? { attackCount: 40, runs: 20 }
    : { attackCount: Number.POSITIVE_INFINITY, runs: 300 }
const kinds = databaseKinds.filter(({ name, available }) => available && name !== "SQLite memory")

describe.each(kinds)("on $name", (kind) => {
  test.each(endpoints)(
    `%s takes nothing amiss (seed ${seed})`,
    async (endpoint) => {
      // Of its own, so that there is little to compare after each request.
      await using target = await openTarget(kind)
      const valid = await validRequest(target, endpoint)
      const attacks = [
        ...(valid.body === undefined ? [] : wrongBodies(valid)),
        ...wrongMembers(valid),
        ...wrongPaths(endpoint, valid),
        ...wrongQueries(valid),
      ]
      expect(await complaintsOf(target, sampled(attacks, attackCount, seed))).toEqual([])
      await mutate(target, () => validRequest(target, endpoint), { runs, seed })
    },
    600_000,
  )

  test.each(pkiEndpoints)(
    `%s takes nothing amiss (seed ${seed})`,
    async (endpoint) => {
      await using target = await openPkiTarget(kind)
      const valid = await validPkiRequest(target, endpoint)
      const attacks = [
        ...(valid.body === undefined ? [] : wrongBodies(valid)),
        ...wrongMembers(valid),
        ...wrongPaths(endpoint, valid),
        ...wrongPkiQueries(valid),
      ]
      expect(await complaintsOf(target, sampled(attacks, attackCount, seed))).toEqual([])
      await mutate(target, () => validPkiRequest(target, endpoint), { runs, seed })
    },
    600_000,
  )
})
