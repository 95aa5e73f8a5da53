// The commands of docs/logins.md, run as written.
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { typedPage } from "../documents/typed-page.ts"
import { printNotice } from "../toolchain/missing.ts"
import { run, serve, temporaryFolder } from "./chancery.ts"

const guide = typedPage(import.meta.url, "docs/logins.md")

const hasTools = await promisify(execFile)("sh", ["-c", "command -v curl && command -v jq"]).then(
  () => true,
  () => false,
)
if (!hasTools) printNotice("There is no curl or no jq, so what the guide does with them is not typed.")

test.skipIf(!hasTools)(
  "auth methods, a user and a token role are created and used, typed as written",
  { timeout: 300_000 },
  async () => {
    await using folder = await temporaryFolder()
    const token =
      (await run(["token", "create", "--user", "root", "--data", folder.path])).out.trim().split("\n").at(-1) ?? ""
    await using served = await serve(["serve", "--data", folder.path])
    const shell = {
      folder: folder.path,
      environment: { PATH: process.env["PATH"], HOME: folder.path, TOKEN: token, server: served.url },
    }
    const first = guide.block("Enable a method")
    const post = first.commands.find((command) => command.startsWith("post()")) ?? ""

    const output = await first.type(shell)
    expect(output).toContain('"machines/"')
    expect(output).toContain('"description": "Build machines"')

    const loggedIn = await guide.block("Userpass").type({ ...shell, before: post })
    expect(JSON.parse(loggedIn)).toEqual({
      policies: ["default", "printers"],
      metadata: { username: "printer-1" },
      lease_duration: 600,
    })
    expect((await guide.block("Lockout of users").type({ ...shell, before: post })).trim()).toBe("0")

    const made = await guide.block("Token roles").type({ ...shell, before: post })
    expect(JSON.parse(made)).toEqual({ policies: ["default", "issue"], orphan: true, num_uses: 1_000 })
  },
)
