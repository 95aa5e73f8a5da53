// A stack, an object and a script own tags of one workspace through a hundred updates and removals, three at a time. A seed repeats the
// sequence.
import { beforeAll, expect, test } from "vitest"
import { seededRandom } from "../../engine/testing/seeded-random.ts"
import { openCluster } from "../e2e/operator/cluster.ts"
import { startControlPlane } from "../e2e/operator/control-plane.ts"
import { administrator, connect, startReplica } from "../e2e/operator/fixture.ts"
import { threeOwners } from "../e2e/pulumi/tag-owners-scenario.ts"
import { buildProvider, openStack } from "../e2e/pulumi/stack.ts"
import { findKubernetes, kubernetesInstallation } from "../toolchain/kubernetes.ts"
import { warnMissing } from "../toolchain/missing.ts"
import { pulumiProgram } from "../toolchain/pulumi.ts"

const rounds = process.env["CHANCERY_SHORT"] === "1" ? 3 : 34
const seed = Number(process.env["CHANCERY_SEED"] ?? Date.now() % 2 ** 32)
const namespace = "tag-owners"
const programs = (await findKubernetes()) ?? warnMissing(kubernetesInstallation)
const pulumi = await pulumiProgram()

beforeAll(buildProvider)

test.skipIf(programs === undefined || pulumi === undefined)(
  `three owners of one workspace's tags never touch each other's (seed ${seed})`,
  { timeout: 3_600_000 },
  async () => {
    await using controlPlane = await startControlPlane(programs!)
    const cluster = openCluster(controlPlane)
    await cluster.installDefinitions()
    const config = await cluster.operatorAccess(namespace)
    await using stack = await openStack(pulumi!, "remote")
    await using administrating = administrator(cluster.adminAccess())
    const actor = administrating.in(namespace)
    await using stopping = new AsyncDisposableStack()
    const replica = startReplica(config, namespace, "one", { watched: [namespace] })
    stopping.defer(async () => void (await replica.end()))
    await connect(actor, stack)
    const scenario = { stack, actor, namespace, rounds, random: seededRandom(seed) }
    for await (const { is, shall } of threeOwners(scenario)) expect(is).toEqual(shall)
  },
)
