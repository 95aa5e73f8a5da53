import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { challengeResponder, lego } from "../../toolchain/acme.ts"
import { publicProgram } from "../../toolchain/public-program.ts"
import { legoAccount, legoAnswers, legoClient, legoRenewal } from "./acme-lego.ts"
import { putThrough, rowsOf } from "./acme-matrix.ts"
import { type AcmeStage, namesInChain, openAcmeStage } from "./acme-fixture.ts"

const program = (await publicProgram(lego)) ?? ""
const responder = (await publicProgram(challengeResponder)) ?? ""
const host = "127.0.0.99"

describe.skipIf(program === "" || responder === "")("lego", () => {
  let stage: AcmeStage

  beforeAll(async () => {
    stage = await openAcmeStage(responder)
    for (const name of ["kept.example.net", "unbound.example.net"])
      await stage.responder.tell("add-a", { host: name, addresses: [host] })
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  const client = legoClient(program)
  test.concurrent.each(rowsOf(client))("$title: obtains, renews and revokes", async (row) => {
    expect(await putThrough(client, stage, row)).toEqual(row.outcome)
  })

  test.concurrent("gets the preferred chain, renews with the existing key, and sends a revocation reason", async () => {
    const { succeeds, bundleOf } = await legoAccount(program, stage, { id: "kept", directory: stage.directory() })
    const wanted = [...legoAnswers(stage, "tls-alpn-01", host), "-d", "kept.example.net"]
    const preferred = ["--preferred-chain", "Other Root"]
    await succeeds(...wanted, "--key-type", "ec384", "run", ...preferred)
    expect(namesInChain(await bundleOf("kept.example.net"), stage.otherRoot)).toEqual(["DNS:kept.example.net"])
    await succeeds(...wanted, ...legoRenewal, "--reuse-key", ...preferred)
    const renewed = await bundleOf("kept.example.net")
    expect(namesInChain(renewed, stage.otherRoot)).toEqual(["DNS:kept.example.net"])
    await succeeds("-d", "kept.example.net", "revoke", "--reason", "1")
    expect(await stage.revocation(renewed)).toBe("Key Compromise")
  })

  test.concurrent("reports that an account needs an external account binding", async () => {
    const { run } = await legoAccount(program, stage, { id: "unbound", directory: stage.bound.directory() })
    expect(await run(...legoAnswers(stage, "http-01", host), "-d", "unbound.example.net", "run")).toMatchObject({
      code: 1,
      text: expect.stringContaining("requires External Account Binding"),
    })
  })
})
