import { beforeAll, expect, test } from "vitest"
import { pulumiProgram } from "../../toolchain/pulumi.ts"
import { importScenario } from "./import-scenario.ts"
import { buildProvider, openStack } from "./stack.ts"

const pulumi = await pulumiProgram()

beforeAll(buildProvider)

// test/long runs this scenario with a server.
test.skipIf(pulumi === undefined)("pulumi import brings every existing resource into a stack unchanged", async () => {
  await using stack = await openStack(pulumi ?? "", "embedded")
  await expect(importScenario(stack)).resolves.toBeUndefined()
})
