// A run of an agent that isolates: it sees its own folder and variables, and nothing of the agent.
import { dirname, join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { bubblewrap } from "../../toolchain/bubblewrap.ts"
import { publicProgram } from "../../toolchain/public-program.ts"
import { type AgentFixture, openAgentFixture } from "./fixture.ts"

const bwrap = process.platform === "linux" ? await publicProgram(bubblewrap) : undefined

describe.skipIf(bwrap === undefined)("a run in a sandbox", () => {
  let fixture: AgentFixture
  beforeAll(async () => {
    fixture = await openAgentFixture()
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  test("cannot read the token of its agent, nor the files of other runs", async () => {
    const token = join(fixture.folder, "agent-token")
    const script = `cat ${token}; cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'; ls -la ${join(fixture.folder, "agent-1")}
ls ../..; env; echo end of secrets; touch "$out"; exit 0`
    await using agent = await fixture.agent(script, [], dirname(bwrap ?? ""))
    const { runId } = await fixture.queue()
    await expect.poll(async () => (await fixture.run(runId)).status, { timeout: 60_000 }).toBe("planned_and_finished")
    expect(agent.stderr()).toContain("isolation: sandbox")
    const log = await fixture.log("plan", runId)
    expect(log).toContain("end of secrets")
    expect(log).toContain("TF_WORKSPACE=web-")
    expect(log).not.toContain(fixture.agentToken)
    expect(log).not.toContain("--token-file")
    expect(log).not.toContain("agent.pid")
  })
})
