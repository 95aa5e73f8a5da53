// Where plans and applies execute: on the caller's machine, or on agents.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { cloud, greeting, noTool, openTerraformFixture, organization, type TerraformFixture, tools } from "./fixture.ts"

let fixture: TerraformFixture
beforeAll(async () => {
  fixture = await openTerraformFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

describe.skipIf(noTool).each(tools)("execution modes, by $kind $version", (tool) => {
  const { kind } = tool

  test("[F-W1] remote workspaces execute locally while the organization's remote operations are off", async () => {
    const { engine } = fixture
    const off = `${kind}-off`
    await engine.organizations.create({ name: off, email: "off@example.com" })
    const { id } = await engine.workspaces.create(off, { name: "web", executionMode: "remote" })
    await engine.organizations.update(off, { remoteOperations: "off" })
    const configuration = cloud('name = "web"').replace(`"${organization}"`, `"${off}"`) + greeting
    const project = await fixture.project(tool, off, configuration)
    await project.succeeds("init")
    await project.applies()
    expect(await engine.workspaces.get({ id })).toMatchObject({ executionMode: "local", resourceCount: 1 })
    expect((await engine.runs.list({ id }, {}, { number: 1, size: 1 })).totalCount).toBe(0)
  })

  test("[F-W1] a plan of a remote workspace fails while no agent serves the organization, and an apply too", async () => {
    const { engine } = fixture
    const name = `${kind}-remote`
    const { id } = await engine.workspaces.create(organization, { name, executionMode: "remote" })
    const project = await fixture.project(tool, "remote", cloud(`name = "${name}"`) + greeting)
    await project.succeeds("init")
    for (const command of ["plan", "apply -auto-approve"])
      expect((await project.fails(command)).replaceAll(/[\s│╷╵]+/g, " ")).toContain(
        `No agent serves organization ${organization}. Start one: chancery agent --token-file FILE`,
      )
    expect((await engine.runs.list({ id }, {}, { number: 1, size: 1 })).totalCount).toBe(0)
    // Commands that only read or edit the state need no agent.
    expect(JSON.parse(await project.succeeds("state pull"))).toMatchObject({ serial: 0, resources: [] })
    await engine.workspaces.update({ id }, { executionMode: "local" })
    await project.applies()
  })
})
