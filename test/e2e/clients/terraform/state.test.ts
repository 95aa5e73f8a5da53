// State in a workspace: written, read, and edited with the tools' `state` commands.
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { cloud, greeting, noTool, openTerraformFixture, organization, type TerraformFixture, tools } from "./fixture.ts"

let fixture: TerraformFixture
beforeAll(async () => {
  fixture = await openTerraformFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

interface StateFile {
  readonly serial: number
  readonly lineage: string
  readonly resources: readonly { readonly name: string; readonly instances: readonly unknown[] }[]
}

const workspace = (name: string) => fixture.engine.workspaces.get({ organization, name })
const stateVersions = async (name: string): Promise<number> => {
  const { totalCount } = await fixture.engine.stateVersions.list({ organization, name }, {}, { number: 1, size: 1 })
  return totalCount
}

describe.skipIf(noTool).each(tools)("state, by $kind $version", (tool) => {
  const { kind } = tool
  const settled = async (name: string, resources = greeting) => {
    const project = await fixture.project(tool, name, cloud(`name = "${kind}-${name}"`) + resources)
    await project.succeeds("init")
    await project.applies()
    return { ...project, name: `${kind}-${name}` }
  }
  const pulled = async ({ succeeds }: Awaited<ReturnType<typeof settled>>): Promise<StateFile> =>
    JSON.parse(await succeeds("state pull")) as StateFile

  test("applies create one version each, and none without changes", async () => {
    const { name, applies, run, succeeds } = await settled("applied")
    expect(await stateVersions(name)).toBe(1)
    expect(await applies()).toContain("0 added, 0 changed, 0 destroyed")
    expect(await stateVersions(name)).toBe(1)
    expect((await run("plan -detailed-exitcode -var greeting=bye")).code).toBe(2)
    expect(await applies("-var greeting=bye")).toContain("1 changed")
    expect(await stateVersions(name)).toBe(2)
    await succeeds("apply -auto-approve -refresh-only -var greeting=bye")
    expect(await stateVersions(name)).toBe(2)
    expect(await workspace(name)).toMatchObject({ resourceCount: 1, lock: { held: false } })
  })

  test("outputs are read one by one and all together, sensitive ones when named", async () => {
    const { succeeds } = await settled("outputs")
    expect(await succeeds("output")).toMatch(/greeting = "hello"\npassword = <sensitive>/)
    expect(JSON.parse(await succeeds("output -json"))).toEqual({
      greeting: { value: "hello", sensitive: false, type: "string" },
      password: { value: "hunter2", sensitive: true, type: "string" },
    })
    expect(await succeeds("output -raw password")).toBe("hunter2")
    expect(await succeeds("output -json greeting")).toBe('"hello"\n')
  })

  test("a workspace without state shows no outputs", async () => {
    const { succeeds, fails } = await fixture.project(tool, "empty", cloud(`name = "${kind}-empty"`) + greeting)
    await succeeds("init")
    expect(await fails("output -json")).toContain("resource not found")
    expect(JSON.parse(await succeeds("state pull"))).toMatchObject({ serial: 0, resources: [] })
    expect(await succeeds("show")).toMatch(/No state|is empty/)
  })

  test("state can be listed, shown, used in expressions and pulled", async () => {
    const project = await settled("shown")
    const { succeeds } = project
    expect(await succeeds("state list")).toBe("terraform_data.greeting\n")
    expect(await succeeds("state show terraform_data.greeting")).toContain('input  = "hello"')
    expect(await succeeds("show")).toContain('greeting = "hello"')
    expect(await succeeds("providers")).toContain("terraform.io/builtin/terraform")
    expect(await succeeds("console", { input: "upper(terraform_data.greeting.output)\n" })).toBe('"HELLO"\n')
    expect(await pulled(project)).toMatchObject({ version: 4, serial: 1 })
  })

  test("moving and removing resources by hand creates a version each", async () => {
    const project = await settled("moved")
    const { name, write, succeeds, applies, isSettled } = project
    await succeeds("state mv terraform_data.greeting terraform_data.renamed")
    await write((cloud(`name = "${name}"`) + greeting).replaceAll(/(terraform_data"? ?"?\.?)greeting/g, "$1renamed"))
    await isSettled()
    expect(await stateVersions(name)).toBe(2)
    const { serial } = await pulled(project)
    await succeeds("state rm terraform_data.renamed")
    expect(await stateVersions(name)).toBe(3)
    expect(await workspace(name)).toMatchObject({ resourceCount: 0, lock: { held: false } })
    const after = await pulled(project)
    expect(after.serial).toBe(serial + 1)
    expect(await applies()).toContain("1 added")
  })

  test("a pulled state can be pushed back: with a new serial, or by force with an older one", async () => {
    const project = await settled("pushed")
    const { name, folder, succeeds, fails, applies, isSettled } = project
    const older = JSON.parse(await succeeds("state pull")) as StateFile
    const push = async (state: StateFile, force = "") => {
      await writeFile(join(folder, "pushed.tfstate"), JSON.stringify(state))
      return `state push${force} pushed.tfstate`
    }
    await applies("-var greeting=second")
    await applies("-var greeting=third")
    expect(await fails(await push(older))).toContain("serial")
    expect(await stateVersions(name)).toBe(3)
    await succeeds(await push(older, " -force"))
    await isSettled()
    expect(await applies("-var greeting=fourth")).toContain("1 changed")
    await succeeds(await push({ ...older, serial: 20 }))
    await isSettled()
    expect(await pulled(project)).toMatchObject({ lineage: older.lineage, serial: 21 })
    expect((await workspace(name)).lock).toEqual({ held: false })
  })

  test("a state of another lineage is not pushed, with or without force", async () => {
    const project = await settled("strange")
    const { name, folder, succeeds, fails, isSettled } = project
    const state = { ...(await pulled(project)), serial: 99, lineage: "11111111-2222-3333-4444-555555555555" }
    await writeFile(join(folder, "strange.tfstate"), JSON.stringify(state))
    expect(await fails("state push strange.tfstate")).toContain("lineage")
    expect((await workspace(name)).lock).toEqual({ held: false })
    expect(await fails("state push -force strange.tfstate")).toContain("does not match the lineage")
    // A command whose state is refused keeps the lock (docs/compatibility.md, "Locking").
    await succeeds(`force-unlock -force ${organization}/${name}`)
    expect(await stateVersions(name)).toBe(1)
    await isSettled()
  })

  test("an existing resource is imported, and appears in the next plan", async () => {
    const name = `${kind}-imported`
    const configuration = `${cloud(`name = "${name}"`)}resource "terraform_data" "found" {}\n`
    const { succeeds, isSettled, applies } = await fixture.project(tool, "imported", configuration)
    await succeeds("init")
    expect(await succeeds("import terraform_data.found 00112233-4455-6677-8899-aabbccddeeff")).toContain(
      "Import successful",
    )
    expect(await workspace(name)).toMatchObject({ resourceCount: 1, lock: { held: false } })
    expect(await succeeds("state show terraform_data.found")).toContain("00112233-4455-6677-8899-aabbccddeeff")
    await isSettled()
    expect(await applies()).toContain("0 added, 0 changed, 0 destroyed")
    expect(await stateVersions(name)).toBe(1)
  })

  test("a tainted resource is recreated, an untainted one is not", async () => {
    const { name, run, succeeds, applies, isSettled } = await settled("tainted")
    await succeeds("taint terraform_data.greeting")
    expect((await run("plan -detailed-exitcode")).code).toBe(2)
    await succeeds("untaint terraform_data.greeting")
    await isSettled()
    await succeeds("taint terraform_data.greeting")
    expect(await applies()).toContain("1 added, 0 changed, 1 destroyed")
    expect(await stateVersions(name)).toBe(5)
  })

  test("changes by hand are rejected for a tool of another version, unless the workspace runs locally", async () => {
    const { name, fails, succeeds, applies } = await settled("versioned")
    await fixture.engine.workspaces.update({ organization, name }, { engineVersion: "1.0.0", executionMode: "remote" })
    expect(await fails("taint terraform_data.greeting")).toContain("-ignore-remote-version")
    await fixture.engine.workspaces.update({ organization, name }, { executionMode: "local" })
    await succeeds("taint terraform_data.greeting")
    expect(await applies()).toContain("1 added, 0 changed, 1 destroyed")
  })

  test("destroy leaves a state without resources, and the workspace may then be deleted safely", async () => {
    const { name, succeeds } = await settled("destroyed")
    await expect(fixture.engine.workspaces.safeDelete({ organization, name })).rejects.toMatchObject({
      code: "conflict",
    })
    expect(await succeeds("destroy -auto-approve")).toContain("Resources: 1 destroyed")
    expect(await workspace(name)).toMatchObject({ resourceCount: 0, lock: { held: false } })
    await succeeds("plan -destroy -detailed-exitcode")
    await fixture.engine.workspaces.safeDelete({ organization, name })
  })

  test("a saved plan is applied, and is stale after the state changed", async () => {
    const { folder, succeeds, fails, isSettled, applies } = await settled("saved")
    await succeeds("plan -out=first.plan -var greeting=one")
    await succeeds("plan -out=second.plan -var greeting=two")
    await succeeds("apply first.plan")
    expect((await readFile(join(folder, "second.plan"))).length).toBeGreaterThan(0)
    expect(await fails("apply second.plan")).toContain("stale")
    await isSettled("-var greeting=one")
    await applies()
  })
})
