// Commands of docs/command-line.md for workspaces and certificates, run as written.
import { readFile } from "node:fs/promises"
import { expect, test } from "vitest"
import { run } from "../../engine/src/cli/program.ts"
import { openEngine } from "../../engine/src/index.ts"
import { temporaryFolder } from "./chancery.ts"

test("every documented command for workspaces and certificates works as written", async () => {
  const page = await readFile(new URL("../../docs/command-line.md", import.meta.url), "utf8")
  const written = page
    .split("\n")
    .filter((line) => /^chancery (workspace|certificate) /.test(line) && !line.includes("--follow"))
  expect(written.length).toBeGreaterThan(9)
  await using folder = await temporaryFolder()
  {
    await using engine = await openEngine(`sqlite:${folder.path}/chancery.db`)
    await engine.organizations.create({ name: "acme", email: "ops@example.com" })
    await engine.workspaces.create("acme", { name: "web-prod" })
  }
  for (const line of written) {
    const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "")
    const messages: string[] = []
    const code = await run(words.slice(1), {
      out: () => {},
      say: (text) => void messages.push(text),
      input: async () => "",
      environment: { CHANCERY_DATA: folder.path },
    })
    expect([line, code, messages.filter((text) => !/^The workspace |^(Done|Checked) 100 %$/.test(text))]).toEqual([
      line,
      0,
      [],
    ])
  }
})
