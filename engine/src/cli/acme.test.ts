import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { hourMs } from "../core/time.ts"
import { openEmbedded } from "../embedded.ts"
import { newTestAccount } from "../../testing/acme-account.ts"
import { run } from "./program.ts"
import type { Terminal } from "./terminal.ts"

/** Runs commands on a database that has a mount with ACME, an account and an order. */
async function shop() {
  const data = await mkdtemp(join(tmpdir(), "chancery-"))
  onTestFinished(() => rm(data, { recursive: true, force: true }))
  const environment = { CHANCERY_DATA: data, CHANCERY_LOG_LEVEL: "silent" }
  const command = async (...words: readonly string[]) => {
    let out = ""
    let stderr = ""
    const terminal: Terminal = {
      out: (text) => void (out += `${text}\n`),
      say: (text) => void (stderr += `${text}\n`),
      input: async () => "",
      environment,
    }
    return { code: await run(words, terminal), out, stderr }
  }
  await command("mount", "create", "pki", "--allowed-response-headers", "Location,Replay-Nonce,Link")
  await using engine = await openEmbedded(`sqlite:${join(data, "chancery.db")}`, { jobs: false })
  const pki = engine.pki("pki")
  const { issuerId } = await pki.issuers.generateRoot({ commonName: "Root", keyType: "ec", issuerName: "root" })
  await pki.roles.save("web", { allowAnyName: true, keyType: "ec" })
  await pki.settings.changeCluster({ path: "https://ca.example/v1/pki" })
  await pki.settings.changeAcme({ enabled: true, maxTtlMs: 24 * hourMs })
  const account = await newTestAccount(engine, "pki", { contact: ["mailto:ops@example.com"] })
  const order = await account.order("a.example.com")
  const { serialNumber } = await pki.certificates.issue("web", { commonName: "b.example.com", ttlMs: hourMs })
  return { acme: (...words: readonly string[]) => command("acme", ...words), account, order, serialNumber, issuerId }
}

test("accounts are listed, shown, disabled, enabled and deleted", async () => {
  const { acme, account, order } = await shop()
  const { id, thumbprint } = account
  expect((await acme("accounts", "list", "pki")).out).toMatch(
    new RegExp(
      `^ID +STATUS +DIRECTORY +CREATED +CONTACTS\n${id} +valid +acme/directory +2\\S+ +mailto:ops@example.com\n$`,
    ),
  )
  expect(JSON.parse((await acme("accounts", "list", "pki", "--json")).out)).toMatchObject([{ id, thumbprint }])
  const shown = JSON.parse((await acme("accounts", "show", "pki", id)).out)
  expect(shown).toMatchObject({ id, status: "valid", bindingId: null, orders: [{ id: order, status: "pending" }] })
  expect(await acme("accounts", "disable", "pki", id)).toMatchObject({
    code: 0,
    stderr: `The account ${id} is revoked.\n`,
  })
  expect((await acme("accounts", "enable", "pki", id)).stderr).toBe(`The account ${id} is valid.\n`)
  expect((await acme("accounts", "delete", "pki", id)).stderr).toBe(`The account ${id} is deleted.\n`)
  expect((await acme("accounts", "list", "pki", "--json")).out).toBe("[]\n")
})

test("orders are listed, shown and deleted", async () => {
  const { acme, account, order } = await shop()
  expect((await acme("orders", "list", "pki", "--account", account.id)).out).toMatch(
    new RegExp(`^ID +STATUS +ACCOUNT +CREATED +IDENTIFIERS\n${order} +pending +${account.id} +2\\S+ +a.example.com\n$`),
  )
  expect((await acme("orders", "list", "pki", "--account", "acct-absent", "--json")).out).toBe("[]\n")
  expect(JSON.parse((await acme("orders", "show", "pki", order)).out)).toMatchObject({ identifiers: ["a.example.com"] })
  expect((await acme("orders", "delete", "pki", order)).stderr).toBe(`The order ${order} is deleted.\n`)
  expect((await acme("orders", "list", "pki", "--json")).out).toBe("[]\n")
})

test("signals are raised, listed and withdrawn", async () => {
  const { acme, serialNumber, issuerId } = await shop()
  const why = ["--explanation-url", "https://ca.example/why"]
  const raised = await acme("renewals", "raise", "pki", "--serial", serialNumber, ...why, "--json")
  expect(JSON.parse(raised.out)).toMatchObject({ serialNumberCount: 1, explanationUrl: "https://ca.example/why" })
  const { id } = JSON.parse(raised.out) as { readonly id: string }
  expect((await acme("renewals", "raise", "pki", "--issuer", "root", "--within", "24h")).out).toMatch(
    new RegExp(`^Raised \\S+: all of ${issuerId} renew until 2\\S+\\.\n$`),
  )
  expect((await acme("renewals", "list", "pki")).out).toMatch(
    new RegExp(
      `^ID +CERTIFICATES +RAISED +RENEW BY +EXPLANATION\n${id} +1 certificate +.*why\n\\S+ +all of ${issuerId} .*\n$`,
    ),
  )
  expect((await acme("renewals", "withdraw", "pki", id)).stderr).toBe(`The signal ${id} is withdrawn.\n`)
  expect(JSON.parse((await acme("renewals", "list", "pki", "--json")).out)).toMatchObject([{ issuerId }])
})

test("errors are one sentence", async () => {
  const { acme } = await shop()
  const cases = [
    [
      ["accounts", "show", "pki", "acct-x"],
      1,
      "This mount has no account acct-x; run chancery acme accounts list to see all.",
    ],
    [
      ["orders", "delete", "pki", "order-x"],
      1,
      "This mount has no order order-x; run chancery acme orders list to see all.",
    ],
    [
      ["renewals", "withdraw", "pki", "x"],
      1,
      "This mount has no signal x; run chancery acme renewals list to see all.",
    ],
    [["renewals", "raise", "pki"], 64, "Give exactly one of --issuer and --serial."],
    [
      ["renewals", "raise", "pki", "--issuer", "root", "--within", "soon"],
      64,
      '--within cannot be "soon"; it must be a duration, such as 12h or 7d.',
    ],
  ] as const
  for (const [words, code, sentence] of cases)
    expect(await acme(...words)).toEqual({ code, out: "", stderr: `chancery: ${sentence}\n` })
  expect((await acme("accounts", "list", "absent")).code).toBe(1)
})
