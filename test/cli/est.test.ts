// The commands of docs/est.md, run as written: curl and OpenSSL enrol a device.
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { typedPage } from "../documents/typed-page.ts"
import { printNotice } from "../toolchain/missing.ts"
import { run, serve, temporaryFolder } from "./chancery.ts"

const guide = typedPage(import.meta.url, "docs/est.md")

const hasTools = await promisify(execFile)("sh", ["-c", "command -v curl && command -v jq && command -v openssl"]).then(
  () => true,
  () => false,
)
if (!hasTools) printNotice("There is no curl, no jq or no openssl, so the guide of EST is not typed.")

test.skipIf(!hasTools)("a printer enrols by EST, typed as written", { timeout: 300_000 }, async () => {
  await using folder = await temporaryFolder()
  const token =
    (await run(["token", "create", "--user", "root", "--data", folder.path])).out.trim().split("\n").at(-1) ?? ""
  await using served = await serve(["serve", "--data", folder.path])
  const shell = {
    folder: folder.path,
    environment: { PATH: process.env["PATH"], HOME: folder.path, TOKEN: token, server: served.url },
  }
  const first = guide.block("Create an authority")
  const post = first.commands.find((command) => command.startsWith("post()")) ?? ""
  await first.type(shell)
  await guide.block("Add a printer").type({ ...shell, before: post })
  expect((await guide.block("Enable EST").type({ ...shell, before: post })).trim()).toContain("true")
  expect(await guide.block("Enrol").type(shell)).toContain("DNS:p42.printers.example.com")
})
