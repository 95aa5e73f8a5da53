// A few rounds of the scenario that test/long runs a hundred times.
import { beforeAll, describe, expect, test } from "vitest"
import { seededRandom } from "../../../engine/testing/seeded-random.ts"
import { buildProvider, openStack } from "../pulumi/stack.ts"
import { pulumiProgram } from "../../toolchain/pulumi.ts"
import { sharedCluster } from "./cluster.ts"
import { administrator, connect, startReplica } from "./fixture.ts"
import { threeOwners } from "../pulumi/tag-owners-scenario.ts"

const cluster = sharedCluster()
const pulumi = await pulumiProgram()
const namespace = "tag-owners"
const rounds = 3

describe.skipIf(cluster === undefined || pulumi === undefined)("three owners of one workspace's tags", () => {
  beforeAll(buildProvider)

  test("a stack, an object and a script never change each other's tags", { timeout: 600_000 }, async () => {
    const config = await cluster!.operatorAccess(namespace)
    await using stack = await openStack(pulumi!, "remote")
    await using administrating = administrator(cluster!.adminAccess())
    const actor = administrating.in(namespace)
    await using stopping = new AsyncDisposableStack()
    const replica = startReplica(config, namespace, "one", { watched: [namespace] })
    stopping.defer(async () => void (await replica.end()))
    await connect(actor, stack)
    const scenario = { stack, actor, namespace, rounds, random: seededRandom(7) }
    for await (const { is, shall } of threeOwners(scenario)) expect(is).toEqual(shall)
  })
})
