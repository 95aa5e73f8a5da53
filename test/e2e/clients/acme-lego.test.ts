import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { challengeResponder, lego } from "../../toolchain/acme.ts"
import { publicProgram } from "../../toolchain/public-program.ts"
import { legoAccount, legoAnswers, legoClient, legoRenewal } from "./acme-lego.ts"
import { runOrder, rowsOf } from "./acme-matrix.ts"
import { type AcmeFixture, namesInChain, openAcmeFixture } from "./acme-fixture.ts"

const program = (await publicProgram(lego)) ?? ""
const responder = (await publicProgram(challengeResponder)) ?? ""
const host = "127.0.0.99"

describe.skipIf(program === "" || responder === "")("lego", () => {
  let fixture: AcmeFixture

  beforeAll(async () => {
    fixture = await openAcmeFixture(responder)
    for (const name of ["kept.example.net", "unbound.example.net"])
      await fixture.responder.tell("add-a", { host: name, addresses: [host] })
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const client = legoClient(program)
  test.concurrent.each(rowsOf(client))("$title: obtains, renews and revokes", async (row) => {
    expect(await runOrder(client, fixture, row)).toEqual(row.outcome)
  })

  test.concurrent("gets the preferred chain, renews with the existing key, and sends a revocation reason", async () => {
    const { succeeds, bundleOf } = await legoAccount(program, fixture, { id: "kept", directory: fixture.directory() })
    const wanted = [...legoAnswers(fixture, "tls-alpn-01", host), "-d", "kept.example.net"]
    const preferred = ["--preferred-chain", "Other Root"]
    await succeeds(...wanted, "--key-type", "ec384", "run", ...preferred)
    expect(namesInChain(await bundleOf("kept.example.net"), fixture.otherRoot)).toEqual(["DNS:kept.example.net"])
    await succeeds(...wanted, ...legoRenewal, "--reuse-key", ...preferred)
    const renewed = await bundleOf("kept.example.net")
    expect(namesInChain(renewed, fixture.otherRoot)).toEqual(["DNS:kept.example.net"])
    await succeeds("-d", "kept.example.net", "revoke", "--reason", "1")
    expect(await fixture.revocation(renewed)).toBe("Key Compromise")
  })

  test.concurrent("reports that an account needs an external account binding", async () => {
    const { run } = await legoAccount(program, fixture, { id: "unbound", directory: fixture.bound.directory() })
    expect(await run(...legoAnswers(fixture, "http-01", host), "-d", "unbound.example.net", "run")).toMatchObject({
      code: 1,
      text: expect.stringContaining("requires External Account Binding"),
    })
  })
})
