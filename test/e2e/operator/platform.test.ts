// A platform in one folder, applied and deleted in any order. The long form is `test/long/platform.test.ts`.
import { describe, expect, test } from "vitest"
import { findKubernetes } from "../../toolchain/kubernetes.ts"
import { sharedCluster } from "./cluster.ts"
import { runPlatformRounds } from "./platform-rounds.ts"

const seed = Number(process.env["CHANCERY_SEED"] ?? Date.now() % 1_000_000)
const rounds = 3

describe.skipIf(sharedCluster() === undefined)("a platform", () => {
  test(`is ready whatever the order in which it is applied, and leaves nothing whatever the order of deletion (seed ${seed})`, async () => {
    const programs = await findKubernetes()
    await expect(runPlatformRounds({ programs: programs!, rounds, seed })).resolves.toBeUndefined()
  })
})
