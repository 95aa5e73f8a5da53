// lego as its users run it: it answers HTTP and TLS by itself. This release orders no addresses.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { challengeResponder, lego as legoProgram } from "../toolchain/acme.ts"
import { publicProgram } from "../toolchain/public-program.ts"
import { type AcmeStage, namesInChain, openAcmeStage, ownHost, printed, readText, writeHook } from "./acme-stage.ts"

const program = (await publicProgram(legoProgram)) ?? ""
const responder = (await publicProgram(challengeResponder)) ?? ""

describe.skipIf(program === "" || responder === "")("lego", () => {
  let stage: AcmeStage
  let hook: string

  beforeAll(async () => {
    stage = await openAcmeStage(responder)
    hook = await writeHook(
      stage,
      "lego",
      `case $1 in
present) tell set-txt "{\\"host\\":\\"$2\\",\\"value\\":\\"$3\\"}" ;;
cleanup) tell clear-txt "{\\"host\\":\\"$2\\"}" ;;
esac`,
    )
    for (const name of ["a", "b", "bound", "tls"].map((label) => `${label}.example.net`))
      await stage.responder.tell("add-a", { host: name, addresses: [ownHost] })
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  const lego = (account: string, words: readonly string[]) => {
    const common = ["--path", `${stage.folder}/${account}`, "--server", stage.directory(), "--accept-tos"]
    return stage.run(program, [...common, "--email", "ops@example.com", ...words], {
      environment: {
        LEGO_CA_CERTIFICATES: stage.rootFile,
        EXEC_PATH: hook,
        EXEC_POLLING_INTERVAL: "1",
        EXEC_SEQUENCE_INTERVAL: "1",
      },
    })
  }
  const succeeds = async (account: string, ...words: readonly string[]) => printed(await lego(account, words))
  const http = () => ["--http", "--http.port", `${ownHost}:${stage.responder.httpPort}`]
  const bundleOf = (account: string, name: string) => readText(stage.folder, account, "certificates", `${name}.crt`)
  const renewal = ["renew", "--days", "9999", "--no-random-sleep"]

  test.concurrent("gets a certificate for several names over http-01, renews it and revokes it", async () => {
    const names = ["-d", "a.example.net", "-d", "b.example.net"]
    await succeeds("http", ...http(), ...names, "run")
    const first = await bundleOf("http", "a.example.net")
    expect(namesInChain(first, stage.root)).toEqual(["DNS:a.example.net", "DNS:b.example.net"])

    await succeeds("http", ...http(), ...names, ...renewal)
    const renewed = await bundleOf("http", "a.example.net")
    expect(renewed).not.toBe(first)
    expect(namesInChain(renewed, stage.root)).toEqual(["DNS:a.example.net", "DNS:b.example.net"])

    await succeeds("http", "-d", "a.example.net", "revoke", "--reason", "4")
    expect(await stage.revocation(renewed)).toBe("Superseded")
    expect(await stage.revocation(first)).toBeUndefined()
  })

  test.concurrent("gets one over tls-alpn-01 with the chain it prefers, and renews it with the key it has", async () => {
    const tls = ["--tls", "--tls.port", `${ownHost}:${stage.responder.tlsPort}`, "-d", "tls.example.net"]
    const preferred = ["--preferred-chain", "Other Root"]
    await succeeds("tls", ...tls, "--key-type", "ec384", "run", ...preferred)
    expect(namesInChain(await bundleOf("tls", "tls.example.net"), stage.otherRoot)).toEqual(["DNS:tls.example.net"])
    await succeeds("tls", ...tls, ...renewal, "--reuse-key", ...preferred)
    expect(namesInChain(await bundleOf("tls", "tls.example.net"), stage.otherRoot)).toEqual(["DNS:tls.example.net"])
  })

  test.concurrent("gets a wildcard over dns-01, and revokes it", async () => {
    const resolver = ["--dns.disable-cp", "--dns.resolvers", `127.0.0.1:${stage.responder.dnsPort}`]
    await succeeds("dns", "--dns", "exec", ...resolver, "-d", "example.net", "-d", "*.example.net", "run")
    const bundle = await bundleOf("dns", "example.net")
    expect(namesInChain(bundle, stage.root)).toEqual(["DNS:*.example.net", "DNS:example.net"])
    await succeeds("dns", "-d", "example.net", "revoke", "--reason", "1")
    expect(await stage.revocation(bundle)).toBe("Key Compromise")
  })

  test("is let in by an external account binding, and not without one", async () => {
    await stage.configure({ eab_policy: "always-required" })
    const run = [...http(), "-d", "bound.example.net", "run"]
    expect(await lego("unbound", run)).toMatchObject({
      code: 1,
      text: expect.stringContaining("requires External Account Binding"),
    })
    const { id, key } = await stage.newBinding()
    await succeeds("bound", "--eab", "--kid", id, "--hmac", key, ...run)
    expect(namesInChain(await bundleOf("bound", "bound.example.net"), stage.root)).toEqual(["DNS:bound.example.net"])
  })
})
