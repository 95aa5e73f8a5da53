// Stacks of an earlier build, whose states hold the settings of workspaces by position, used by this build.
import { rm, symlink } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Build, buildOf, commitNamed } from "./previous-build.ts"
import { openProject, type Project } from "../e2e/pulumi/project.ts"
import { buildProvider, openStack, type TestStack } from "../e2e/pulumi/stack.ts"
import { pulumiProgram } from "../toolchain/pulumi.ts"

const packages = fileURLToPath(new URL("../../node_modules", import.meta.url))
const pulumi = await pulumiProgram()
const before = await commitNamed("283bc8829b98b63756ede6a589124a1ccbffeb8b")

const program = `
import { PkiMount, PkiRole, TagBindings, Variable, Workspace, WorkspaceTags } from "@chancery/pulumi"
const api = new Workspace("api", { autoApply: true })
const web = new Workspace("web", { tagBindings: { team: "payments" }, projectId: api.projectId })
new WorkspaceTags("tags", { workspaceId: api.id, tags: ["web"] })
new TagBindings("bindings", { workspaceId: api.id, bindings: { tier: "1" } })
new Variable("region", { workspaceId: web.id, key: "region", value: "eu", category: "terraform" })
const pki = new PkiMount("pki", {})
new PkiRole("server", { mount: pki.path, allowedDomains: ["example.com"] })
export const { projectId, executionMode, queueAllRuns } = api
`

interface Upgraded extends AsyncDisposable {
  readonly stack: TestStack
  readonly project: Project
  readonly outputs: string
}

describe.skipIf(pulumi === undefined || before === undefined)("[F-U5] a stack of the previous build", () => {
  const building = new AsyncDisposableStack()
  let previous: Build
  beforeAll(async () => {
    previous = building.use(await buildOf(before ?? "", "provider"))
    await buildProvider()
  })
  afterAll(() => building.disposeAsync())

  /** Creates a stack with the earlier build; later runs use this one. */
  async function made(): Promise<Upgraded> {
    await using opening = new AsyncDisposableStack()
    const stack = opening.use(await openStack(pulumi ?? "", "remote"))
    const project = await openProject(stack, "team-workspaces", program)
    const link = join(stack.folder, "team-workspaces/node_modules")
    const standOn = async (folder: string) => {
      await rm(link)
      await symlink(folder, link)
    }
    await standOn(join(previous.folder, "node_modules"))
    await project.up()
    expect(await project.pulumi("stack", "export")).toContain('"__found": "[')
    const outputs = await project.pulumi("stack", "output", "--json")
    await standOn(packages)
    const closing = opening.move()
    return { stack, project, outputs, [Symbol.asyncDispose]: () => closing.disposeAsync() }
  }

  const presentIn = async ({ engine }: TestStack) => ({
    workspaces: (await engine.workspaces.list("acme", {}, { number: 1, size: 10 })).items,
    mounts: await engine.mounts.list(),
  })

  test("is destroyed", { timeout: 900_000 }, async () => {
    await using upgraded = await made()
    await upgraded.project.destroy()
    expect(await presentIn(upgraded.stack)).toEqual({ workspaces: [], mounts: [] })
  })

  test("is written with named members by the next up, which replaces nothing", { timeout: 900_000 }, async () => {
    await using upgraded = await made()
    const { stack, project, outputs } = upgraded
    const there = await presentIn(stack)
    const [urn = ""] = /urn:[^"]+::pki(?=")/.exec(await project.pulumi("stack", "export")) ?? []
    await expect(project.pulumi("up", "--yes", "--skip-preview", "--target", urn)).rejects.toMatchObject({
      stdout: expect.stringContaining(
        "was written by an earlier version; run pulumi up or pulumi refresh once without --target",
      ),
    })
    // The preview does not list unchanged members.
    const { steps } = JSON.parse(await project.pulumi("preview", "--json")) as Preview
    const shown = steps.filter(({ urn }) => urn.includes("chancery")).map(({ op, urn }) => [urn.split("::").at(-1), op])
    expect(Object.fromEntries(shown)).toEqual({ api: "update", web: "update" })
    await project.up()
    const state = await project.pulumi("stack", "export")
    expect(state).not.toContain("__found")
    expect(state).toContain('"autoApply": true')
    expect(await presentIn(stack)).toEqual(there)
    expect(await project.pulumi("stack", "output", "--json")).toBe(outputs)
    await project.expectNoChanges()
    await project.destroy()
    expect(await presentIn(stack)).toEqual({ workspaces: [], mounts: [] })
  })
})

interface Preview {
  readonly steps: readonly { readonly op: string; readonly urn: string }[]
}
