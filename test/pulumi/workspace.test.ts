// The shortest life of a workspace with its tags, by the real Pulumi engine; test/long has the whole stories.
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { secret } from "@pulumi/pulumi"
import { Workspace } from "@chancery/pulumi"
import { beforeAll, describe, expect, test } from "vitest"
import { pulumiProgram } from "../toolchain/pulumi.ts"
import { buildProvider, openStack, type TestStack } from "./stack.ts"
import { declare, type Declared } from "./workspace-story.ts"

const pulumi = await pulumiProgram()

beforeAll(buildProvider)

describe.skipIf(pulumi === undefined).each(["embedded", "remote"] as const)("with the %s engine", (mode) => {
  test("a workspace and its tags come, change and go", { timeout: 300_000 }, async () => {
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
      expect(sourcePosition).toMatch(/\/workspace-story\.ts#\d+,\d+$/)
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

// Nothing writes a state anew before its resource changes, so that the earliest form is there for as long as the resource.
describe.skipIf(pulumi === undefined).each([
  { form: "a list", foundOf: (told: readonly unknown[]) => told },
  {
    form: "an object",
    foundOf: ([createdAt, engineVersion, projectId]: readonly unknown[]) => ({ createdAt, engineVersion, projectId }),
  },
])("a workspace whose state has its settings in $form", ({ foundOf }) => {
  test("shows no difference, is written anew by a refresh, and goes", { timeout: 300_000 }, async () => {
    await using stack = await openStack(pulumi ?? "", "embedded")
    const { engine } = stack
    const program = (autoApply: boolean) => async () => {
      const api = new Workspace("api", { autoApply, description: secret("s3cret"), tagBindings: { env: "prod" } })
      return { projectId: api.projectId, speculativeEnabled: api.speculativeEnabled }
    }
    await stack.up(program(true))
    const { id, projectId } = await engine.workspaces.get({ organization: "acme", name: "api" })
    // What another owner holds is a difference to whoever does not know which stack this is.
    await engine.tags.bind(id, [{ key: "theirs", value: "1" }], { owner: "kubernetes:acme/default/api" })
    const written = JSON.stringify(foundIn(await deploymentOf(stack)))
    expect(written).toContain(projectId)

    await rewrite(stack, (outputs) => {
      const [marker, ...told] = (JSON.parse(String(outputs["__found"])) as unknown[]).toReversed()
      return { ...outputs, __found: foundOf(told.toReversed()), __marker: marker }
    })
    expect(JSON.stringify(foundIn(await deploymentOf(stack)))).not.toBe(written)
    expect((await stack.preview(program(true))).operations).toEqual({ api: "same" })
    const { operations, output } = await stack.refresh()
    expect(Object.keys(operations)).toEqual(["api"])
    expect(output).toMatch(/Resources:\s+\d+ unchanged/)
    expect(JSON.stringify(foundIn(await deploymentOf(stack)))).toBe(written)
    expect((await stack.up(program(true))).operations).toEqual({ api: "same" })
    expect((await stack.up(program(false))).operations).toEqual({ api: "update" })
    expect(await stack.state()).not.toContain("s3cret")
    expect(await engine.tags.bindings(id, { owners: true, tags: true })).toMatchObject([
      { key: "env", value: "prod", owners: ["pulumi:stories/test"] },
      { key: "theirs", value: "1", owners: ["kubernetes:acme/default/api"] },
    ])
    await stack.destroy()
    expect((await engine.workspaces.list("acme", {}, { number: 1, size: 1 })).totalCount).toBe(0)
  })
})

interface Deployment {
  readonly deployment: {
    readonly resources: {
      readonly type: string
      readonly sourcePosition: string
      outputs: Readonly<Record<string, unknown>>
    }[]
  }
}

const deploymentOf = async (stack: TestStack): Promise<Deployment> =>
  JSON.parse(await stack.command(["stack", "export"])) as Deployment

const resourcesOf = async (stack: TestStack): Promise<Deployment["deployment"]["resources"]> =>
  (await deploymentOf(stack)).deployment.resources.filter(({ type }) => type.includes("chancery"))

const isWorkspace = ({ type }: { readonly type: string }): boolean => type.endsWith(":Workspace")

const foundIn = ({ deployment }: Deployment): unknown => deployment.resources.find(isWorkspace)?.outputs["__found"]

/** What the state has of workspaces. */
async function rewrite(
  stack: TestStack,
  change: (outputs: Readonly<Record<string, unknown>>) => object,
): Promise<void> {
  const exported = await deploymentOf(stack)
  for (const resource of exported.deployment.resources.filter(isWorkspace))
    resource.outputs = { ...change(resource.outputs) }
  const file = join(stack.folder, "earlier.json")
  await writeFile(file, JSON.stringify(exported))
  await stack.command(["stack", "import", "--file", file])
}
