import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { certbot, challengeResponder } from "../../toolchain/acme.ts"
import { publicProgram } from "../../toolchain/public-program.ts"
import { certbotAccount, certbotClient } from "./acme-certbot.ts"
import { runOrder, rowsOf } from "./acme-matrix.ts"
import { type AcmeFixture, namesInChain, openAcmeFixture } from "./acme-fixture.ts"

const program = (await publicProgram(certbot)) ?? ""
const responder = (await publicProgram(challengeResponder)) ?? ""

describe.skipIf(program === "" || responder === "")("[P-1-n4] certbot", () => {
  let fixture: AcmeFixture

  beforeAll(async () => {
    fixture = await openAcmeFixture(responder)
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const client = certbotClient({ name: "certbot", program, ordersAddresses: false })
  test.concurrent.each(rowsOf(client))("$title: obtains, renews and revokes", async (row) => {
    expect(await runOrder(client, fixture, row)).toEqual(row.outcome)
  })

  test.concurrent("gets the preferred chain, revokes with the certificate's own key, and deactivates the account", async () => {
    const account = await certbotAccount(program, fixture, { id: "dns", directory: fixture.directory() })
    const { folder, succeeds, manually, bundleOf } = account
    await succeeds(...manually("dns-01"), "-d", "example.org", "--preferred-chain", "Other Root")
    const bundle = await bundleOf("example.org")
    expect(namesInChain(bundle, fixture.otherRoot)).toEqual(["DNS:example.org"])
    expect(() => namesInChain(bundle, fixture.root)).toThrow("verify")

    const file = (name: string) => join(folder, "live/example.org", name)
    const key = ["--key-path", file("privkey.pem"), "--cert-path", file("cert.pem"), "--no-delete-after-revoke"]
    await succeeds("revoke", "--reason", "keycompromise", ...key)
    expect(await fixture.revocation(bundle)).toBe("Key Compromise")
    await succeeds("unregister")
  })

  test.concurrent("reports that an account needs an external account binding", async () => {
    const unbound = await certbotAccount(program, fixture, { id: "unbound", directory: fixture.bound.directory() })
    expect(await unbound.run(...unbound.manually("http-01"), "-d", "unbound.example.com")).toMatchObject({
      code: 1,
      text: expect.stringMatching(/external account/i),
    })
  })
})
