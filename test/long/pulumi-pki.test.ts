// Whole stories of certificates by the real Pulumi engine, with the engine in the provider's process and with a server.
import { beforeAll, describe, expect, test } from "vitest"
import { twoTierPki } from "../examples/two-tier-pki.ts"
import { certificateStory, signedStory } from "../pulumi/certificate-story.ts"
import { buildProvider, openStack } from "../pulumi/stack.ts"
import { pulumiProgram } from "../toolchain/pulumi.ts"

const pulumi = await pulumiProgram()

beforeAll(buildProvider)

describe.skipIf(pulumi === undefined).each(["embedded", "remote"] as const)("with the %s engine", (mode) => {
  test("a certificate is issued, renewed when it is due, and revoked, and its key is read in no state", async () => {
    await using stack = await openStack(pulumi ?? "", mode)
    await expect(certificateStory(stack)).resolves.toBeUndefined()
  })

  test("requests are signed by a role, verbatim and for an intermediate, and certificates are revoked for ever", async () => {
    await using stack = await openStack(pulumi ?? "", mode)
    await expect(signedStory(stack)).resolves.toBeUndefined()
  })

  test("the example of two tiers comes, stays and goes", async () => {
    await using stack = await openStack(pulumi ?? "", mode)
    await expect(twoTierPki(stack)).resolves.toBeUndefined()
  })
})
