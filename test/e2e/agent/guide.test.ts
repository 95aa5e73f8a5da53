// The commands of docs/agents.md, run as written.
import { execFile } from "node:child_process"
import { mkdir, readFile, stat, writeFile } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { main, run, serve, start, temporaryFolder } from "../../cli/chancery.ts"
import { type Block, typedPage } from "../../documents/typed-page.ts"
import { printNotice } from "../../toolchain/missing.ts"

const guide = typedPage(import.meta.url, "docs/agents.md")
const execute = promisify(execFile)

test("a pool, a token and its agent are made by the commands of the guide", async () => {
  await using folder = await temporaryFolder()
  const at = (...names: readonly string[]) => join(folder.path, ...names)
  const environment = { CHANCERY_DATA: at("data") }
  await run(["organization", "create", "acme", "--email", "ops@example.com"], { environment })
  await mkdir(at("bin"))
  await writeFile(at("bin/chancery"), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, { mode: 0o755 })
  await using served = await serve(["serve"], { environment })

  const out = await guide.block("Start an agent").type({
    folder: folder.path,
    environment: { PATH: [at("bin"), process.env["PATH"]].join(delimiter), ...environment },
  })
  expect(out).toMatch(/^Created the agent pool acme\/office \(apool-\w{16}\)\.\n$/)
  expect(((await stat(at("agent-token"))).mode & 0o777).toString(8)).toBe("600")

  const placed = (block: Block): readonly string[] =>
    block
      .words()
      .slice(1)
      .map((word) => word.replace("https://chancery.example", served.url).replace("/var/lib", folder.path))
  // Not every machine that runs the tests has a sandbox.
  const withoutSandbox = ["--isolation", "none"]
  const ended = await start([...placed(guide.block("Run agents on demand")), ...withoutSandbox], {
    folder: folder.path,
  }).ended
  expect(ended).toMatchObject({ code: 0, out: "" })

  await using agent = start([...placed(guide.block("Start an agent", 1)), ...withoutSandbox], { folder: folder.path })
  await expect.poll(agent.stderr).toContain("waits for runs.")
  // A second agent is rejected once the first has locked its folder.
  const lock = () => readFile(at("chancery-agent/agent.pid"), "utf8").catch(() => undefined)
  await expect.poll(lock).toBe(String(agent.child.pid))
  const second = await start([...placed(guide.block("Start an agent", 1)), ...withoutSandbox], { folder: folder.path })
    .ended
  expect(second.code).not.toBe(0)
  expect(second.stderr).toContain("Choose another with --data.")
  agent.child.kill("SIGTERM")
  expect((await agent.ended).code).toBe(0)
})

const answers = await execute("systemd-analyze", ["--version"]).then(
  () => true,
  () => false,
)
if (!answers)
  printNotice("There is no systemd-analyze (Debian's package systemd), so that systemd is not asked about the unit.")

test.skipIf(!answers)("systemd accepts the unit of the guide", async () => {
  await using folder = await temporaryFolder()
  const unit = join(folder.path, "chancery-agent.service")
  await guide.block("Run an agent as a service").write(unit)
  const text = await readFile(unit, "utf8")
  const [, command = ""] = /^ExecStart=(.*)$/m.exec(text) ?? []
  const [, ...words] = command.split(" ")
  expect(await run([...words, "--help"])).toMatchObject({ code: 0, stderr: "" })
  // The program is installed elsewhere where tests run.
  await writeFile(unit, text.replace("/usr/local/bin/chancery", process.execPath))
  expect((await execute("systemd-analyze", ["verify", "--man=no", unit])).stderr).toBe("")
})
