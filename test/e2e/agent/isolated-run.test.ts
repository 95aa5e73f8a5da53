// A run of an agent that isolates: it sees its own folder and variables, and nothing of the agent.
import { chmod } from "node:fs/promises"
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

describe.skipIf(process.platform !== "linux" || process.getuid?.() !== 0)("a run as another user", () => {
  let fixture: AgentFixture
  beforeAll(async () => {
    fixture = await openAgentFixture()
    // The folder of the agent is in one that its user can enter, such as /var/lib.
    await chmod(fixture.folder, 0o711)
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  test("writes its folder, and cannot read the token of its agent nor list the folder of the agent", async () => {
    const token = join(fixture.folder, "agent-token")
    const script = `id -un; cat ${token}; ls ${join(fixture.folder, "agent-1")} ../..; cat ${join(fixture.folder, "agent-1/agent.pid")} || echo closed
cat /proc/$PPID/environ | tr '\\0' '\\n'; echo end of secrets; touch "$out"; exit 0`
    await using agent = await fixture.agent(script, ["--isolation", "user", "--run-as", "nobody"])
    const { runId } = await fixture.queue()
    await expect.poll(async () => (await fixture.run(runId)).status, { timeout: 60_000 }).toBe("planned_and_finished")
    expect(agent.stderr()).toContain("isolation: user nobody")
    const log = await fixture.log("plan", runId)
    expect(log).toMatch(/^nobody$/m)
    expect(log).toContain("end of secrets")
    expect(log).not.toContain(fixture.agentToken)
    expect(log).not.toMatch(/unsaved-states|^runs$|CHANCERY_/m)
    expect(log).toContain("agent-1/agent.pid: Permission denied")
  })
})
