import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { challengeResponder, dehydrated } from "../../toolchain/acme.ts"
import { publicProgram } from "../../toolchain/public-program.ts"
import { dehydratedAccount, dehydratedClient } from "./acme-dehydrated.ts"
import { runOrder, rowsOf } from "./acme-matrix.ts"
import { type AcmeFixture, namesInChain, openAcmeFixture, responderHost } from "./acme-fixture.ts"

const program = (await publicProgram(dehydrated)) ?? ""
const responder = (await publicProgram(challengeResponder)) ?? ""

describe.skipIf(program === "" || responder === "")("dehydrated", () => {
  let fixture: AcmeFixture

  beforeAll(async () => {
    fixture = await openAcmeFixture(responder)
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const client = dehydratedClient(program)
  test.concurrent.each(rowsOf(client))("$title: obtains, renews and revokes", async (row) => {
    expect(await runOrder(client, fixture, row)).toEqual(row.outcome)
  })

  const common = { challenge: "dns-01", binding: undefined, host: responderHost } as const

  test.concurrent("gets the preferred chain, and deactivates the account", async () => {
    const directory = fixture.directory()
    const { run, succeeds, bundleOf } = await dehydratedAccount(program, fixture, { ...common, id: "kept", directory })
    await succeeds("--register", "--accept-terms")
    const wanted = ["--cron", "--alias", "kept", "--domain", "example.edu"]
    // With OpenSSL 3 some releases take the whole subject line for the issuer's name. An unknown chain makes dehydrated list the names.
    const { text } = await run(...wanted, "--preferred-chain", "Nobody")
    const options = /available options: (.*)/.exec(text)?.[1]?.split(", ") ?? []
    expect(new Set(options)).toEqual(
      new Set([expect.stringMatching(/\bRoot$/), expect.stringMatching(/\bOther Root$/)]),
    )
    const other = options.find((name) => name.endsWith("Other Root")) ?? ""
    await succeeds(...wanted, "--preferred-chain", other)
    expect(namesInChain(await bundleOf("kept"), fixture.otherRoot)).toEqual(["DNS:example.edu"])
    await succeeds("--account")
    await succeeds("--deactivate")
  })

  test.concurrent("reports that an account needs an external account binding", async () => {
    const directory = fixture.bound.directory()
    const { run } = await dehydratedAccount(program, fixture, { ...common, id: "unbound", directory })
    expect((await run("--register", "--accept-terms")).text).toContain("EAB")
  })
})
