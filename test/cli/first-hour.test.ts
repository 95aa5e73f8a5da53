// The commands of docs/first-hour.md, run as written and in order.
import { execFile } from "node:child_process"
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { type Block, typedPage } from "../documents/typed-page.ts"
import { freePort } from "../free-port.ts"
import { printNotice } from "../toolchain/missing.ts"
import { terraformPrograms } from "../toolchain/terraform.ts"
import { main, serve, type Served, temporaryFolder } from "./chancery.ts"

const guide = typedPage(import.meta.url, "docs/first-hour.md")

const [terraform] = await terraformPrograms()
const hasTools = await promisify(execFile)("sh", ["-c", "command -v curl && command -v jq && command -v openssl"]).then(
  () => terraform !== undefined,
  () => false,
)
if (!hasTools) printNotice("curl, jq, openssl or terraform is missing, so the tutorial for teams is not typed.")

/** Functions that the block defines for later blocks. */
const functionsOf = ({ commands }: Block): string =>
  [...commands.join("\n").matchAll(/^\w+\(\) \{[^]*?; \}$/gm)].map(([text]) => text).join("\n")

test.skipIf(!hasTools)("a team sets up a server, typed as it is written", { timeout: 300_000 }, async () => {
  await using folder = await temporaryFolder()
  const at = (...names: readonly string[]) => join(folder.path, ...names)
  await mkdir(at("bin"))
  await mkdir(at("network"))
  await symlink(
    terraform?.program === "terraform" ? await terraformPath() : (terraform?.program ?? ""),
    at("bin/terraform"),
  )
  await writeFile(at("bin/chancery"), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, { mode: 0o755 })
  await writeFile(at("session"), "")

  const httpsPort = String(await freePort())
  const data = { CHANCERY_DATA: at("data") }
  let url = ""
  const placed = (script: string) =>
    script.replaceAll("http://127.0.0.1:8420", url).replaceAll("localhost:8421", `localhost:${httpsPort}`)
  let functions = ""
  /** Runs the block in the same session as those before: variables and functions stay. */
  const type = async (block: Block): Promise<string> => {
    functions = [functions, functionsOf(block)].join("\n")
    return block.type({
      folder: folder.path,
      environment: {
        PATH: [at("bin"), process.env["PATH"]].join(delimiter),
        HOME: folder.path,
        CHECKPOINT_DISABLE: "1",
        TF_IN_AUTOMATION: "1",
      },
      before: ["set -a", ". ./session", placed(functions)].join("\n"),
      placed,
      after: "export -p > session",
    })
  }
  const start = async (block: Block): Promise<Served> => {
    const words = block.words().slice(1)
    words.splice(words.indexOf("--listen"), 2)
    const served = await serve(
      words.map((word) => word.replace("127.0.0.1:8421", `127.0.0.1:${httpsPort}`)),
      { folder: folder.path, environment: data },
    )
    url = served.url
    return served
  }

  expect(await type(guide.block("Install the command").only(/--version/))).toMatch(/^\d+\.\d+\.\d+/)
  expect(await type(guide.block("Start the server"))).toContain("Created the organization acme")
  {
    await using _served = await start(guide.block("Start the server", 1))
    expect(await type(guide.block("Start the server", 2))).toMatch(/^ok\n[^]*acme/)
    expect(await type(guide.block("Create an authority"))).toContain("Example Root")
  }
  await using _served = await start(guide.block("Serve HTTPS"))
  expect(await type(guide.block("Serve HTTPS", 1))).toBe("ok\n")

  await type(guide.block("Add people"))
  expect(await type(guide.block("Add people", 1))).toMatch(/"olga"[^]*"alice"/)
  expect(await type(guide.block("Add people", 2))).toBe("alice\n")

  expect(await type(guide.block("Give a team access to a workspace"))).toContain('"not found"')
  expect(await type(guide.block("Give a team access to a workspace", 1))).toBe(
    'plan\n{"can-read-state-versions":true,"can-queue-run":true,"can-lock":false}\n',
  )

  const configuration = guide.block("Run Terraform")
  await configuration.write(at("network/main.tf"))
  await writeFile(at("network/main.tf"), placed(await readFile(at("network/main.tf"), "utf8")))
  expect(await type(guide.block("Run Terraform", 1))).toMatch(/1 added, 0 changed[^]*No changes\./)
  expect(await type(guide.block("Run Terraform", 2))).toBe('{"name":"subnet","value":"10.0.0.0/24"}\n')
  expect(await type(guide.block("Run Terraform", 3))).toBe("exit code 1\n")

  await type(guide.block("Issue a certificate"))
  expect(await type(guide.block("Issue a certificate", 1))).toMatch(/^www\.pem: OK\n[^]*www\.example\.com/)
  expect(await type(guide.block("Issue a certificate", 2))).toContain("not allowed by this role")
  const log = await type(guide.block("Read the audit log"))
  expect(log).toMatch(/alice\tPOST\t\/v1\/pki\/issue\/web/)
  expect(log).toContain('"purpose":"certificate"')
  await type(guide.block("Clean up"))
})

async function terraformPath(): Promise<string> {
  const { stdout } = await promisify(execFile)("sh", ["-c", "command -v terraform"])
  return stdout.trim()
}
