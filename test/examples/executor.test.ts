// The example executor in a separate process, with the real tool, and the agent token that it would have.
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openRemote } from "../../engine/src/client/remote.ts"
import { systemRuntime } from "../../engine/src/core/runtime.ts"
import type { Engine } from "../../engine/src/engine.ts"
import { bytesOf } from "../../engine/testing/state-file.ts"
import { tarball } from "../../engine/testing/tar-archive.ts"
import type { RunView } from "../../engine/src/workspaces/runs/run.ts"
import { type Running, serve, start, temporaryFolder } from "../cli/chancery.ts"
import { cloud, greeting, noTool, organization, tools } from "../e2e/clients/terraform/fixture.ts"

const program = fileURLToPath(new URL("../../examples/executor/executor.ts", import.meta.url))

interface Fixture extends AsyncDisposable {
  readonly engine: Engine
  readonly url: string
  readonly rootToken: string
}

async function openFixture(): Promise<Fixture> {
  await using opening = new AsyncDisposableStack()
  const folder = opening.use(await temporaryFolder()).path
  const served = opening.use(await serve(["dev"], { folder }))
  const rootToken = (await readFile(join(folder, ".chancery/root-token"), "utf8")).trim()
  const engine = opening.use(openRemote(served.url, { token: rootToken, random: systemRuntime().random }))
  const closing = opening.move()
  return { engine, url: served.url, rootToken, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

describe.skipIf(noTool).each(tools)("the example executor, with $kind $version", ({ program: tool, kind }) => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  let count = 0
  /** Creates a workspace with its own agent pool, and an executor with that pool's token. */
  async function newWorkspace(files: Readonly<Record<string, string>>, workingDirectory: string | null = null) {
    count += 1
    const { engine, url, rootToken } = fixture
    const pool = await engine.agentPools.create(organization, { name: `${kind}-pool-${count}` })
    const token = (await engine.tokens.createForAgentPool(pool.id, { description: "executor" })).secret
    const { id } = await engine.workspaces.create(organization, {
      name: `${kind}-executed-${count}`,
      executionMode: "agent",
      agentPoolId: pool.id,
      workingDirectory,
    })
    const configuration = {
      speculative: false,
      provisional: false,
      autoQueueRuns: true,
      ingressAttributes: null,
      readme: null,
    }
    const version = await engine.configurationVersions.create({ id }, configuration)
    const upload = () => engine.configurationVersions.upload(version.id, tarball(files))
    const latest = async (): Promise<RunView> => {
      const [run] = (await engine.runs.list({ id }, {}, { number: 1, size: 1 })).items
      if (run === undefined) throw new Error("no run was queued")
      return run
    }
    const execute = (...words: readonly string[]): Running =>
      start(["--address", url, "--of", `agent-pools/${pool.id}`, "--program", tool, "--name", "example", ...words], {
        program,
        environment: { CHANCERY_TOKEN: token },
      })
    /** Executes all waiting runs until they end. */
    async function executed(): Promise<string> {
      await using running = execute("--once")
      const { code, out, stderr } = await running.ended
      expect([code, stderr]).toEqual([0, ""])
      return out
    }
    const log = async (planOrApply: string): Promise<string> => {
      const path = `${url}/api/v2/${planOrApply}`
      const shown = await fetch(path, { headers: { authorization: `Bearer ${rootToken}` } })
      const { data } = (await shown.json()) as { data: { attributes: { "log-read-url": string } } }
      return (await fetch(data.attributes["log-read-url"])).text()
    }
    return { id, pool, upload, latest, execute, executed, log }
  }

  test("plans, waits for the confirmation, applies, and saves the state", async () => {
    const { engine } = fixture
    // The backend of the configuration is ignored here.
    const files = { "stacks/web/main.tf": cloud('name = "elsewhere"') + greeting, "main.tf": "not = even read" }
    const { id, upload, latest, executed, log } = await newWorkspace(files, "stacks/web")
    const variable = { description: "", hcl: false, sensitive: true } as const
    const value = 'say "${ho}"'
    await engine.variables.create({ id }, { ...variable, key: "greeting", value, category: "terraform" })
    await engine.variables.create({ id }, { ...variable, key: "TF_LOG", value: "", category: "env" })
    await upload()

    expect(await executed()).toContain(": planned\n")
    const planned = await latest()
    expect(planned).toMatchObject({
      status: "planned",
      hasChanges: true,
      planCounts: { additions: 1, changes: 0, destructions: 0, imports: 0 },
      executor: null,
    })
    expect(await log(`plans/${planned.planId}`)).toMatch(/terraform_data\.greeting will be created/)
    const json = JSON.parse(Buffer.from((await engine.runs.planJson(planned.planId)) ?? []).toString()) as object
    expect(json).toMatchObject({ resource_changes: [{ address: "terraform_data.greeting" }] })
    // The plan is not confirmed yet, so there is nothing to do.
    expect(await executed()).toBe("")

    await engine.runs.apply(planned.id)
    expect(await executed()).toContain(": applied\n")
    const applied = await latest()
    expect(applied).toMatchObject({ status: "applied", applyCounts: { additions: 1, changes: 0, destructions: 0 } })
    expect(await log(`applies/${applied.applyId}`)).toContain("Apply complete!")
    const state = await engine.stateVersions.current({ id })
    expect(state).toMatchObject({ runId: applied.id, status: "finalized" })
    const { outputs } = JSON.parse(
      (await bytesOf(await engine.stateVersions.download(state.id, "state"))).toString(),
    ) as {
      outputs: Record<string, { value: unknown }>
    }
    expect(outputs["greeting"]?.value).toBe(value)
    expect(await engine.workspaces.get({ id })).toMatchObject({ lock: { held: false }, resourceCount: 1 })

    // The resources match the saved state.
    const run = { message: null, autoApply: null, planOnly: false, refreshOnly: false, configurationVersionId: null }
    await engine.runs.create({ id }, { ...run, isDestroy: false })
    await executed()
    expect(await latest()).toMatchObject({ status: "planned_and_finished", hasChanges: false })
    await engine.runs.create({ id }, { ...run, isDestroy: true, autoApply: true })
    await executed()
    expect(await latest()).toMatchObject({ status: "applied", applyCounts: { destructions: 1 } })
    expect(await engine.workspaces.get({ id })).toMatchObject({ resourceCount: 0 })
  })

  test("leaves a run alone that another executor claimed, and is rejected when claiming it", async () => {
    const { engine, url } = fixture
    const { pool, upload, latest, executed } = await newWorkspace({ "main.tf": greeting })
    await upload()
    const target = { kind: "agent-pool", id: pool.id } as const
    const claim = await engine.runClaims.claim(target, { name: "other", leaseMs: 60_000, waitMs: 0 })
    expect(await executed()).toBe("")
    expect(await latest()).toMatchObject({ status: "plan_queued", executor: { name: "other" } })
    // The executor belongs to the pool, but did not claim the run.
    const { secret } = await engine.tokens.createForAgentPool(pool.id, { description: "another" })
    await using agent = openRemote(url, { token: secret, random: systemRuntime().random })
    await expect(agent.runClaims.heartbeat(claim?.id ?? "")).rejects.toMatchObject({ code: "not-found" })
    await expect(agent.runClaims.state(claim?.id ?? "")).rejects.toMatchObject({ code: "not-found" })
    await engine.runClaims.release(claim?.id ?? "")
    await executed()
    expect(await latest()).toMatchObject({ status: "planned" })
  })

  test("reports a configuration that cannot be planned, with the output of the program", async () => {
    const { upload, latest, executed, log } = await newWorkspace({ "main.tf": 'output "x" { value = nothing.here }' })
    await upload()
    expect(await executed()).toContain(": errored\n")
    const run = await latest()
    expect(run).toMatchObject({ status: "errored", executor: null })
    expect(await log(`plans/${run.planId}`)).toMatch(/Reference to undeclared resource/)
  })

  test("stops the program when the run is canceled, and saves the partial state before the lock is released", async () => {
    const { engine } = fixture
    const slow = `resource "terraform_data" "quick" {}
resource "terraform_data" "slow" {
  depends_on = [terraform_data.quick]
  provisioner "local-exec" {
    command = "sleep 60"
  }
}
`
    const { id, upload, latest, execute, log } = await newWorkspace({ "main.tf": slow })
    await engine.workspaces.update({ id }, { autoApply: true })
    await upload()
    await using running = execute("--once", "--heartbeat-seconds", "0.2")
    await expect.poll(async () => (await latest()).status).toBe("applying")
    const { id: runId, applyId } = await latest()
    // A resource has been created, so there is a state to save.
    await expect.poll(() => log(`applies/${applyId}`)).toContain("terraform_data.quick: Creation complete")
    await engine.runs.cancel(runId)
    await expect(engine.runs.forceCancel(runId)).rejects.toMatchObject({ code: "conflict" })
    const { code, out } = await running.ended
    expect([code, out]).toEqual([0, expect.stringMatching(/: canceled\n$/)])
    expect(await latest()).toMatchObject({ status: "canceled" })
    expect(await engine.workspaces.get({ id })).toMatchObject({ lock: { held: false } })
    expect(await engine.stateVersions.current({ id })).toMatchObject({ status: "finalized", runId })
    const resources = await engine.stateVersions.resources({ id }, { number: 1, size: 20 })
    expect(resources.items.map(({ address }) => address)).toContain("terraform_data.quick")
  })
})
