// A refresh removes deleted resources from the state, but never resources that are only hidden.
import type { Engine } from "@chancery/engine"
import { openTestEngine, type TestEngine } from "@chancery/testing"
import { afterEach, beforeEach, expect, test } from "vitest"
import { lifecycles } from "./kinds.ts"
import type { Defaults } from "./lifecycle.ts"

const defaults: Defaults = { deletionPolicy: "safe", tagBindings: {} }
const first = { number: 1, size: 10 }

let world: TestEngine
let engine: Engine
beforeEach(async () => {
  world = await openTestEngine()
  engine = world.engine
  for (const name of ["acme", "globex"]) await engine.organizations.create({ name, email: `${name}@example.com` })
})
afterEach(() => world[Symbol.asyncDispose]())

/** Creates a user who is a member of `acme` with these rights, or of no organization. */
async function somebody(rights?: { readonly manageWorkspaces?: boolean; readonly manageProjects?: boolean }) {
  const { id, username } = await engine.users.create({ username: "ada" })
  if (rights !== undefined) {
    await engine.organizationMemberships.create("acme", { username })
    const team = await engine.teams.create("acme", { name: "team", access: rights })
    await engine.teams.addMembers(team.id, { usernames: [username] })
  }
  const { secret } = await engine.tokens.createForUser(id, {})
  return world.engine.as(await world.engine.authenticate(secret))
}

const declarations = {
  workspace: { organization: "acme", name: "api", __marker: "m" },
  project: { organization: "acme", name: "payments" },
} as const

const made = async (kind: "workspace" | "project") => lifecycles[kind].create(engine, declarations[kind])

test.each(["workspace", "project"] as const)(
  "a token that sees every %s reads a deleted one as undefined",
  async (kind) => {
    const { id, state } = await made(kind)
    await lifecycles[kind].delete(engine, id, state, defaults)
    const manager = await somebody({ manageWorkspaces: true, manageProjects: true })
    for (const one of [engine, manager]) {
      expect(await lifecycles[kind].read(one, id, state)).toBeUndefined()
      await lifecycles[kind].delete(one, id, state, defaults)
    }
  },
)

test.each([
  { who: "a stranger", rights: undefined },
  { who: "a member without rights", rights: {} },
])("$who neither drops nor reads as deleted a hidden resource", async ({ rights }) => {
  const [workspace, project] = [await made("workspace"), await made("project")]
  const weak = await somebody(rights)
  for (const [kind, { id, state }] of [["workspace", workspace] as const, ["project", project] as const]) {
    const sentence = `${id} was deleted, or the token cannot see it: the token does not see everything in acme.`
    await expect(lifecycles[kind].read(weak, id, state)).rejects.toThrow(sentence)
    await expect(lifecycles[kind].delete(weak, id, state, defaults)).rejects.toThrow(sentence)
  }
  expect((await engine.workspaces.list("acme", {}, first)).items).toHaveLength(1)
})

test("a part of a workspace is read as deleted if the token sees the workspace or the whole organization", async () => {
  const { id: workspaceId } = await made("workspace")
  const { id, state } = await lifecycles.workspaceLock.create(engine, { workspaceId, reason: "moving" })
  await engine.workspaces.unlock({ id: workspaceId })
  const stranger = await somebody()
  await expect(lifecycles.workspaceLock.read(stranger, id, state, { organization: "acme" })).rejects.toThrow("in acme")
  await expect(lifecycles.workspaceLock.read(stranger, id, state)).rejects.toThrow("everything in all organizations")
  expect(await lifecycles.workspaceLock.read(engine, id, state)).toBeUndefined()
})

test("a token that sees a workspace reads its removed lock as deleted", async () => {
  const { id: workspaceId } = await made("workspace")
  const member = await somebody({})
  const [team] = (await engine.teams.list("acme", { names: ["team"] }, first)).items
  await engine.teamWorkspaces.create({ teamId: team?.id ?? "", workspaceId, access: "read" })
  const { id, state } = await lifecycles.workspaceLock.create(engine, { workspaceId, reason: "moving" })
  await engine.workspaces.unlock({ id: workspaceId })
  expect(await lifecycles.workspaceLock.read(member, id, state)).toBeUndefined()
})
