// A world with the organization `acme` in it, and short ways to more workspaces and callers.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { OrganizationAccess } from "../core/caller.ts"
import { newId } from "../core/ids.ts"
import { keySealer, newKeyText, parseKeyRing } from "../storage/key-sealing.ts"
import { openDatabase } from "../storage/database.ts"
import { storesOver } from "../storage/stores.ts"
import type { WorkspaceAccessLevel } from "../workspaces/permissions.ts"
import { createWorkspace } from "../workspaces/settings.ts"
import { systemRuntime } from "../core/runtime.ts"
import { openWorld, type World, type WorldOptions } from "./world.ts"

export interface PopulatedWorld extends World {
  /** Its id. `project` is an id; the default project of the organization when left out. */
  workspace(name: string, options?: { readonly organization?: string; readonly project?: string }): Promise<string>
  organization(name: string): Promise<void>
  /** A token of a new team of `acme` with these rights. */
  token(rights?: {
    readonly organization?: Partial<OrganizationAccess>
    readonly on?: Readonly<Record<string, WorkspaceAccessLevel>>
  }): Promise<string>
}

export async function populatedWorld(options: Omit<WorldOptions, "url"> = {}): Promise<PopulatedWorld> {
  const runtime = options.runtime ?? systemRuntime()
  const folder = await mkdtemp(join(tmpdir(), "chancery-"))
  const url = `sqlite:${join(folder, "chancery.db")}`
  const world = await openWorld({ ...options, url })
  const { engine } = world
  const database = await openDatabase(url)
  const storage = storesOver(database, keySealer(parseKeyRing(newKeyText(runtime.random)), runtime.random))
  let teams = 0
  await engine.organizations.create({ name: "acme", email: "acme@example.com" })
  return {
    ...world,
    async organization(name) {
      await engine.organizations.create({ name, email: `${name}@example.com` })
    },
    workspace: (name, { organization: organizationName = "acme", project } = {}) =>
      storage.transact(async ({ organizations, workspaces }) => {
        const organization = await organizations.findByName(organizationName)
        if (organization === undefined) throw new Error(`there is no organization ${organizationName}`)
        const id = newId("ws", runtime.random)
        const projectId = (project ?? organization.defaultProjectId) as typeof organization.defaultProjectId
        const surroundings = {
          edition: options.edition ?? "self-hosted",
          plan: organization.plan,
          execution: { executionMode: organization.defaultExecutionMode, agentPoolId: null },
          globalRemoteStateDefault: false,
          releases: ["1.11.4"],
          nameIsTaken: false,
          agentPoolExists: false,
          oauthTokenExists: false,
          appInstallationExists: false,
        }
        const place = { id, organizationId: organization.id, projectId }
        await workspaces.insert(createWorkspace({ name }, place, surroundings, runtime.clock.now()))
        return id
      }),
    async token({ organization = {}, on = {} } = {}) {
      teams += 1
      const team = await engine.teams.create("acme", { name: `team-${teams}`, access: organization })
      for (const [workspaceId, access] of Object.entries(on))
        await engine.teamWorkspaces.create({ teamId: team.id, workspaceId, access })
      return (await engine.tokens.createForTeam(team.id, {})).secret
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await database.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
