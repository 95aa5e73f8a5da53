import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { challengeResponder, dehydrated } from "../../toolchain/acme.ts"
import { publicProgram } from "../../toolchain/public-program.ts"
import { dehydratedAccount, dehydratedClient } from "./acme-dehydrated.ts"
import { putThrough, rowsOf } from "./acme-matrix.ts"
import { type AcmeStage, namesInChain, openAcmeStage, responderHost } from "./acme-fixture.ts"

const program = (await publicProgram(dehydrated)) ?? ""
const responder = (await publicProgram(challengeResponder)) ?? ""

describe.skipIf(program === "" || responder === "")("dehydrated", () => {
  let stage: AcmeStage

  beforeAll(async () => {
    stage = await openAcmeStage(responder)
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  const client = dehydratedClient(program)
  test.concurrent.each(rowsOf(client))("$title: obtains, renews and revokes", async (row) => {
    expect(await putThrough(client, stage, row)).toEqual(row.outcome)
  })

  const common = { challenge: "dns-01", binding: undefined, host: responderHost } as const

  test.concurrent("gets the preferred chain, and deactivates the account", async () => {
    const directory = stage.directory()
    const { run, succeeds, bundleOf } = await dehydratedAccount(program, stage, { ...common, id: "kept", directory })
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
    expect(namesInChain(await bundleOf("kept"), stage.otherRoot)).toEqual(["DNS:example.edu"])
    await succeeds("--account")
    await succeeds("--deactivate")
  })

  test.concurrent("reports that an account needs an external account binding", async () => {
    const directory = stage.bound.directory()
    const { run } = await dehydratedAccount(program, stage, { ...common, id: "unbound", directory })
    expect((await run("--register", "--accept-terms")).text).toContain("EAB")
  })
})
