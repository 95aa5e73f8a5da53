// One workspace reads the state of another with `terraform_remote_state`, run by members who have access to the consumer only.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import {
  cloud,
  greeting,
  hostname,
  noTool,
  openTerraformFixture,
  organization,
  remoteBackend,
  type TerraformFixture,
  tools,
} from "./fixture.ts"

let fixture: TerraformFixture
beforeAll(async () => {
  fixture = await openTerraformFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const workspace = (name: string) => fixture.engine.workspaces.get({ organization, name })
const everyWorkspace = async () =>
  (await fixture.engine.workspaces.list(organization, {}, { number: 1, size: 1 })).totalCount

const reading = (producer: string): string => `data "terraform_remote_state" "producer" {
  backend = "remote"
  config = {
    hostname     = "${hostname}"
    organization = "${organization}"
    workspaces   = { name = "${producer}" }
  }
}
output "heard" {
  value = data.terraform_remote_state.producer.outputs.greeting
}
output "secret" {
  value     = data.terraform_remote_state.producer.outputs.password
  sensitive = true
}
`

describe.skipIf(noTool).each(tools)("remote state sharing, by $kind $version", (tool) => {
  const { kind } = tool

  /** Creates a producer with a state, and a consumer that a team without access to the producer may run in. */
  async function pair(name: string, blockOf: (workspaces: string) => string) {
    const names = { producer: `${kind}-${name}-producer`, consumer: `${kind}-${name}-consumer` }
    const producer = await fixture.project(tool, `${name}-producer`, cloud(`name = "${names.producer}"`) + greeting)
    await producer.succeeds("init")
    await producer.applies()
    const { id: consumerId } = await fixture.engine.workspaces.create(organization, { name: names.consumer })
    const team = await fixture.engine.teams.create(organization, { name: `${kind}-${name}` })
    await fixture.engine.teamWorkspaces.create({ teamId: team.id, workspaceId: consumerId, access: "write" })
    const { secret: token } = await fixture.engine.tokens.createForTeam(team.id, {})
    const configuration = blockOf(`name = "${names.consumer}"`) + reading(names.producer)
    const consumer = await fixture.project(tool, `${name}-consumer`, configuration, { token })
    return { consumer, consumerId, producer, producerId: (await workspace(names.producer)).id }
  }

  test.each([
    ["cloud", cloud],
    ["the backend remote", remoteBackend],
  ])("with a workspace on the list of consumers and with no other, through %s", async (name, blockOf) => {
    const { consumer, consumerId, producer, producerId } = await pair(name.replaceAll(" ", "-"), blockOf)
    await consumer.succeeds("init")
    const workspaces = await everyWorkspace()
    await consumer.fails("plan")
    // An invisible workspace is reported as missing, and the tool then tries to create it.
    expect(await everyWorkspace()).toBe(workspaces)

    await fixture.engine.remoteStateConsumers.add(producerId, [consumerId])
    await consumer.applies()
    expect(await consumer.succeeds("output -raw heard")).toBe("hello")
    expect(await consumer.succeeds("output -raw secret")).toBe("hunter2")
    await producer.applies("-var greeting=again")
    expect(await consumer.applies()).toContain('"hello" -> "again"')

    await fixture.engine.remoteStateConsumers.remove(producerId, [consumerId])
    await consumer.fails("plan")
    expect(await consumer.succeeds("output -raw heard")).toBe("again")
  })

  test("with every workspace of the organization, when global sharing is on", async () => {
    const { consumer, producerId } = await pair("global", cloud)
    await consumer.succeeds("init")
    await consumer.fails("apply -auto-approve")
    await fixture.engine.workspaces.update({ id: producerId }, { globalRemoteState: true })
    await consumer.applies()
    expect(await consumer.succeeds("output -raw heard")).toBe("hello")
  })

  test("with no caller that has an invalid token", async () => {
    const { producerId } = await pair("stranger", cloud)
    await fixture.engine.workspaces.update({ id: producerId }, { globalRemoteState: true })
    const name = `${kind}-stranger-producer`
    const stranger = await fixture.project(tool, "stranger", cloud(`name = "${name}"`) + greeting, { token: "guessed" })
    expect(await stranger.fails("init")).toMatch(/unauthorized/i)
  })
})

describe.skipIf(noTool).each(tools)("the backend remote, by $kind $version", (tool) => {
  const { kind } = tool

  test("keeps its state under a workspace name", async () => {
    const name = `${kind}-backend-named`
    const project = await fixture.project(tool, "backend-named", remoteBackend(`name = "${name}"`) + greeting)
    await project.succeeds("init")
    await project.applies()
    expect(await project.succeeds("output -raw greeting")).toBe("hello")
    expect(await workspace(name)).toMatchObject({ resourceCount: 1, lock: { held: false } })
    await project.succeeds("destroy -auto-approve")
    expect(await workspace(name)).toMatchObject({ resourceCount: 0, lock: { held: false } })
  })

  test("keeps several states under a prefix", async () => {
    const prefix = `${kind}-prefixed-`
    const { fails, succeeds, applies } = await fixture.project(
      tool,
      "backend-prefix",
      remoteBackend(`prefix = "${prefix}"`) + greeting,
    )
    expect(await fails("init")).toContain("No existing workspaces")
    await succeeds("workspace new one")
    await applies()
    await succeeds("workspace new two")
    await applies()
    expect(await succeeds("workspace list")).toMatch(/^ {2}one\n\* two\n/m)
    expect(await workspace(`${prefix}one`)).toMatchObject({ resourceCount: 1, lock: { held: false } })
    await succeeds("workspace select one")
    await succeeds("destroy -auto-approve")
    await succeeds("workspace select two")
    await succeeds("workspace delete one")
    await expect(workspace(`${prefix}one`)).rejects.toMatchObject({ code: "not-found" })
  })
})
