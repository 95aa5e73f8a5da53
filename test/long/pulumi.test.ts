// Whole stories by the real Pulumi engine, with the engine in the provider's process and with a server.
import { beforeAll, describe, expect, test } from "vitest"
import { buildProvider, openStack } from "../pulumi/stack.ts"
import { workspaceStory } from "../pulumi/workspace-story.ts"
import { pulumiProgram } from "../toolchain/pulumi.ts"

const pulumi = await pulumiProgram()

beforeAll(buildProvider)

describe.skipIf(pulumi === undefined).each(["embedded", "remote"] as const)("with the %s engine", (mode) => {
  test("workspaces and tags are made, changed, repaired and taken away", async () => {
    await using stack = await openStack(pulumi ?? "", mode)
    await expect(workspaceStory(stack)).resolves.toBeUndefined()
  })
})
