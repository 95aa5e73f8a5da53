// dehydrated as its users run it: a shell script that takes documents and headers apart with sed, and is strict about both.
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { challengeResponder, dehydrated as dehydratedProgram } from "../toolchain/acme.ts"
import { publicProgram } from "../toolchain/public-program.ts"
import { type AcmeStage, namesInChain, openAcmeStage, ownHost, printed, readText, writeHook } from "./acme-stage.ts"

const program = (await publicProgram(dehydratedProgram)) ?? ""
const responder = (await publicProgram(challengeResponder)) ?? ""

describe.skipIf(program === "" || responder === "")("dehydrated", () => {
  let stage: AcmeStage
  let hook: string

  beforeAll(async () => {
    stage = await openAcmeStage(responder)
    // Of tls-alpn-01 it makes the certificate itself, which openssl then shows.
    const shown = `-cert "$BASEDIR/alpn-certs/$2.crt.pem" -key "$BASEDIR/alpn-certs/$2.key.pem"`
    hook = await writeHook(
      stage,
      "dehydrated",
      `case $1.$CHALLENGETYPE in
deploy_challenge.http-01) tell add-http01 "{\\"token\\":\\"$3\\",\\"content\\":\\"$4\\"}" ;;
deploy_challenge.dns-01) tell set-txt "{\\"host\\":\\"_acme-challenge.$2.\\",\\"value\\":\\"$4\\"}" ;;
deploy_challenge.tls-alpn-01)
  openssl s_server -quiet -accept ${ownHost}:${stage.responder.tlsPort} ${shown} -alpn acme-tls/1 \\
    </dev/null >/dev/null 2>&1 &
  echo $! >"$BASEDIR/alpn.pid"
  sleep 0.3 ;;
clean_challenge.tls-alpn-01) kill "$(cat "$BASEDIR/alpn.pid")" ;;
esac`,
    )
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  /** One account, with a folder of its own. */
  async function newAccount(name: string, challenge: "http-01" | "dns-01" | "tls-alpn-01", settings = "") {
    const folder = join(stage.folder, name)
    await mkdir(join(folder, "alpn-certs"), { recursive: true })
    const file = join(folder, "config")
    await writeFile(
      file,
      `CA="${stage.directory()}"
BASEDIR="${folder}"
export BASEDIR
WELLKNOWN="${folder}"
ALPNCERTDIR="${folder}/alpn-certs"
CURL_OPTS="--cacert ${stage.rootFile}"
CHALLENGETYPE="${challenge}"
export CHALLENGETYPE
HOOK="${hook}"
CONTACT_EMAIL="ops@example.com"
KEY_ALGO=prime256v1
KEYSIZE=2048
${settings}
`,
    )
    const run = (...words: readonly string[]) => stage.run(program, [...words, "--config", file])
    const succeeds = async (...words: readonly string[]) => printed(await run(...words))
    const certificates = (alias: string) => join(folder, "certs", alias)
    return {
      run,
      succeeds,
      fileOf: (alias: string) => join(certificates(alias), "cert.pem"),
      bundleOf: (alias: string) => readText(certificates(alias), "fullchain.pem"),
    }
  }
  const names = (...all: readonly string[]) => all.flatMap((name) => ["--domain", name])

  test.concurrent("gets a certificate for several names over http-01, renews it, revokes it, and gives up the account", async () => {
    const { succeeds, bundleOf, fileOf } = await newAccount("http", "http-01")
    await succeeds("--register", "--accept-terms")
    const both = names("a.example.edu", "b.example.edu")
    await succeeds("--cron", ...both)
    const first = await bundleOf("a.example.edu")
    expect(namesInChain(first, stage.root)).toEqual(["DNS:a.example.edu", "DNS:b.example.edu"])

    await succeeds("--cron", "--force", ...both)
    const renewed = await bundleOf("a.example.edu")
    expect(renewed).not.toBe(first)
    expect(namesInChain(renewed, stage.root)).toEqual(["DNS:a.example.edu", "DNS:b.example.edu"])

    await succeeds("--revoke", fileOf("a.example.edu"))
    expect(await stage.revocation(renewed)).toBe("Unspecified")
    expect(await stage.revocation(first)).toBeUndefined()
    await succeeds("--account")
    await succeeds("--deactivate")
  })

  test.concurrent("gets a wildcard over dns-01, with the chain it prefers", async () => {
    const { run, succeeds, bundleOf } = await newAccount("dns", "dns-01")
    await succeeds("--register", "--accept-terms")
    const wanted = ["--cron", "--alias", "wild", ...names("example.edu", "*.example.edu")]
    // With OpenSSL 3 some of its releases take the whole line for the issuer's name, so it is asked what it calls them.
    const { text } = await run(...wanted, "--preferred-chain", "Nobody")
    const options = /available options: (.*)/.exec(text)?.[1]?.split(", ") ?? []
    expect(new Set(options)).toEqual(
      new Set([expect.stringMatching(/\bRoot$/), expect.stringMatching(/\bOther Root$/)]),
    )
    const other = options.find((name) => name.endsWith("Other Root")) ?? ""
    await succeeds(...wanted, "--preferred-chain", other)
    expect(namesInChain(await bundleOf("wild"), stage.otherRoot)).toEqual(["DNS:*.example.edu", "DNS:example.edu"])
  })

  test.concurrent("gets one over tls-alpn-01", async () => {
    await stage.responder.tell("add-a", { host: "tls.example.edu", addresses: [ownHost] })
    const { succeeds, bundleOf } = await newAccount("tls", "tls-alpn-01")
    await succeeds("--register", "--accept-terms")
    await succeeds("--cron", ...names("tls.example.edu"))
    expect(namesInChain(await bundleOf("tls.example.edu"), stage.root)).toEqual(["DNS:tls.example.edu"])
  })

  test("is let in by an external account binding, and not without one", async () => {
    await stage.configure({ eab_policy: "always-required" })
    const unbound = await newAccount("unbound", "http-01")
    expect((await unbound.run("--register", "--accept-terms")).text).toContain("EAB")
    const { id, key } = await stage.newBinding()
    const { succeeds, bundleOf } = await newAccount("bound", "http-01", `EAB_KID="${id}"\nEAB_HMAC_KEY="${key}"`)
    await succeeds("--register", "--accept-terms")
    await succeeds("--cron", ...names("bound.example.edu"))
    expect(namesInChain(await bundleOf("bound.example.edu"), stage.root)).toEqual(["DNS:bound.example.edu"])
  })
})
