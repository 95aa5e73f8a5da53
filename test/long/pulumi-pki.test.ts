// Complete certificate scenarios with the real Pulumi engine, with the engine in the provider's process and with a server.
import { beforeAll, describe, expect, test } from "vitest"
import { twoTierPki } from "../examples/two-tier-pki.ts"
import {
  certificateScenario,
  declareCertificate,
  prepareAuthority,
  signedScenario,
} from "../e2e/pulumi/certificate-scenario.ts"
import { openFaultInjectingProxy } from "../e2e/pulumi/fault-injecting-proxy.ts"
import { issuerScenario } from "../e2e/pulumi/issuer-scenario.ts"
import { buildProvider, openStack } from "../e2e/pulumi/stack.ts"
import { pulumiProgram } from "../toolchain/pulumi.ts"
import { sampleOf } from "./sample.ts"

const pulumi = await pulumiProgram()

beforeAll(buildProvider)

describe.skipIf(pulumi === undefined).each(sampleOf(["embedded", "remote"] as const, 10))(
  "with the %s engine",
  (mode) => {
    test("a certificate is issued, renewed when due, and revoked, and no state contains its key in plain text", async () => {
      await using stack = await openStack(pulumi ?? "", mode)
      await expect(certificateScenario(stack)).resolves.toBeUndefined()
    })

    test("requests are signed by a role, verbatim and as an intermediate, and certificates are revoked permanently", async () => {
      await using stack = await openStack(pulumi ?? "", mode)
      await expect(signedScenario(stack)).resolves.toBeUndefined()
    })

    test("authorities are created, signed elsewhere, imported, renamed, repaired, replaced and deleted", async () => {
      await using stack = await openStack(pulumi ?? "", mode)
      await expect(issuerScenario(stack)).resolves.toBeUndefined()
    })

    test("the example of two tiers is created, kept and destroyed", async () => {
      await using stack = await openStack(pulumi ?? "", mode)
      await expect(twoTierPki(stack)).resolves.toBeUndefined()
    })
  },
)

test.skipIf(pulumi === undefined)("no certificate is issued twice and left valid when responses are lost", async () => {
  await using stack = await openStack(pulumi ?? "", "remote")
  await using proxy = await openFaultInjectingProxy(stack.url)
  stack.setEnvironment({ CHANCERY_ENGINE_URL: proxy.url })
  const pki = await prepareAuthority(stack)
  const isIssuing = (method: string, path: string) => method === "POST" && path.endsWith("/issue/web")
  proxy.nextFaults.push({ matches: isIssuing, answer: "lost" })
  await stack.up(declareCertificate({ onDestroy: "revoke" }))
  expect(proxy.nextFaults).toEqual([])
  const statuses = async () => (await pki.certificates.search({ role: "web" })).items.map(({ status }) => status)
  expect((await statuses()).toSorted()).toEqual(["revoked", "valid"])
  await stack.destroy()
  expect(await statuses()).toEqual(["revoked", "revoked"])
})
