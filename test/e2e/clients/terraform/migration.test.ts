// State is migrated into a workspace, and out of it again.
import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import {
  cloud,
  greeting,
  noTool,
  openTerraformFixture,
  organization,
  remoteBackend,
  type TerraformFixture,
  tools,
} from "./fixture.ts"

let fixture: TerraformFixture
beforeAll(async () => {
  fixture = await openTerraformFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const workspace = (name: string) => fixture.engine.workspaces.get({ organization, name })
const local = 'terraform {\n  backend "local" {}\n}\n'
const yes = { answers: [{ to: "Enter a value", say: "yes" }] }

interface StateFile {
  readonly resources: readonly [{ readonly instances: readonly [{ readonly attributes: { readonly id: string } }] }]
}

/** Returns the id of the resource, which would differ if the resource were created again. */
const idIn = (state: string): string => (JSON.parse(state) as StateFile).resources[0].instances[0].attributes.id

describe.skipIf(noTool).each(tools)("state migration, by $kind $version", (tool) => {
  const { kind } = tool
  const stateOf = async (name: string) => {
    const project = await fixture.project(tool, name, greeting)
    await project.succeeds("init")
    await project.applies()
    const id = idIn(await readFile(join(project.folder, "terraform.tfstate"), "utf8"))
    return { ...project, name: `${kind}-${name}`, id }
  }

  test("from a local file into a workspace that init creates", async () => {
    const { name, id, write, succeeds, isSettled, applies } = await stateOf("from-file")
    await write(cloud(`name = "${name}"`) + greeting)
    await succeeds("init", yes)
    expect(idIn(await succeeds("state pull"))).toBe(id)
    expect(await workspace(name)).toMatchObject({ resourceCount: 1, lock: { held: false } })
    await isSettled()
    expect(await applies("-var greeting=moved")).toContain("1 changed")
  })

  test("from a local file through the backend remote, and back into one", async () => {
    const { name, id, folder, write, succeeds, isSettled } = await stateOf("there-and-back")
    await write(remoteBackend(`name = "${name}"`) + greeting)
    await succeeds("init -migrate-state -force-copy")
    expect(idIn(await succeeds("state pull"))).toBe(id)
    await isSettled()
    await write(local + greeting)
    await succeeds("init -migrate-state -force-copy")
    expect(existsSync(join(folder, "terraform.tfstate"))).toBe(true)
    await isSettled()
    expect((await workspace(name)).lock).toEqual({ held: false })
  })

  test("from the backend remote to cloud, in the same workspace", async () => {
    const { name, id, write, succeeds, isSettled } = await stateOf("to-cloud")
    await write(remoteBackend(`name = "${name}"`) + greeting)
    await succeeds("init -migrate-state -force-copy")
    await write(cloud(`name = "${name}"`) + greeting)
    await succeeds("init", yes)
    await isSettled()
    expect(idIn(await succeeds("state pull"))).toBe(id)
  })
})
