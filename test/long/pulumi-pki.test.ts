// Complete certificate scenarios with the real Pulumi engine, with the engine in the provider's process and with a server.
import { beforeAll, describe, expect, test } from "vitest"
import { twoTierPki } from "../examples/two-tier-pki.ts"
import {
  certificateStory,
  declareCertificate,
  prepareAuthority,
  signedStory,
} from "../e2e/pulumi/certificate-scenario.ts"
import { openFaultInjectingProxy } from "../e2e/pulumi/fault-injecting-proxy.ts"
import { issuerStory } from "../e2e/pulumi/issuer-scenario.ts"
import { buildProvider, openStack } from "../e2e/pulumi/stack.ts"
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

  test("authorities are made, signed elsewhere, brought along, renamed, repaired, replaced and taken away", async () => {
    await using stack = await openStack(pulumi ?? "", mode)
    await expect(issuerStory(stack)).resolves.toBeUndefined()
  })

  test("the example of two tiers comes, stays and goes", async () => {
    await using stack = await openStack(pulumi ?? "", mode)
    await expect(twoTierPki(stack)).resolves.toBeUndefined()
  })
})

test.skipIf(pulumi === undefined)("nothing is issued twice and left valid where answers are lost", async () => {
  await using stack = await openStack(pulumi ?? "", "remote")
  await using road = await openFaultInjectingProxy(stack.url)
  stack.setEnvironment({ CHANCERY_ENGINE_URL: road.url })
  const pki = await prepareAuthority(stack)
  const isIssuing = (method: string, path: string) => method === "POST" && path.endsWith("/issue/web")
  road.ahead.push({ matches: isIssuing, answer: "lost" })
  await stack.up(declareCertificate({ onDestroy: "revoke" }))
  expect(road.ahead).toEqual([])
  const statuses = async () => (await pki.certificates.search({ role: "web" })).items.map(({ status }) => status)
  expect((await statuses()).toSorted()).toEqual(["revoked", "valid"])
  await stack.destroy()
  expect(await statuses()).toEqual(["revoked", "revoked"])
})
