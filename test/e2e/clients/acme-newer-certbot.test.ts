// A current certbot: it queries renewal information, selects profiles, and orders certificates for IP addresses.
import { X509Certificate } from "node:crypto"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { challengeResponder, newerCertbot } from "../../toolchain/acme.ts"
import { publicProgram } from "../../toolchain/public-program.ts"
import { certbotAccount, certbotClient } from "./acme-certbot.ts"
import { runOrder, rowsOf } from "./acme-matrix.ts"
import { type AcmeFixture, namesInChain, openAcmeFixture } from "./acme-fixture.ts"

const program = (await publicProgram(newerCertbot)) ?? ""
const responder = (await publicProgram(challengeResponder)) ?? ""

describe.skipIf(program === "" || responder === "")("certbot 5", () => {
  let fixture: AcmeFixture

  beforeAll(async () => {
    fixture = await openAcmeFixture(responder)
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const client = certbotClient({ name: "certbot 5", program, ordersAddresses: true })
  test.concurrent.each(rowsOf(client))("$title: obtains, renews and revokes", async (row) => {
    expect(await runOrder(client, fixture, row)).toEqual(row.outcome)
  })

  test.concurrent("renews at once when the server asks for it, and nothing too early (RFC 9773)", async () => {
    const account = await certbotAccount(program, fixture, { id: "told", directory: fixture.directory() })
    const { succeeds, manually, bundleOf } = account
    for (const name of ["kept.example.net", "gone.example.net"]) await succeeds(...manually("dns-01"), "-d", name)
    const valid = await bundleOf("kept.example.net")
    const revoked = await bundleOf("gone.example.net")
    await fixture.revoke(revoked)
    const output = await succeeds("renew", "--no-random-sleep-on-renew")
    expect(output).toMatch(/not due for renewal[^]*kept\.example\.net/)
    expect(await bundleOf("kept.example.net")).toBe(valid)
    const renewed = await bundleOf("gone.example.net")
    expect(renewed).not.toBe(revoked)
    expect(namesInChain(renewed, fixture.root)).toEqual(["DNS:gone.example.net"])
    expect(await fixture.revocation(renewed)).toBeUndefined()
  })

  test.concurrent("chooses a profile, with the lifetime of its role, and is rejected for an unknown profile", async () => {
    const account = await certbotAccount(program, fixture, { id: "profiled", directory: fixture.directory() })
    const { run, succeeds, manually, bundleOf } = account
    const wanted = [...manually("dns-01"), "-d", "brief.example.net"]
    await succeeds(...wanted, "--required-profile", "brief")
    const { validFromDate, validToDate } = new X509Certificate(await bundleOf("brief.example.net"))
    expect(validToDate.getTime() - validFromDate.getTime()).toBeLessThan(2 * 3_600_000)
    const refused = await run(...wanted, "--force-renewal", "--required-profile", "endless")
    expect(refused).toMatchObject({ code: 1, text: expect.stringContaining("endless") })
  })
})
