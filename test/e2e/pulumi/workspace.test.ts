// A short scenario of a workspace with its tags, with the real Pulumi engine; test/long has the full scenarios.
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { secret } from "@pulumi/pulumi"
import { Workspace } from "@chancery/pulumi"
import { beforeAll, describe, expect, test } from "vitest"
import { pulumiProgram } from "../../toolchain/pulumi.ts"
import { buildProvider, openStack, type TestStack } from "./stack.ts"
import { declare, type Declared } from "./workspace-scenario.ts"

const pulumi = await pulumiProgram()

beforeAll(buildProvider)

describe.skipIf(pulumi === undefined).each(["embedded", "remote"] as const)("with the %s engine", (mode) => {
  test("a workspace and its tags are created, changed and deleted", { timeout: 300_000 }, async () => {
    await using stack = await openStack(pulumi ?? "", mode)
    const { engine } = stack
    const found = () => engine.workspaces.get({ organization: "acme", name: "api" })
    const first: Declared = {
      workspace: { description: secret("s3cret") },
      tags: ["web"],
      bindings: { env: "prod" },
      carried: true,
    }
    expect((await stack.up(declare(first))).operations).toEqual({
      api: "create",
      flat: "create",
      valued: "create",
      shared: "create",
    })
    for (const { sourcePosition } of await resourcesOf(stack))
      expect(sourcePosition).toMatch(/\/workspace-scenario\.ts#\d+,\d+$/)
    const { id, tagNames } = await found()
    expect(tagNames.toSorted()).toEqual(["shared", "web"])

    const second: Declared = { ...first, workspace: { ...first.workspace, autoApply: true } }
    const updated = { api: "update", flat: "same", valued: "same", shared: "same" }
    expect((await stack.up(declare(second))).operations).toEqual(updated)
    await engine.workspaces.update({ id }, { autoApply: false })
    await stack.refresh()
    expect((await stack.up(declare(second))).operations).toEqual(updated)
    expect(await found()).toMatchObject({ id, autoApply: true, description: "s3cret" })

    const state = await stack.state()
    expect(state).toContain("v1.workspaceTags;")
    expect(state).not.toContain("s3cret")
    expect(state).not.toContain(stack.token)
    await stack.destroy()
    expect((await engine.workspaces.list("acme", {}, { number: 1, size: 1 })).totalCount).toBe(0)
  })
})

// Earlier builds wrote such states, and a resource keeps one until it changes or is refreshed.
describe.skipIf(pulumi === undefined)("[F-U5] a workspace with a state of an earlier build", () => {
  test("is updated in place once by up, to named members", { timeout: 300_000 }, async () => {
    const { stack, outputs } = await openLegacyStack("a JSON text")
    await using _stack = stack
    const { engine } = stack
    const before = await engine.workspaces.get({ organization: "acme", name: "api" })
    expect((await stack.preview(program(true))).operations).toEqual({ api: "update" })
    expect((await stack.up(program(true))).operations).toEqual({ api: "update" })
    expect(await outputsIn(stack)).toEqual(outputs)
    expect(await engine.workspaces.get({ id: before.id })).toEqual(before)
    expect(await stack.outputs()).toEqual({ projectId: before.projectId, speculativeEnabled: true })
    expect((await stack.up(program(true))).operations).toEqual({ api: "same" })
    expect(await stack.state()).not.toContain("s3cret")
  })

  test("is destroyed unchanged", { timeout: 300_000 }, async () => {
    const { stack } = await openLegacyStack("a JSON text")
    await using _stack = stack
    await stack.destroy()
    expect((await stack.engine.workspaces.list("acme", {}, { number: 1, size: 1 })).totalCount).toBe(0)
  })

  test.each<Form>(["a list", "an object"])("in %s is rewritten by refresh", { timeout: 300_000 }, async (form) => {
    const { stack, outputs } = await openLegacyStack(form)
    await using _stack = stack
    const { engine } = stack
    const { id } = await engine.workspaces.get({ organization: "acme", name: "api" })
    // A binding of another owner looks like a change if the reader does not know which stack this is.
    await engine.tags.bind(id, [{ key: "theirs", value: "1" }], { owner: "kubernetes:acme/default/api" })
    const { operations, output } = await stack.refresh()
    expect(Object.keys(operations)).toEqual(["api"])
    expect(output).toMatch(/Resources:\s+\d+ unchanged/)
    expect(await outputsIn(stack)).toEqual(outputs)
    expect((await stack.up(program(true))).operations).toEqual({ api: "same" })
    expect((await stack.up(program(false))).operations).toEqual({ api: "update" })
    expect(await stack.state()).not.toContain("s3cret")
    expect(await engine.tags.bindings(id, { owners: true, tags: true })).toMatchObject([
      { key: "env", value: "prod", owners: ["pulumi:project/test"] },
      { key: "theirs", value: "1", owners: ["kubernetes:acme/default/api"] },
    ])
    await stack.destroy()
    expect((await engine.workspaces.list("acme", {}, { number: 1, size: 1 })).totalCount).toBe(0)
  })
})

const program = (autoApply: boolean) => async () => {
  const api = new Workspace("api", { autoApply, description: secret("s3cret"), tagBindings: { env: "prod" } })
  return { projectId: api.projectId, speculativeEnabled: api.speculativeEnabled }
}

type Form = "a JSON text" | "a list" | "an object"
type Outputs = Readonly<Record<string, unknown>>

/**
 * Returns outputs in an earlier format: one member holds the settings that the program does not declare, without those at their defaults.
 */
function legacyOutputs(form: Form, outputs: Outputs): Outputs {
  const { createdAt, engineVersion, projectId, __marker } = outputs
  const declared = ["organization", "name", "autoApply", "description", "tagBindings", "__provider"]
  const named = Object.fromEntries(Object.entries(outputs).filter(([name]) => declared.includes(name)))
  const list = [createdAt, engineVersion, projectId]
  if (form === "a JSON text") return { ...named, __found: JSON.stringify([...list, __marker]) }
  return { ...named, __marker, __found: form === "a list" ? list : { createdAt, engineVersion, projectId } }
}

/** Opens a stack with such a state, and returns the outputs before the conversion. */
async function openLegacyStack(form: Form): Promise<{ readonly stack: TestStack; readonly outputs: Outputs }> {
  const stack = await openStack(pulumi ?? "", "embedded")
  await stack.up(program(true))
  const outputs = await outputsIn(stack)
  const exported = await deploymentOf(stack)
  for (const resource of exported.deployment.resources.filter(isWorkspace))
    resource.outputs = legacyOutputs(form, resource.outputs)
  const file = join(stack.folder, "earlier.json")
  await writeFile(file, JSON.stringify(exported))
  await stack.command(["stack", "import", "--file", file])
  expect(await outputsIn(stack)).not.toHaveProperty("speculativeEnabled")
  return { stack, outputs }
}

interface Deployment {
  readonly deployment: {
    readonly resources: { readonly type: string; readonly sourcePosition: string; outputs: Outputs }[]
  }
}

const deploymentOf = async (stack: TestStack): Promise<Deployment> =>
  JSON.parse(await stack.command(["stack", "export"])) as Deployment

const resourcesOf = async (stack: TestStack): Promise<Deployment["deployment"]["resources"]> =>
  (await deploymentOf(stack)).deployment.resources.filter(({ type }) => type.includes("chancery"))

const isWorkspace = ({ type }: { readonly type: string }): boolean => type.endsWith(":Workspace")

/** Returns the state of the workspace, without the secret: it is encrypted differently each time. */
async function outputsIn(stack: TestStack): Promise<Outputs> {
  const { deployment } = await deploymentOf(stack)
  const { description: _secret, ...others } = deployment.resources.find(isWorkspace)?.outputs ?? {}
  return others
}
