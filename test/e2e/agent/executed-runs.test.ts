// `chancery agent --once` with the real tools, and what happens to its runs when it is stopped or lost.
import { readdir, readFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openRemote } from "../../../engine/src/client/remote.ts"
import { systemRuntime } from "../../../engine/src/core/runtime.ts"
import { cloud, greeting, noTool, tools } from "../clients/terraform/fixture.ts"
import type { TerraformProgram } from "../../toolchain/terraform.ts"
import { type WorkspaceFixture, openWorkspaceFixture } from "./workspace-fixture.ts"

/** Creates a resource, then one after `waitSeconds`, and then one whose provisioner runs the command. */
const provisioned = (command: string, waitSeconds = 0): string => `resource "terraform_data" "quick" {}
resource "terraform_data" "waited" {
  depends_on = [terraform_data.quick]
  provisioner "local-exec" {
    command = "sleep ${waitSeconds}"
  }
}
resource "terraform_data" "slow" {
  depends_on = [terraform_data.waited]
  provisioner "local-exec" {
    command = ${JSON.stringify(command)}
  }
}
`

/** Plans wait for the answer of this server to a data source. */
async function openStalledSource() {
  let isStalled = true
  const server = createServer((_request, response) => {
    if (isStalled) return
    response.end(JSON.stringify({ version: 4, serial: 1, lineage: "source", outputs: {}, resources: [] }))
  })
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    configuration: `data "terraform_remote_state" "source" {
  backend = "http"
  config  = { address = "http://127.0.0.1:${port}/" }
}
`,
    release: () => {
      isStalled = false
      server.closeAllConnections()
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Opens a fixture for the tests of a suite. */
function openFixture(tool: TerraformProgram): () => WorkspaceFixture {
  let fixture: WorkspaceFixture
  beforeAll(async () => {
    fixture = await openWorkspaceFixture(tool)
  })
  afterAll(() => fixture[Symbol.asyncDispose]())
  return () => fixture
}

/** Seconds until the tool writes its state during an apply: OpenTofu does so only if a resource is created 20 seconds after the last time. */
const untilStateIsWritten = ({ kind }: TerraformProgram): number => (kind === "opentofu" ? 22 : 0)

/** The states of the runs of an agent, one after the other. */
async function writtenStates(runsFolder: string): Promise<string> {
  const paths = await readdir(runsFolder, { recursive: true })
  const states = paths.filter((path) => path.endsWith("terraform.tfstate"))
  // The folder of a run is removed at its end.
  const read = (path: string) => readFile(join(runsFolder, path), "utf8").catch(() => "")
  return (await Promise.all(states.map(read))).join("")
}

// One tool suffices here. The tests of remote operations (test/e2e/clients/terraform) run each of them on the agent of `npm start`.
describe.skipIf(noTool).each(tools.slice(0, 1))("chancery agent, with $kind $version", (tool) => {
  const fixture = openFixture(tool)

  test("plans, waits for the confirmation, applies, saves the state, and destroys", async () => {
    const { engine } = fixture()
    const { id, ...workspace } = await fixture().createWorkspace({ workingDirectory: "stacks/web" })
    const sensitive = { description: "", hcl: false, sensitive: true } as const
    const value = 'say "${ho}"'
    await engine.variables.create({ id }, { ...sensitive, key: "greeting", value, category: "terraform" })
    // The block cloud of the configuration names another workspace, and only the working directory is read.
    const files = { "stacks/web/main.tf": cloud('name = "elsewhere"') + greeting, "main.tf": "not = even read" }
    await workspace.upload(files)

    expect(await workspace.execute()).toContain(": planned\n")
    const planned = await workspace.latestRun()
    expect(planned).toMatchObject({
      status: "planned",
      hasChanges: true,
      planCounts: { additions: 1, changes: 0, destructions: 0, imports: 0 },
      executor: null,
    })
    const log = await workspace.log("plan")
    expect(log).toMatch(/terraform_data\.greeting will be created/)
    expect(log).toContain("(sensitive value)")
    expect(log).not.toContain("ho}")
    const json = JSON.parse(Buffer.from((await engine.runs.planJson(planned.planId)) ?? []).toString()) as object
    expect(json).toMatchObject({ resource_changes: [{ address: "terraform_data.greeting" }] })
    // The plan is not confirmed yet, so no run waits for an agent.
    expect(await workspace.execute()).toBe("")

    await engine.runs.apply(planned.id)
    expect(await workspace.execute()).toContain(": applied\n")
    const applied = await workspace.latestRun()
    expect(applied).toMatchObject({ status: "applied", applyCounts: { additions: 1, changes: 0, destructions: 0 } })
    expect(await workspace.log("apply")).toContain("Apply complete!")
    expect(await engine.stateVersions.current({ id })).toMatchObject({ runId: applied.id, status: "finalized" })
    expect((await workspace.state()).outputs["greeting"]?.value).toBe(value)
    expect(await engine.workspaces.get({ id })).toMatchObject({ lock: { held: false }, resourceCount: 1 })

    // The resources match the saved state.
    await workspace.queue()
    await workspace.execute()
    expect(await workspace.latestRun()).toMatchObject({ status: "planned_and_finished", hasChanges: false })
    await workspace.queue({ isDestroy: true, autoApply: true })
    await workspace.execute()
    expect(await workspace.latestRun()).toMatchObject({ status: "applied", applyCounts: { destructions: 1 } })
    expect(await engine.workspaces.get({ id })).toMatchObject({ resourceCount: 0 })
    expect(await readdir(join(workspace.data, "runs"))).toEqual([])
  })

  test("leaves a run alone that another executor claimed, and is rejected when claiming it", async () => {
    const { engine, url } = fixture()
    const workspace = await fixture().createWorkspace()
    await workspace.upload({ "main.tf": greeting })
    const target = { kind: "agent-pool", id: workspace.poolId } as const
    const claim = await engine.runClaims.claim(target, { name: "other", leaseMs: 60_000, waitMs: 0 })
    expect(await workspace.execute()).toBe("")
    expect(await workspace.latestRun()).toMatchObject({ status: "plan_queued", executor: { name: "other" } })
    // The token belongs to the pool, but its agent did not claim the run.
    const { secret } = await engine.tokens.createForAgentPool(workspace.poolId, { description: "another" })
    await using agent = openRemote(url, { token: secret, random: systemRuntime().random })
    await expect(agent.runClaims.heartbeat(claim?.id ?? "")).rejects.toMatchObject({ code: "not-found" })
    await expect(agent.runClaims.state(claim?.id ?? "")).rejects.toMatchObject({ code: "not-found" })
    await engine.runClaims.release(claim?.id ?? "")
    await workspace.execute()
    expect(await workspace.latestRun()).toMatchObject({ status: "planned" })
  })

  test("executes the run of one claim with the token of this claim, as in a pod", async () => {
    const { engine, url } = fixture()
    const { poolId, ...workspace } = await fixture().createWorkspace()
    await workspace.upload({ "main.tf": greeting })
    const { secret: token } = await engine.tokens.createForAgentPool(poolId, { description: "outside of the pod" })
    await using agent = openRemote(url, { token, random: systemRuntime().random })
    const claim = await agent.runClaims.claim({ kind: "own-pool" }, { name: "pod", leaseMs: 60_000, waitMs: 0 })
    const { secret } = await agent.runClaims.createToken(claim?.id ?? "")
    const execute = async (claimId: string) => {
      await using running = workspace.startAgent(["--claim", claimId], { environment: { CHANCERY_TOKEN: secret } })
      return await running.ended
    }
    expect(await execute(claim?.id ?? "")).toMatchObject({ code: 0, out: expect.stringContaining(": planned\n") })
    expect(await workspace.latestRun()).toMatchObject({ status: "planned", executor: null })
    // The claim has ended with the plan, so its token opens nothing.
    expect(await execute(claim?.id ?? "")).toMatchObject({
      code: 75,
      stderr: expect.stringContaining(`This agent does not have the claim ${claim?.id} any more.`),
    })
  })

  test("reports a configuration that cannot be planned, with the output of the tool", async () => {
    const workspace = await fixture().createWorkspace()
    await workspace.upload({ "main.tf": 'output "x" { value = nothing.here }' })
    expect(await workspace.execute()).toContain(": errored\n")
    expect(await workspace.latestRun()).toMatchObject({ status: "errored", executor: null })
    expect(await workspace.log("plan")).toMatch(/Reference to undeclared resource/)
  })

  test("gives a run its variables, a HOME of its own and passed variables, but no token of the agent", async () => {
    const { engine } = fixture()
    const { id, name, ...workspace } = await fixture().createWorkspace({ autoApply: true })
    const variable = { description: "", hcl: false, sensitive: false, category: "env" } as const
    await engine.variables.create({ id }, { ...variable, key: "REGION", value: "eu-west-1" })
    await engine.variables.create({ id }, { ...variable, key: "PIN", value: "123", sensitive: true })
    await engine.variables.create({ id }, { ...variable, key: "SECRET", value: "hunter2", sensitive: true })
    const inputs = `variable "TFC_RUN_ID" {}
variable "TFC_WORKSPACE_SLUG" {}
output "slug" { value = "\${var.TFC_WORKSPACE_SLUG} \${var.TFC_RUN_ID}" }
`
    await workspace.upload({ "main.tf": inputs + provisioned("env") })
    const environment = { HTTPS_PROXY: "http://127.0.0.1:9", OF_THE_AGENT: "yes", HOME: "/nowhere" }
    await workspace.execute(["--pass-env", "HTTPS_PROXY"], { environment })
    const run = await workspace.latestRun()
    expect(run).toMatchObject({ status: "applied" })
    const log = await workspace.log("apply")
    for (const line of [`TFC_RUN_ID=${run.id}`, `TFC_WORKSPACE_NAME=${name}`, "REGION=eu-west-1"])
      expect(log).toContain(line)
    expect(log).toContain("HTTPS_PROXY=http://127.0.0.1:9")
    // Values under four characters are not masked.
    expect(log).toContain("PIN=123")
    expect(log).toContain("SECRET=(sensitive value)")
    expect(log).toMatch(new RegExp(`HOME=${workspace.data}/runs/${run.id}-\\w+/home`))
    expect(log).not.toMatch(/CHANCERY_TOKEN|OF_THE_AGENT|hunter2/)
    expect((await workspace.state()).outputs["slug"]?.value).toBe(`acme/${name} ${run.id}`)
  })

  test("saves intermediate states, stops the tool when the run is canceled, and releases the lock after the state", async () => {
    const { engine } = fixture()
    const { id, ...workspace } = await fixture().createWorkspace({ autoApply: true })
    await workspace.upload({ "main.tf": provisioned("sleep 60", untilStateIsWritten(tool)) })
    await using running = workspace.startAgent(["--once", "--snapshot-interval", "1s"])
    await expect.poll(async () => (await workspace.latestRun()).status).toBe("applying")
    await expect.poll(() => workspace.log("apply")).toContain("terraform_data.quick: Creation complete")
    const { id: runId } = await workspace.latestRun()
    await expect
      .poll(async () => (await engine.stateVersions.list({ id }, {}, { number: 1, size: 9 })).items)
      .toMatchObject([{ intermediate: true, runId }])
    await engine.runs.cancel(runId)
    await expect(engine.runs.forceCancel(runId)).rejects.toMatchObject({ code: "conflict" })
    expect(await engine.workspaces.get({ id })).toMatchObject({ lock: { held: true } })
    const { code, out } = await running.ended
    expect([code, out]).toEqual([0, expect.stringMatching(/: canceled\n$/)])
    expect(await workspace.latestRun()).toMatchObject({ status: "canceled" })
    expect(await engine.workspaces.get({ id })).toMatchObject({ lock: { held: false } })
    expect(await engine.stateVersions.current({ id })).toMatchObject({ status: "finalized", runId })
    const resources = await engine.stateVersions.resources({ id }, { number: 1, size: 20 })
    expect(resources.items.map(({ address }) => address)).toContain("terraform_data.quick")
  })

  test("kills the tool when the run is canceled by force", async () => {
    const { engine } = fixture()
    await using source = await openStalledSource()
    const { id, ...workspace } = await fixture().createWorkspace()
    await workspace.upload({ "main.tf": source.configuration })
    await using running = workspace.startAgent(["--once", "--lease", "10m"])
    await expect.poll(() => workspace.log("plan")).toContain("data.terraform_remote_state.source: Reading")
    const { id: runId } = await workspace.latestRun()
    await engine.runs.cancel(runId)
    fixture().advanceClock(61_000)
    await engine.runs.forceCancel(runId)
    expect(await engine.workspaces.get({ id })).toMatchObject({ lock: { held: false } })
    // The source still gives no answer, and the grace time of two minutes has not passed.
    expect(await running.ended).toMatchObject({ code: 0, out: expect.stringMatching(/: force_canceled\n$/) })
    expect(await readdir(join(workspace.data, "runs"))).toEqual([])
  })

  test("finishes the run at hand after SIGTERM, takes no other, and ends at once after a second signal", async () => {
    const first = await fixture().createWorkspace({ autoApply: true })
    await first.upload({ "main.tf": provisioned("sleep 2") })
    await using draining = first.startAgent()
    await expect.poll(async () => (await first.latestRun()).status).toBe("applying")
    draining.child.kill("SIGTERM")
    await expect.poll(draining.stderr).toContain("The agent ends after the runs at hand.")
    expect((await draining.ended).code).toBe(0)
    expect(await first.latestRun()).toMatchObject({ status: "applied" })

    const second = await fixture().createWorkspace({ autoApply: true })
    await second.upload({ "main.tf": provisioned("sleep 5") })
    await using stopped = second.startAgent()
    await expect.poll(async () => (await second.latestRun()).status).toBe("applying")
    stopped.child.kill("SIGTERM")
    await expect.poll(stopped.stderr).toContain("A second signal ends it at once.")
    stopped.child.kill("SIGTERM")
    expect((await stopped.ended).code).toBe(1)
    expect(await second.latestRun()).toMatchObject({ status: "applying" })
  })

  test("is replaced by another agent when it is lost during a plan", async () => {
    await using source = await openStalledSource()
    const workspace = await fixture().createWorkspace()
    await workspace.upload({ "main.tf": source.configuration + greeting })
    {
      await using lost = workspace.startAgent()
      await expect.poll(() => workspace.log("plan")).toContain("data.terraform_remote_state.source: Reading")
      lost.child.kill("SIGKILL")
      await lost.ended
    }
    source.release()
    expect(await workspace.execute([], { data: `${workspace.data}-2` })).toBe("")
    fixture().advanceClock(61_000)
    await expect.poll(async () => (await workspace.latestRun()).status).toBe("plan_queued")
    expect(await workspace.execute([], { data: `${workspace.data}-2` })).toContain(": planned\n")
    expect(await workspace.log("plan")).toMatch(/executor[^]*terraform_data\.greeting will be created/i)
  })
})

describe.skipIf(noTool).each(tools)("the state, with $kind $version,", (tool) => {
  const fixture = openFixture(tool)

  test("of a lost apply is kept at the next start of the agent, and the run is errored", async () => {
    const { engine } = fixture()
    const { id, ...workspace } = await fixture().createWorkspace({ autoApply: true })
    await workspace.upload({ "main.tf": provisioned("sleep 30", untilStateIsWritten(tool)) })
    // The state as the tool has written it. OpenTofu 1.12 leaves resources out of what it writes during an apply.
    const withResources = /"name": "(quick|waited)"/
    {
      await using lost = workspace.startAgent()
      await expect.poll(() => writtenStates(join(workspace.data, "runs"))).toMatch(withResources)
      lost.child.kill("SIGKILL")
      await lost.ended
    }
    fixture().advanceClock(61_000)
    await expect.poll(async () => (await workspace.latestRun()).status).toBe("errored")
    expect(await engine.workspaces.get({ id })).toMatchObject({ lock: { held: false } })
    const out = await workspace.execute()
    const { id: runId } = await workspace.latestRun()
    expect(out).toContain(`An earlier agent ended during the apply of ${runId}. Its state is kept in `)
    const folder = join(workspace.data, "unsaved-states")
    const [name = ""] = await readdir(folder)
    expect(name).toMatch(new RegExp(`^${runId}.*\\.tfstate$`))
    expect(await readFile(join(folder, name), "utf8")).toMatch(withResources)
  })
})

describe.skipIf(noTool).each(tools)("a saved plan, with $kind $version,", (tool) => {
  const fixture = openFixture(tool)

  test("[F-W3] is applied by the next claim, which waits for no lease", async () => {
    const { engine, stopClock } = fixture()
    const { id, ...workspace } = await fixture().createWorkspace()
    await workspace.upload({ "main.tf": 'resource "terraform_data" "one" {}' })
    await engine.runs.discard((await workspace.latestRun()).id)
    // No lease ends while the clock stands still.
    using _stopped = stopClock()
    await workspace.queue({ savePlan: true })
    expect(await workspace.execute()).toContain(": planned_and_saved\n")
    const saved = await workspace.latestRun()
    expect(saved).toMatchObject({ status: "planned_and_saved", executor: null })
    await engine.runs.apply(saved.id)
    expect(await workspace.execute()).toContain(": applied\n")
    expect(await workspace.latestRun()).toMatchObject({ id: saved.id, status: "applied" })
    expect(await engine.workspaces.get({ id })).toMatchObject({ lock: { held: false }, resourceCount: 1 })
  })
})
