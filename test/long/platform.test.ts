// A platform in one folder, applied and deleted in random orders many times. A seed repeats the orders.
import { expect, test } from "vitest"
import { runPlatformRounds } from "../e2e/operator/platform-rounds.ts"
import { findKubernetes, kubernetesInstallation } from "../toolchain/kubernetes.ts"
import { warnMissing } from "../toolchain/missing.ts"

const seed = Number(process.env["CHANCERY_SEED"] ?? Date.now() % 1_000_000)
const rounds = process.env["CHANCERY_SHORT"] === "1" ? 5 : 50
const programs = (await findKubernetes()) ?? warnMissing(kubernetesInstallation)

test.skipIf(programs === undefined)(
  `a platform is applied and deleted ${rounds} times in any order (seed ${seed})`,
  { timeout: 7_200_000 },
  async () => {
    await expect(runPlatformRounds({ programs: programs!, rounds, seed })).resolves.toBeUndefined()
  },
)
