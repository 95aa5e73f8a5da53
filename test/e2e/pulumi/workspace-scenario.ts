// Workspaces and their tags from creation to destruction, with the real Pulumi engine.
import { secret } from "@pulumi/pulumi"
import { Tag, TagBindings, Workspace, type WorkspaceArgs, WorkspaceTags } from "@chancery/pulumi"
import { expect } from "vitest"
import type { TestStack } from "./stack.ts"

export interface Declared {
  readonly workspace: WorkspaceArgs
  readonly tags: readonly string[]
  readonly bindings: Readonly<Record<string, string>>
  readonly mode?: "additive" | "exclusive"
  /** True if the workspace has the separately declared tag. */
  readonly carried: boolean
}

export const declare =
  ({ workspace, tags, bindings, mode, carried }: Declared) =>
  async () => {
    const api = new Workspace("api", workspace)
    new WorkspaceTags("flat", { workspaceId: api.id, tags: [...tags], ...(mode === undefined ? {} : { mode }) })
    new TagBindings("valued", { workspaceId: api.id, bindings, ...(mode === undefined ? {} : { mode }) })
    new Tag("shared", { workspaceIds: carried ? [api.id] : [] })
  }

export async function workspaceScenario(stack: TestStack): Promise<void> {
  const { engine } = stack
  const all = async () => (await engine.workspaces.list("acme", {}, { number: 1, size: 100 })).items
  const tagsOf = async (id: string) =>
    (await engine.tags.bindings(id, { tags: true }))
      .map(({ key, value }) => (value === "" ? key : `${key}=${value}`))
      .toSorted()

  const first: Declared = {
    workspace: { autoApply: true, description: secret("s3cret"), autoDestroyActivityDuration: "14d" },
    tags: ["web", "Prod"],
    bindings: { env: "prod", team: "payments" },
    carried: true,
  }
  const created = { api: "create", flat: "create", valued: "create", shared: "create" }
  const same = { api: "same", flat: "same", valued: "same", shared: "same" }

  expect((await stack.preview(declare(first))).operations).toEqual(created)
  expect(await all()).toEqual([])

  expect((await stack.up(declare(first))).operations).toEqual(created)
  const [made] = await all()
  const id = made?.id ?? ""
  expect(made).toMatchObject({
    name: "api",
    autoApply: true,
    description: "s3cret",
    sourceName: "pulumi:organization/project/test/api",
  })
  expect(await tagsOf(id)).toEqual(["Prod", "env=prod", "shared", "team=payments", "web"])
  expect((await stack.up(declare(first))).operations).toEqual(same)

  // Equivalent values: another unit of a duration, another order, another case of a flat tag.
  const reworded: Declared = {
    ...first,
    workspace: { ...first.workspace, autoDestroyActivityDuration: "336h" },
    tags: ["prod", "web"],
  }
  expect((await stack.preview(declare(reworded))).operations).toEqual(same)

  const project = await engine.projects.create("acme", { name: "elsewhere" })
  const everything: Declared = {
    workspace: {
      name: "api-2",
      projectId: project.id,
      description: "new",
      executionMode: "local",
      allowDestroyPlan: false,
      autoApply: false,
      autoApplyRunTrigger: true,
      autoDestroyAt: "2040-01-01T00:00:00Z",
      inheritsProjectAutoDestroy: false,
      fileTriggersEnabled: false,
      globalRemoteState: true,
      queueAllRuns: true,
      speculativeEnabled: false,
      structuredRunOutputEnabled: false,
      engineVersion: "~> 1.5",
      triggerPatterns: ["a/**"],
      workingDirectory: "deep/down",
    },
    tags: ["web", "blue"],
    bindings: { env: "dev" },
    carried: true,
  }
  const updated = { api: "update", flat: "update", valued: "update", shared: "same" }
  expect((await stack.preview(declare(everything))).operations).toEqual(updated)
  expect((await stack.up(declare(everything))).operations).toEqual(updated)
  const { autoDestroyAt: _text, ...changed } = everything.workspace
  expect(await engine.workspaces.get({ id })).toMatchObject(changed)
  expect(await tagsOf(id)).toEqual(["blue", "env=dev", "shared", "web"])

  // Changes by others, of declared and of undeclared settings.
  await engine.workspaces.update({ id }, { queueAllRuns: false })
  await engine.tags.remove(id, [{ name: "blue" }])
  await engine.tags.add(id, [{ name: "foreign" }])
  await engine.tags.bind(id, [
    { key: "env", value: "stolen" },
    { key: "theirs", value: "x" },
  ])
  await stack.refresh()
  expect((await stack.preview(declare(everything))).operations).toEqual(updated)
  expect((await stack.up(declare(everything))).operations).toEqual(updated)
  expect(await engine.workspaces.get({ id })).toMatchObject({ queueAllRuns: true })
  expect(await tagsOf(id)).toEqual(["blue", "env=dev", "foreign", "shared", "theirs=x", "web"])

  // From now on other tags are removed, and members that are no longer declared are reset to their defaults.
  const { workspace } = everything
  const { triggerPatterns: _patterns, workingDirectory: _directory, executionMode: _mode, ...less } = workspace
  const exclusive: Declared = { ...everything, workspace: less, tags: ["web", "shared"], mode: "exclusive" }
  expect((await stack.up(declare(exclusive))).operations).toEqual(updated)
  expect(await tagsOf(id)).toEqual(["env=dev", "shared", "web"])
  expect(await engine.workspaces.get({ id })).toMatchObject({
    triggerPatterns: [],
    workingDirectory: null,
    settingOverwrites: { executionMode: false },
  })

  // A change that the engine would refuse fails with its property, before anything is changed.
  const refused: Declared = { ...exclusive, workspace: { ...less, executionMode: "agent" } }
  await expect(stack.up(declare(refused))).rejects.toThrow(/agentPoolId.*Agent pool must be specified/s)

  // A workspace that others deleted is created again.
  await engine.workspaces.forceDelete({ id })
  await stack.refresh()
  const again = await stack.up(declare(exclusive))
  expect(again.operations).toMatchObject({ api: "create", flat: "create", valued: "create" })

  // Another organization means another workspace; the old one is deleted.
  const { projectId: _project, ...portable } = less
  const moved: Declared = { ...exclusive, workspace: { ...portable, organization: "globex" }, carried: false }
  expect((await stack.up(declare(moved))).operations).toMatchObject({ api: "replace", flat: "replace" })
  expect(await all()).toEqual([])

  const state = await stack.state()
  expect(state).not.toContain("s3cret")
  expect(state).not.toContain(stack.token)
  await stack.destroy()
  expect((await engine.workspaces.list("globex", {}, { number: 1, size: 100 })).items).toEqual([])
  expect((await engine.tags.list("acme", {}, { number: 1, size: 100 })).items).toEqual([])
}
