// Sends all attacks, of which test/security/hostile sends a sample, to every endpoint on each kind of database. CHANCERY_SEED repeats a run
// that failed.
import { afterAll, describe, expect, test } from "vitest"
import { databaseKinds } from "../../engine/testing/temporary-database.ts"
import { openPkiTarget, openTarget } from "../security/hostile/attack.ts"
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
} from "../security/hostile/campaign.ts"
import { endpoints } from "../security/permissions/matrix.ts"
import { pkiEndpoints } from "../security/permissions/pki/matrix.ts"

const seed = Number(process.env["CHANCERY_SEED"] ?? Date.now() % 2 ** 31)
const { attackCount, runs, endpointsPerTarget } =
  process.env["CHANCERY_SHORT"] === "1"
    ? // Opening a target takes longer than this many attacks.
      { attackCount: 15, runs: 8, endpointsPerTarget: 30 }
    : // One target per endpoint, so that there is little data to compare after each request.
      { attackCount: Number.POSITIVE_INFINITY, runs: 300, endpointsPerTarget: 1 }
const kinds = databaseKinds.filter(({ name, available }) => available && name !== "SQLite memory")

describe.each(kinds)("on $name", (kind) => {
  const targets = sharedBy(endpointsPerTarget, () => openTarget(kind))
  const pkiTargets = sharedBy(endpointsPerTarget, () => openPkiTarget(kind))
  afterAll(async () => {
    await targets.close()
    await pkiTargets.close()
  })

  test.each(endpoints)(
    `%s handles malformed input (seed ${seed})`,
    async (endpoint) => {
      const target = await targets.next()
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
    `%s handles malformed input (seed ${seed})`,
    async (endpoint) => {
      const target = await pkiTargets.next()
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

/** Returns the same target `count` times, then another. */
function sharedBy<T extends AsyncDisposable>(count: number, open: () => Promise<T>) {
  let target: T | undefined
  let uses = 0
  const close = async () => {
    const last = target
    target = undefined
    await last?.[Symbol.asyncDispose]()
  }
  return {
    close,
    async next(): Promise<T> {
      if (uses % count === 0) await close()
      uses += 1
      target ??= await open()
      return target
    },
  }
}
