import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Engine, openEngine } from "@chancery/engine"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { run } from "./program.ts"

let folder: string
let engine: Engine
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "chancery-import-"))
  engine = await openEngine(`sqlite:${join(folder, "engine.db")}`, { jobs: false })
  await engine.organizations.create({ name: "acme", email: "acme@example.com" })
})
afterEach(async () => {
  await engine[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

async function ran(...args: readonly string[]) {
  let [out, err] = ["", ""]
  const code = await run(args, {
    environment: { CHANCERY_ENGINE_URL: `sqlite:${join(folder, "engine.db")}` },
    say: (text) => void (out += text),
    complain: (text) => void (err += text),
  })
  return { code, out, err }
}

describe("the command", () => {
  test("prints its usage", async () => {
    expect(await ran("--help")).toEqual({ code: 0, out: expect.stringContaining("--mount PATH"), err: "" })
  })

  test.each([
    { args: [], says: "the command must be import" },
    { args: ["export"], says: "the command must be import" },
    { args: ["import", "--all"], says: "--all" },
  ])("rejects the arguments $args", async ({ args, says }) => {
    expect(await ran(...args)).toEqual({ code: 2, out: "", err: expect.stringContaining(says) })
  })

  test("requires an organization or a mount", async () => {
    expect(await ran("import")).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        "an organization (--organization or CHANCERY_ORGANIZATION), a mount (--mount) or an auth method (--auth-method) is required",
      ),
    })
  })

  test("reports a missing resource in one sentence", async () => {
    const { code, err } = await ran("import", "--organization", "nobody")
    expect([code, err]).toEqual([1, expect.stringMatching(/^chancery-pulumi: .*404 not-found.*\n$/)])
  })

  test("overwrites no file", async () => {
    const file = join(folder, "import.json")
    await writeFile(file, "mine")
    const { code, err } = await ran("import", "--organization", "acme", "--file", file)
    expect([code, err]).toEqual([1, `chancery-pulumi: ${file} already exists; use another file\n`])
    expect(await readFile(file, "utf8")).toBe("mine")
  })

  test("writes a program with the organization, and with ids of resources that it does not declare", async () => {
    const { id: projectId } = await engine.projects.create("acme", { name: "on call" })
    await engine.workspaces.create("acme", { name: "on-call", projectId, tagBindings: [{ key: "a.b", value: "c" }] })
    const [file, program] = [join(folder, "import.json"), join(folder, "index.ts")]
    const { out } = await ran("import", "--organization", "acme", "--file", file, "--program", program)
    expect(out).toContain(`2 resources are in ${file}.`)
    const text = await readFile(program, "utf8")
    expect(text).toContain('const onCallProject = new Project("on call", {\n  organization: "acme",\n})')
    expect(text).toContain("projectId: onCallProject.id,")
    expect(text).toContain('tagBindings: { "a.b": "c" },')
    expect(text).not.toContain("const onCallWorkspace")
  })

  test("reports authorities that cannot be declared", async () => {
    await engine.mounts.create({ path: "pki" })
    const { issuers } = engine.pki("pki")
    await issuers.generateRoot({ commonName: "Nameless", keyType: "ec" })
    const { out } = await ran("import", "--mount", "pki", "--file", join(folder, "import.json"))
    expect(out).toMatch(/^Left out: issuer iss-\S+ of pki has no name; set a name to import it\.\n1 resource is/)
  })
})
