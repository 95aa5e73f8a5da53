// Remote operations: the tool runs on the caller's machine, and plans and applies execute on the agent of `npm start -- --agent`.
import { readdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { RunView } from "../../../../engine/src/workspaces/runs/run.ts"
import {
  cloud,
  greeting,
  noTool,
  openTerraformFixture,
  organization,
  type Project,
  type TerraformFixture,
  tools,
} from "./fixture.ts"

const approval = "Do you want to perform these actions"

describe.skipIf(noTool).each(tools)("remote operations, by $kind $version", (tool) => {
  let fixture: TerraformFixture
  beforeAll(async () => {
    fixture = await openTerraformFixture({ agent: tool })
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  let count = 0
  async function newProject(configuration: string): Promise<{ readonly project: Project; readonly id: string }> {
    count += 1
    const name = `net-${count}`
    const project = await fixture.project(tool, name, cloud(`name = "${name}"`) + configuration)
    await project.succeeds("init")
    const { id } = await fixture.engine.workspaces.get({ organization, name })
    return { project, id }
  }
  const runsOf = async (id: string): Promise<readonly RunView[]> =>
    (await fixture.engine.runs.list({ id }, {}, { number: 1, size: 20 })).items
  async function lastRun(id: string): Promise<RunView> {
    const [run] = await runsOf(id)
    if (run === undefined) throw new Error("the workspace has no run")
    return run
  }
  const resourceCount = async (id: string) => (await fixture.engine.workspaces.get({ id })).resourceCount

  test("[F-W1] plan executes on the agent, streams its log, and shows the plan", async () => {
    const { project, id } = await newProject(greeting)
    const text = await project.succeeds("plan")
    expect(text).toContain("Waiting for the plan to start...")
    expect(text).toContain("Initializing plugins and modules...")
    expect(text).toMatch(/# terraform_data\.greeting will be created/)
    expect(text).toContain("Plan: 1 to add, 0 to change, 0 to destroy.")
    expect(await lastRun(id)).toMatchObject({ status: "planned_and_finished", planOnly: true })
    expect((await fixture.engine.workspaces.get({ id })).lock.held).toBe(false)
  })

  test("apply asks, and stores the state after yes", async () => {
    const { project, id } = await newProject(greeting)
    const text = await project.succeeds("apply", { answers: [{ to: approval, say: "yes" }] })
    expect(text).toMatch(/Apply complete! Resources: 1 added, 0 changed, 0 destroyed/)
    const run = await lastRun(id)
    expect(run).toMatchObject({ status: "applied", applyCounts: { additions: 1 } })
    expect(await fixture.engine.stateVersions.current({ id })).toMatchObject({ runId: run.id, status: "finalized" })
    expect(await resourceCount(id)).toBe(1)
    expect(await project.succeeds("output greeting")).toContain("hello")
    expect(await project.succeeds("plan")).toContain("No changes.")
  })

  test("apply changes nothing after no, and discards the run", async () => {
    const { project, id } = await newProject(greeting)
    const text = await project.fails("apply", { answers: [{ to: approval, say: "no" }] })
    expect(text).toContain("Apply discarded.")
    expect((await lastRun(id)).status).toBe("discarded")
    expect(await resourceCount(id)).toBe(0)
    expect((await fixture.engine.workspaces.get({ id })).lock.held).toBe(false)
  })

  test("apply -auto-approve, then destroy", async () => {
    const { project, id } = await newProject(greeting)
    await project.succeeds("apply -auto-approve")
    expect(await resourceCount(id)).toBe(1)
    const text = await project.succeeds("destroy -auto-approve")
    expect(text).toMatch(/Resources: (0 added, 0 changed, )?1 destroyed/)
    expect(await lastRun(id)).toMatchObject({ status: "applied", isDestroy: true, applyCounts: { destructions: 1 } })
    expect(await resourceCount(id)).toBe(0)
  })

  test("-var, -target, -replace and -refresh-only reach the agent", async () => {
    const two = `${greeting}resource "terraform_data" "other" {\n  input = "other"\n}\n`
    const { project, id } = await newProject(two)
    const targeted = await project.succeeds("plan -target=terraform_data.greeting")
    expect(targeted).toContain("Plan: 1 to add")
    expect((await lastRun(id)).targetAddrs).toEqual(["terraform_data.greeting"])
    expect(await project.succeeds("plan -var=greeting=salut")).toContain('"salut"')
    await project.succeeds("apply -auto-approve")
    const replaced = await project.succeeds("plan -replace=terraform_data.other")
    expect(replaced).toMatch(/terraform_data\.other will be replaced, as requested/)
    expect(await project.succeeds("plan -refresh-only")).toMatch(/No changes\./)
    expect((await lastRun(id)).refreshOnly).toBe(true)
  })

  test("[F-W2] a plan that -out saves is shown and applied, and its apply waits for no lease", async () => {
    const { project, id } = await newProject(greeting)
    await project.succeeds("plan -out=saved.tfplan")
    expect((await lastRun(id)).status).toBe("planned_and_saved")
    const shown = await project.succeeds("show saved.tfplan")
    expect(shown).toMatch(/terraform_data\.greeting will be created/)
    const began = performance.now()
    expect(await project.succeeds("apply saved.tfplan")).toContain("Apply complete!")
    // The lease of the plan's executor lasts a minute.
    expect(performance.now() - began).toBeLessThan(45_000)
    expect((await lastRun(id)).status).toBe("applied")
  })

  test("[F-W2] sensitive values occur neither in the log nor in the redacted plan", async () => {
    const { project, id } = await newProject(
      `variable "secret" {\n  sensitive = true\n}\nresource "terraform_data" "one" {\n  triggers_replace = var.secret\n}\n`,
    )
    const value = "correct horse battery staple"
    const variable = {
      key: "secret",
      value,
      category: "terraform",
      hcl: false,
      sensitive: true,
      description: "",
    } as const
    await fixture.engine.variables.create({ id }, variable)
    const echo = { ...variable, key: "TF_LOG", value: "trace", category: "env", sensitive: false } as const
    await fixture.engine.variables.create({ id }, echo)
    const text = await project.succeeds("plan")
    expect(text).toContain("(sensitive value)")
    expect(text).not.toContain(value)
    const { planId } = await lastRun(id)
    const redacted = Buffer.from((await fixture.engine.runs.redactedPlanJson(planId)) ?? []).toString()
    expect(redacted).toContain("terraform_data")
    expect(redacted).not.toContain(value)
    const json = Buffer.from((await fixture.engine.runs.planJson(planId)) ?? []).toString()
    expect(json).toContain(value)
  })

  test("a run waits behind a lock, and continues when the lock is released", async () => {
    const { project, id } = await newProject(greeting)
    await fixture.engine.workspaces.lock({ id }, { reason: "maintenance" })
    const running = project.start("apply -auto-approve")
    await expect.poll(running.text, { timeout: 30_000 }).toContain("Waiting for the manually locked workspace")
    expect((await lastRun(id)).status).toBe("pending")
    await fixture.engine.workspaces.unlock({ id })
    expect((await running.ended).code).toBe(0)
    expect(await resourceCount(id)).toBe(1)
  })

  test("Ctrl-C cancels an apply: the agent stops, and no lock remains", async () => {
    const slow = `resource "terraform_data" "slow" {\n  provisioner "local-exec" {\n    command = "sleep 60"\n  }\n}\n`
    const { project, id } = await newProject(slow)
    const running = project.start("apply -auto-approve", {
      answers: [{ to: "Do you want to cancel the remote operation", say: "yes" }],
    })
    await expect.poll(async () => (await runsOf(id))[0]?.status, { timeout: 40_000 }).toBe("applying")
    await expect.poll(running.text, { timeout: 20_000 }).toContain("terraform_data.slow: Creating...")
    running.child.kill("SIGINT")
    await running.ended
    await expect.poll(async () => (await lastRun(id)).status, { timeout: 60_000 }).toBe("canceled")
    expect((await fixture.engine.workspaces.get({ id })).lock.held).toBe(false)
  }, 150_000)

  test("a configuration with an error fails, and the CLI shows the error of the agent", async () => {
    const { project, id } = await newProject(`resource "terraform_data" "one" {\n  input = local.missing\n}\n`)
    const text = await project.fails("plan")
    expect(text).toContain("Reference to undeclared local value")
    expect((await lastRun(id)).status).toBe("errored")
  })

  test("variables of the workspace, the environment and the TFC_ names reach the configuration", async () => {
    const { project, id } = await newProject(`variable "region" {}
variable "TFC_RUN_ID" {}
output "region" {
  value = var.region
}
output "run" {
  value = var.TFC_RUN_ID
}
output "workspace" {
  value = terraform.workspace
}
`)
    const variable = { description: "", hcl: false, sensitive: false, category: "terraform" } as const
    await fixture.engine.variables.create({ id }, { ...variable, key: "region", value: "eu-west-1" })
    await project.succeeds("apply -auto-approve")
    const { id: runId } = await lastRun(id)
    const outputs = JSON.parse(await project.succeeds("output -json")) as Record<string, { readonly value: unknown }>
    expect(outputs).toMatchObject({
      region: { value: "eu-west-1" },
      run: { value: runId },
      workspace: { value: `net-${count}` },
    })
  })

  test("files that .terraformignore names stay on the caller's machine, and the working directory is the workspace's", async () => {
    const { project, id } = await newProject(`output "files" {\n  value = fileset(path.module, "*.txt")\n}\n`)
    await writeFile(join(project.folder, ".terraformignore"), "secret.txt\n")
    for (const name of ["secret.txt", "public.txt"]) await writeFile(join(project.folder, name), name)
    await project.succeeds("apply -auto-approve")
    expect(JSON.parse(await project.succeeds("output -json files"))).toEqual(["public.txt"])
    expect((await lastRun(id)).status).toBe("applied")
  })

  test("nothing of a run stays on the agent's disk", async () => {
    const { project } = await newProject(greeting)
    await project.succeeds("apply -auto-approve")
    await expect.poll(() => readdir(join(fixture.folder, ".chancery/agent/runs")), { timeout: 10_000 }).toEqual([])
  })
})
