// The complete example, with the real Pulumi engine and a server; test/long runs it with an engine in the provider's process.
import { beforeAll, expect, test } from "vitest"
import { buildProvider, openStack } from "../e2e/pulumi/stack.ts"
import { pulumiProgram } from "../toolchain/pulumi.ts"
import { twoTierPki } from "./two-tier-pki.ts"

const pulumi = await pulumiProgram()

beforeAll(buildProvider)

test.skipIf(pulumi === undefined)("two tiers of authorities are created, kept and destroyed", async () => {
  await using stack = await openStack(pulumi ?? "", "remote")
  await expect(twoTierPki(stack)).resolves.toBeUndefined()
})
