// Runs that misbehave: the agent ends each honestly, and goes on with the next.
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type AgentFixture, openAgentFixture } from "./fixture.ts"

/** Where a sandbox works, the agents use it (docs/agent-isolation.md). These tests are about limits that do not depend on it. */
const plain = ["--isolation", "none"]

let fixture: AgentFixture
beforeAll(async () => {
  fixture = await openAgentFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const finished = async (runId: string, status: string, timeout = 60_000): Promise<void> => {
  await expect.poll(async () => (await fixture.run(runId)).status, { timeout, interval: 200 }).toBe(status)
}

describe("a run whose tool", () => {
  test("plans without changes ends, and nothing of it stays on the agent's disk", async () => {
    await using agent = await fixture.agent('echo "No changes."; touch "$out"; exit 0', plain)
    const { runId } = await fixture.queue()
    await finished(runId, "planned_and_finished")
    expect(await fixture.log("plan", runId)).toContain("No changes.")
    await expect.poll(() => readdir(join(fixture.folder, "agent-1/runs")), { timeout: 10_000 }).toEqual([])
    agent.child.kill("SIGTERM")
    expect((await agent.ended).code).toBe(0)
  })

  test("never stops writing has a log that ends at the limit, and says so", async () => {
    await using _agent = await fixture.agent('yes "all work and no play" | head -c 30000000; touch "$out"; exit 0', [
      ...plain,
      "--max-log",
      "1MiB",
    ])
    const { runId } = await fixture.queue()
    await finished(runId, "planned_and_finished")
    const log = await fixture.log("plan", runId)
    expect(log).toContain("The log is longer than 1048576 bytes. The rest is left out.")
    expect(Buffer.byteLength(log)).toBeLessThan(1_048_576)
  })

  test("makes a plan of 1 GB ends with an error that names the limit", async () => {
    await using _agent = await fixture.agent('truncate -s 1G "$out"; exit 2', plain)
    const { runId } = await fixture.queue()
    await finished(runId, "errored")
    expect(await fixture.log("plan", runId)).toContain(
      "The plan has 1073741824 bytes. The server stores plans of at most 33554432 bytes.",
    )
  })

  test("never answers is stopped at the time limit, with all processes that it started", async () => {
    await using _agent = await fixture.agent("trap '' INT; echo waiting; sleep 987 & wait; sleep 988", [
      ...plain,
      "--time-limit",
      "3s",
      "--grace-time",
      "1s",
    ])
    const { runId } = await fixture.queue()
    await finished(runId, "errored")
    expect(await fixture.log("plan", runId)).toContain("terraform plan was stopped at the time limit.")
  })

  test("fails to initialize shows what init wrote", async () => {
    await using _agent = await fixture.agent("exit 0", plain)
    // The preamble of the script reads the override file, which a folder of that name replaces.
    const { runId } = await fixture.queue({ "main.tf": "", "zzzz_chancery_override.tf.json/x": "" })
    await finished(runId, "errored")
    expect(await fixture.log("plan", runId)).toContain("The agent failed. Its own log says more.")
  })

  test("is canceled is interrupted, and ends canceled", async () => {
    await using _agent = await fixture.agent(
      "trap 'echo interrupted; exit 1' INT; echo planning; sleep 100 & wait",
      plain,
    )
    const { runId } = await fixture.queue()
    await finished(runId, "planning")
    await expect.poll(() => fixture.log("plan", runId), { timeout: 20_000 }).toContain("planning")
    await fixture.engine.runs.cancel(runId)
    await finished(runId, "canceled")
    expect(await fixture.log("plan", runId)).toMatch(/interrupted[\s\S]*The run was canceled\./)
  })
})

test("the state of an apply that fails is stored, with its intermediate versions, and the run errors", async () => {
  const state = (serial: number) =>
    `{\n  "version": 4,\n  "serial": ${serial},\n  "lineage": "one",\n  "terraform_version": "1.11.4",\n  "outputs": {},\n  "resources": []\n}\n`
  const script = `case "$1" in
  plan) echo plan > "$out"; exit 2;;
  apply) for state in ../state/*/; do :; done
    printf '${state(1).replaceAll("\n", "\\n")}' > "$state/terraform.tfstate"; sleep 4
    printf '${state(2).replaceAll("\n", "\\n")}' > "$state/terraform.tfstate"; exit 1;;
esac`
  await using _agent = await fixture.agent(script, [...plain, "--snapshot-interval", "1s"])
  const { id, runId } = await fixture.queue(undefined, true)
  await finished(runId, "errored")
  expect(await fixture.log("apply", runId)).toContain("terraform apply ended with the exit code 1.")
  const { items } = await fixture.engine.stateVersions.list({ id }, {}, { number: 1, size: 10 })
  expect(items.map(({ serial, intermediate, runId: of }) => [serial, intermediate, of])).toEqual([
    [2, false, runId],
    [1, true, runId],
  ])
})

describe("a configuration", () => {
  test("without the workspace's working directory ends with an error that names it", async () => {
    await using _agent = await fixture.agent("exit 0", plain)
    const { id, runId } = await fixture.queue({ "main.tf": "" })
    await fixture.engine.runs.cancel(runId).catch(() => undefined)
    await fixture.engine.workspaces.update({ id }, { workingDirectory: "stacks/missing" })
    const input = { message: null, isDestroy: false, planOnly: false, refreshOnly: false, autoApply: null }
    const again = await fixture.engine.runs.create({ id }, { ...input, configurationVersionId: null })
    await finished(again.id, "errored")
    expect(await fixture.log("plan", again.id)).toContain('The configuration has no folder "stacks/missing"')
  })
})

describe("an agent", () => {
  test("with the token of a user is rejected, and says whose token it needs", async () => {
    const rootToken = join(fixture.folder, ".chancery/root-token")
    await using agent = await fixture.agent("exit 0", [...plain, "--once", "--token-file", rootToken])
    const { code, stderr } = await agent.ended
    expect(code).toBe(78)
    expect(stderr).toContain("The token is not the token of an agent pool")
  })

  test("with --once ends when no run waits", async () => {
    await using agent = await fixture.agent("exit 0", [...plain, "--once"])
    expect(await agent.ended).toMatchObject({ code: 0 })
  })

  test("finishes the run at hand when it is stopped", async () => {
    await using agent = await fixture.agent('sleep 4; touch "$out"; exit 0', plain)
    const { runId } = await fixture.queue()
    await finished(runId, "planning")
    agent.child.kill("SIGTERM")
    expect((await agent.ended).code).toBe(0)
    expect((await fixture.run(runId)).status).toBe("planned_and_finished")
  })

  test.each([
    { options: ["--slots", "0"], problem: '--slots cannot be "0"; it must be 1 to 100.' },
    { options: ["--time-limit", "soon"], problem: '--time-limit cannot be "soon"' },
    { options: ["--max-log", "big"], problem: '--max-log cannot be "big"' },
    { options: ["--max-log", "257MiB"], problem: '--max-log cannot be "257MiB"; it must be at most 256MiB.' },
    { options: ["--isolation", "container"], problem: "--isolation container needs --container-image." },
    { options: ["--isolation", "user"], problem: "--isolation user needs --run-as." },
  ])("is rejected with $options", async ({ options, problem }) => {
    await using agent = await fixture.agent("exit 0", [...options])
    const { code, stderr } = await agent.ended
    expect([code, stderr]).toEqual([64, expect.stringContaining(problem)])
  })
})
