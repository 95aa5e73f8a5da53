import { expect, test } from "vitest"
import { commandsWithStore } from "../../testing/test-command.ts"
import { exitCodes } from "./exit-code.ts"

/** Runs commands on one database with the organization acme, one after another. */
async function chanceryWithStore() {
  const { chancery } = await commandsWithStore()
  await chancery("organization", "create", "acme", "--email", "a@example.com")
  const createPool = async (name: string) =>
    JSON.parse((await chancery("agent-pool", "create", name, "--json")).out) as { readonly id: string }
  return { chancery, createPool }
}

test("agent-pool create creates a pool of the only organization when none is named", async () => {
  const { chancery } = await chanceryWithStore()
  const created = await chancery("agent-pool", "create", "office")
  expect(created).toEqual({
    code: 0,
    out: expect.stringMatching(/^Created the agent pool acme\/office \(apool-\w{16}\)\.\n$/),
    stderr: "",
  })
  expect(await chancery("agent-pool", "create", "office", "--organization", "acme")).toMatchObject({ code: 1, out: "" })
  expect(await chancery("agent-pool", "create", "two words")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Name can only include letters, numbers, -, and _."),
  })
  expect(await chancery("agent-pool", "create", "office", "--organization", "absent")).toMatchObject({ code: 1 })
})

test("agent-pool list lists the pools of an organization as a table and as JSON", async () => {
  const { chancery, createPool } = await chanceryWithStore()
  const { id } = await createPool("office")
  await createPool("cloud")
  expect((await chancery("agent-pool", "list")).out).toMatch(
    new RegExp(`^NAME +ID +WORKSPACES +CREATED\\ncloud +apool-\\w{16} +all +\\S+Z\\noffice +${id} +all +\\S+Z\\n$`),
  )
  expect(JSON.parse((await chancery("agent-pool", "list", "--json")).out)).toMatchObject([
    { name: "cloud", organization: "acme", organizationScoped: true },
    { id, name: "office", organization: "acme", organizationScoped: true, createdAt: expect.stringMatching(/Z$/) },
  ])
})

test("token create and list serve an agent pool when it is named by its id or by organization and name", async () => {
  const { chancery, createPool } = await chanceryWithStore()
  const { id } = await createPool("office")
  // The search of the API is for a part of the name.
  await createPool("main-office")
  const byName = await chancery("token", "create", "--agent-pool", "acme/office", "--description", "agent-1")
  expect(byName).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^Token at-\w{16} for the agent pool acme\/office does not expire\./),
  })
  expect(byName.out).toMatch(/^\S{20,}\n$/)
  const byId = await chancery("token", "create", "--agent-pool", id, "--description", "agent-2", "--expires", "30d")
  expect(byId).toMatchObject({ code: 0, stderr: expect.stringContaining(`for the agent pool ${id} expires at `) })

  const listed = JSON.parse((await chancery("token", "list", "--agent-pool", "acme/office", "--json")).out) as unknown
  expect(listed).toHaveLength(2)
  expect(listed).toEqual(
    expect.arrayContaining(
      ["agent-1", "agent-2"].map((description) =>
        expect.objectContaining({ description, owner: { kind: "agent-pool", agentPoolId: id } }),
      ),
    ),
  )
  expect((await chancery("token", "list", "--agent-pool", "acme/main-office", "--json")).out).toBe("[]\n")
  const [{ id: token }] = listed as readonly [{ readonly id: string }]
  expect((await chancery("token", "revoke", token)).code).toBe(0)
  expect(JSON.parse((await chancery("token", "list", "--agent-pool", id, "--json")).out)).toHaveLength(1)
})

test.each([
  [["--agent-pool", "acme/absent", "--description", "a"], 1, "There is no agent pool acme/absent."],
  [["--agent-pool", "absent/office", "--description", "a"], 1, "There is no agent pool absent/office."],
  [["--agent-pool", "apool-absent", "--description", "a"], 1, "There is no agent pool apool-absent."],
  [["--agent-pool", "acme/office"], exitCodes.usage, "--agent-pool needs --description"],
  [["--agent-pool", "acme/office", "--user", "root"], exitCodes.usage, "Give exactly one of"],
  [["--agent-pool", "acme/office", "--policy", "root"], exitCodes.usage, "Service tokens have no owner"],
])("token create rejects %j and creates none", async (words, code, sentence) => {
  const { chancery, createPool } = await chanceryWithStore()
  await createPool("office")
  expect(await chancery("token", "create", ...words)).toEqual({
    code,
    out: "",
    stderr: expect.stringContaining(sentence),
  })
  expect((await chancery("token", "list", "--agent-pool", "acme/office", "--json")).out).toBe("[]\n")
})
