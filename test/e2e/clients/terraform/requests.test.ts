// Requests of each command (docs/compatibility.md, "Requests of each command"). A client that sends more met an answer that it did not
// expect.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { habits } from "./differences.ts"
import type { RecordedRequest } from "./recording-proxy.ts"
import {
  cloud,
  greeting,
  noTool,
  openTerraformFixture,
  organization,
  type Project,
  type RunOptions,
  type TerraformFixture,
  tools,
} from "./fixture.ts"

let fixture: TerraformFixture
beforeAll(async () => {
  fixture = await openTerraformFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

/** A short name for every known request, by method, path and status of the answer. */
const names: readonly (readonly [string, RegExp])[] = [
  ["ping", /^GET \/api\/v2\/ping 204$/],
  ["entitlements", /^GET \S+\/entitlement-set 200$/],
  ["list", /^GET \S+\/workspaces\?search\S+ 200$/],
  ["workspace", /^GET \S+\/organizations\/default\/workspaces\/[^/?]+ 200$/],
  ["no-workspace", /^GET \S+\/organizations\/default\/workspaces\/[^/?]+ 404$/],
  ["create", /^POST \S+\/organizations\/default\/workspaces 201$/],
  ["version-of-tool", /^PATCH \S+\/workspaces\/ws-\w+ 200$/],
  ["delete", /^DELETE \S+\/organizations\/default\/workspaces\/[^/?]+ 204$/],
  ["safe-delete", /^POST \S+\/actions\/safe-delete 204$/],
  ["tags", /^GET \S+\/tag-bindings 200$/],
  ["bind", /^PATCH \S+\/tag-bindings 200$/],
  ["lock", /^POST \S+\/actions\/lock 200$/],
  ["unlock", /^POST \S+\/actions\/unlock 200$/],
  ["force-unlock", /^POST \S+\/actions\/force-unlock 200$/],
  ["state", /^GET \S+\/current-state-version 200$/],
  ["no-state", /^GET \S+\/current-state-version 404$/],
  ["download", /^GET \S+\/state-versions\/sv-\w+\/download\?\S+ 200$/],
  ["announce", /^POST \S+\/workspaces\/ws-\w+\/state-versions 201$/],
  ["upload", /^PUT \S+\/(json-)?state\?\S+ 20\d$/],
  ["announced", /^GET \S+\/state-versions\/sv-\w+ 200$/],
  ["outputs", /^GET \S+\/current-state-version-outputs 200$/],
  ["output", /^GET \S+\/state-version-outputs\/wsout-\w+ 200$/],
]

function nameOf({ method, path, status }: RecordedRequest): string {
  const request = `${method} ${path} ${status}`
  return names.find(([, pattern]) => pattern.test(request))?.[0] ?? request
}

/** Returns the requests of each command, in order. */
async function requestsOf(project: Project, commands: readonly (readonly [string, RunOptions?])[]) {
  const recorded: (readonly [string, string])[] = []
  for (const [command, options] of commands) {
    fixture.proxy.take()
    await project.succeeds(command, options)
    recorded.push([command, fixture.proxy.take().map(nameOf).join(" ")])
  }
  return recorded
}

const write = "announce upload upload announced unlock"

describe.skipIf(noTool).each(tools)("requests of each command, by $kind $version", (tool) => {
  const { kind } = tool

  test("for a workspace by name are limited to what the command needs", async () => {
    const name = `${kind}-asked`
    const project = await fixture.project(tool, "asked", cloud(`name = "${name}"`) + greeting)
    const found = "ping entitlements workspace"
    const locked = `${found} workspace lock`
    const expected: readonly (readonly [string, string])[] = [
      ["init", "ping entitlements no-workspace create version-of-tool no-state"],
      ["init", `${found} no-state`],
      ["validate", ""],
      ["plan", `${locked} no-state unlock`],
      ["apply -auto-approve", `${locked} no-state no-state ${write}`],
      ["init", `${found} state download`],
      ["plan", `${locked} state download unlock`],
      ["plan -lock=false", `${found} workspace state download`],
      ["apply -auto-approve", `${locked} state download unlock`],
      ["apply -auto-approve -var greeting=bye", `${locked} state download ${write}`],
      ["output", `${found} outputs output`],
      ["output -json", `${found} outputs output`],
      ["show", `${found} state download`],
      ["providers", `${found} state download`],
      ["state list", `${found} state download`],
      ["state pull", `${found} state download`],
      ["console", `${found} lock state download unlock`],
      ["taint terraform_data.greeting", `${locked} state download ${write}`],
      ["untaint terraform_data.greeting", `${locked} state download ${write}`],
      ["workspace show", ""],
      ["destroy -auto-approve", `${locked} state download ${write}`],
    ]
    expect(
      await requestsOf(
        project,
        expected.map(([command]) => [command]),
      ),
    ).toEqual(expected)

    await fixture.engine.workspaces.lock({ organization, name }, { reason: "at work" })
    const force = `force-unlock -force ${organization}/${name}`
    expect(await requestsOf(project, [[force]])).toEqual([[force, `${found} force-unlock`]])
  })

  test("for workspaces by tags are limited to what the command needs, and write no tag again", async () => {
    const [one, two] = [`${kind}-tagged-one`, `${kind}-tagged-two`]
    const project = await fixture.project(tool, "tagged", cloud(`tags = ["${kind}-tagged"]`) + greeting)
    const tags = habits[kind].readsTags ? " tags" : ""
    const listed = "ping entitlements list"
    // Flat tags are not listed among the bindings (hashicorp/terraform#39107), so a new workspace gets its tags again as bindings.
    const made = `no-workspace create version-of-tool${habits[kind].readsTags ? " tags bind" : ""}`
    const locked = `ping entitlements workspace workspace${tags} lock`
    const expected: readonly (readonly [string, string, RunOptions?])[] = [
      ["init", `${listed} ${made} no-state`, { answers: [{ to: "Enter a value", say: one }] }],
      ["workspace list", listed],
      [`workspace new ${two}`, `${listed} ${made}`],
      ["apply -auto-approve", `${locked} no-state no-state ${write}`],
      ["plan", `${locked} state download unlock`],
      ["output", `ping entitlements workspace${tags} outputs output`],
      ["workspace show", ""],
      [`workspace select ${one}`, listed],
      [`workspace delete -force ${two}`, `${listed} workspace${tags} lock state download unlock workspace delete`],
      [`workspace select -or-create=true ${two}`, `${listed} ${made}`],
      [`workspace select ${one}`, listed],
      [`workspace delete ${two}`, `${listed} workspace${tags} lock no-state unlock workspace safe-delete`],
      ["init", `${listed} workspace${tags} no-state`],
    ]
    const commands = expected.map(([command, , options = {}]) => [command, options] as const)
    expect(await requestsOf(project, commands)).toEqual(expected.map(([command, requests]) => [command, requests]))
  })
})
