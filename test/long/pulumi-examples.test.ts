// Examples as users run them: a folder with a `Pulumi.yaml`, and the command `pulumi` in it.
import { readFile } from "node:fs/promises"
import { beforeAll, describe, expect, test } from "vitest"
import { openProject } from "../e2e/pulumi/project.ts"
import { buildProvider, openStack } from "../e2e/pulumi/stack.ts"
import { pulumiProgram } from "../toolchain/pulumi.ts"

const pulumi = await pulumiProgram()
const first = { number: 1, size: 100 }

beforeAll(buildProvider)

/** Returns the fenced blocks below a heading, unchanged. */
async function blocksBelow(heading: string): Promise<readonly string[]> {
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8")
  const [, below = ""] = readme.split(`\n${heading}\n`)
  const [section = ""] = below.split(/^##+ /m)
  return [...section.matchAll(/^```\w*\n([^]*?)^```$/gm)].map(([, block]) => block ?? "")
}

test.skipIf(pulumi === undefined)(
  "the program of the README has the described effect and the printed output",
  async () => {
    await using stack = await openStack(pulumi ?? "", "remote")
    const [program = "", printed = ""] = await blocksBelow("### Pulumi")
    const project = await openProject(stack, "team-workspaces", program)
    expect(await project.up()).toContain(printed.trimEnd())
    await project.expectNoChanges()
    expect((await stack.engine.workspaces.list("acme", {}, first)).items.map(({ name }) => name)).toEqual([
      "api",
      "network",
    ])
    expect(await stack.engine.pki("team-pki").roles.list()).toEqual(["web"])
  },
)

describe.skipIf(pulumi === undefined)("the example", () => {
  test("team-workspaces creates the resources of a team, locks them, and destroys them", async () => {
    await using stack = await openStack(pulumi ?? "", "embedded")
    const { workspaces, tags, remoteStateConsumers, projects } = stack.engine
    const project = await openProject(stack, "team-workspaces")
    await project.pulumi("config", "set", "freeze", "end of the quarter")
    await project.up()
    await project.expectNoChanges()

    const { items } = await workspaces.list("acme", {}, first)
    expect(items.map(({ name, tagNames, lock }) => [name, tagNames, lock.held && lock.reason])).toEqual([
      ["payments-api", ["production"], "end of the quarter"],
      ["payments-network", ["production"], "end of the quarter"],
      ["payments-preview", ["short-lived"], false],
    ])
    const [api, network] = items.map(({ id }) => id)
    const effective = await tags.effectiveBindings(api ?? "")
    expect(effective.map(({ key, value }) => `${key}=${value}`).toSorted()).toEqual(["component=api", "team=payments"])
    const readers = await remoteStateConsumers.list(network ?? "", first)
    expect(readers.items.map(({ name }) => name).toSorted()).toEqual(["payments-api", "payments-preview"])

    await project.pulumi("config", "rm", "freeze")
    await project.up()
    expect((await workspaces.list("acme", {}, first)).items.filter(({ lock }) => lock.held)).toEqual([])
    await project.destroy()
    expect((await workspaces.list("acme", {}, first)).items).toEqual([])
    expect((await projects.list("acme", { names: ["payments"] }, first)).items).toEqual([])
  })

  test("tenants uses a separate token for each organization, and keeps it secret", async () => {
    await using stack = await openStack(pulumi ?? "", "remote")
    const { users, tokens, teams, organizationMemberships, workspaces, tags } = stack.engine
    stack.setEnvironment({ CHANCERY_TOKEN: "", CHANCERY_ENGINE_URL: "", CHANCERY_ORGANIZATION: "" })
    const project = await openProject(stack, "tenants")
    await project.pulumi("config", "set", "engineUrl", stack.url)
    await project.pulumi("config", "set", "tenants", '["acme","globex"]')
    const secrets: string[] = []
    for (const organization of ["acme", "globex"]) {
      const { id, username } = await users.create({ username: `admin-of-${organization}` })
      await organizationMemberships.create(organization, { username })
      const [owners] = (await teams.list(organization, { names: ["owners"] }, first)).items
      await teams.addMembers(owners?.id ?? "", { usernames: [username] })
      const { secret } = await tokens.createForUser(id, {})
      secrets.push(secret)
      await project.pulumi("config", "set", "--secret", `token-${organization}`, secret)
    }
    await project.up()
    await project.expectNoChanges()

    for (const organization of ["acme", "globex"]) {
      const [landing, ...others] = (await workspaces.list(organization, {}, first)).items
      expect([landing?.name, landing?.description, landing?.tagNames, others]).toEqual([
        "landing",
        `Where ${organization} begins`,
        ["managed"],
        [],
      ])
      const bindings = (await tags.bindings(landing?.id ?? "")).filter(({ value }) => value !== "")
      expect(bindings.map(({ key, value }) => [key, value])).toEqual([["tenant", organization]])
    }
    const exported = await project.pulumi("stack", "export")
    for (const secret of secrets) expect(exported).not.toContain(secret)
    await project.destroy()
    expect((await workspaces.list("globex", {}, first)).items).toEqual([])
  })
})
