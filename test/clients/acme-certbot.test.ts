// certbot as its users run it. What answers for it is told by its hooks.
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { certbot as certbotProgram, challengeResponder } from "../toolchain/acme.ts"
import { publicProgram } from "../toolchain/public-program.ts"
import { type AcmeStage, namesInChain, openAcmeStage, printed, readText, writeHook } from "./acme-stage.ts"

const program = (await publicProgram(certbotProgram)) ?? ""
const responder = (await publicProgram(challengeResponder)) ?? ""

describe.skipIf(program === "" || responder === "")("certbot", () => {
  let stage: AcmeStage
  let hook: string

  beforeAll(async () => {
    stage = await openAcmeStage(responder)
    hook = await writeHook(
      stage,
      "certbot",
      `if [ -n "\${CERTBOT_TOKEN:-}" ]; then
  tell add-http01 "{\\"token\\":\\"$CERTBOT_TOKEN\\",\\"content\\":\\"$CERTBOT_VALIDATION\\"}"
else
  tell set-txt "{\\"host\\":\\"_acme-challenge.$CERTBOT_DOMAIN.\\",\\"value\\":\\"$CERTBOT_VALIDATION\\"}"
fi`,
    )
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  const folderOf = (account: string) => join(stage.folder, account)
  const certbot = (account: string, words: readonly string[]) => {
    const folders = ["config", "work", "logs"].flatMap((name) => [`--${name}-dir`, folderOf(account)])
    const common = ["--server", stage.directory(), "--non-interactive", "--agree-tos", "--email", "ops@example.com"]
    return stage.run(program, [...words, ...folders, ...common], {
      environment: { REQUESTS_CA_BUNDLE: stage.rootFile },
    })
  }
  const succeeds = async (account: string, ...words: readonly string[]) => printed(await certbot(account, words))
  const manually = (challenge: "http" | "dns") =>
    ["certonly", "--manual", "--manual-auth-hook", hook, "--preferred-challenges", challenge] as const
  const live = (account: string, name: string, file: string) => readText(folderOf(account), "live", name, file)

  test.concurrent("[P-1-n4] gets a certificate for several names over http-01, renews it, and revokes it as the account", async () => {
    const account = "http"
    await succeeds(account, ...manually("http"), "-d", "a.example.com", "-d", "b.example.com")
    const first = await live(account, "a.example.com", "fullchain.pem")
    expect(namesInChain(first, stage.root)).toEqual(["DNS:a.example.com", "DNS:b.example.com"])

    await succeeds(account, "renew", "--force-renewal", "--no-random-sleep-on-renew")
    const renewed = await live(account, "a.example.com", "fullchain.pem")
    expect(renewed).not.toBe(first)
    expect(namesInChain(renewed, stage.root)).toEqual(["DNS:a.example.com", "DNS:b.example.com"])

    const kept = ["--no-delete-after-revoke", "--cert-path", join(folderOf(account), "live/a.example.com/cert.pem")]
    await succeeds(account, "revoke", "--reason", "keycompromise", ...kept)
    expect(await stage.revocation(renewed)).toBe("Key Compromise")
    expect(await stage.revocation(first)).toBeUndefined()
  })

  test.concurrent("gets a wildcard over dns-01 with the chain it prefers, revokes it by its own key, and gives up the account", async () => {
    const account = "dns"
    const names = ["-d", "example.org", "-d", "*.example.org"]
    await succeeds(account, ...manually("dns"), ...names, "--preferred-chain", "Other Root")
    const bundle = await live(account, "example.org", "fullchain.pem")
    expect(namesInChain(bundle, stage.otherRoot)).toEqual(["DNS:*.example.org", "DNS:example.org"])
    expect(() => namesInChain(bundle, stage.root)).toThrow("verify")

    const file = (name: string) => join(folderOf(account), "live/example.org", name)
    const key = ["--key-path", file("privkey.pem"), "--cert-path", file("cert.pem"), "--no-delete-after-revoke"]
    await succeeds(account, "revoke", "--reason", "superseded", ...key)
    expect(await stage.revocation(bundle)).toBe("Superseded")
    await succeeds(account, "unregister")
  })

  test("is let in by an external account binding, and not without one", async () => {
    await stage.configure({ eab_policy: "always-required" })
    const refused = await certbot("unbound", [...manually("http"), "-d", "bound.example.com"])
    expect(refused).toMatchObject({ code: 1, text: expect.stringMatching(/external account/i) })
    const { id, key } = await stage.newBinding()
    const binding = ["--eab-kid", id, "--eab-hmac-key", key]
    await succeeds("bound", ...manually("http"), "-d", "bound.example.com", ...binding)
    const bundle = await live("bound", "bound.example.com", "fullchain.pem")
    expect(namesInChain(bundle, stage.root)).toEqual(["DNS:bound.example.com"])
  })
})
