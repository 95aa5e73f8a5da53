// A test engine with the organization `acme`, and shortcuts for more workspaces and callers.
import type { OrganizationAccess } from "../src/core/caller.ts"
import type { WorkspaceAccessLevel } from "../src/workspaces/access/workspace-permissions.ts"
import type { WorkspaceInput } from "../src/workspaces/workspace/workspace-input.ts"
import { announceExecutor } from "./announced-executor.ts"
import { openTestEngine, type TestEngine, type TestEngineOptions } from "./test-engine.ts"

export interface PopulatedEngine extends TestEngine {
  organization(name: string): Promise<void>
  /** Creates a workspace and returns its id. The organization is `acme` by default. */
  workspace(name: string, input?: WorkspaceInput & { readonly organization?: string }): Promise<string>
  /** Creates a team of `acme` with these rights, and returns its token. */
  token(rights?: {
    readonly organization?: Partial<OrganizationAccess>
    readonly on?: Readonly<Record<string, WorkspaceAccessLevel>>
  }): Promise<string>
}

export async function populatedEngine(options: TestEngineOptions = {}): Promise<PopulatedEngine> {
  const testEngine = await openTestEngine(options)
  const { engine } = testEngine
  const makeOrganization = async (name: string) => {
    await engine.organizations.create({ name, email: `${name}@example.com` })
    await announceExecutor(engine, { kind: "organization", name })
  }
  let teams = 0
  await makeOrganization("acme")
  return {
    ...testEngine,
    async organization(name) {
      await makeOrganization(name)
    },
    async workspace(name, { organization = "acme", ...input } = {}) {
      return (await engine.workspaces.create(organization, { name, ...input })).id
    },
    async token({ organization = {}, on = {} } = {}) {
      teams += 1
      const team = await engine.teams.create("acme", { name: `team-${teams}`, access: organization })
      for (const [workspaceId, access] of Object.entries(on))
        await engine.teamWorkspaces.create({ teamId: team.id, workspaceId, access })
      return (await engine.tokens.createForTeam(team.id, {})).secret
    },
  }
}
