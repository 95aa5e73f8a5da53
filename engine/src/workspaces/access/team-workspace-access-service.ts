import { type Caller, membershipIn } from "../../core/caller.ts"
import { invalid, notFound, rejectFaults } from "../../core/errors.ts"
import { newId } from "../../core/ids.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { Runtime } from "../../core/runtime.ts"
import { atRepeatableRead, type Storage } from "../../core/storage.ts"
import type { EventRepository } from "../../events/feed/event.ts"
import { seesTeam, type TeamRepository } from "../../organizations/team.ts"
import type { AccessRepository } from "./access-repository.ts"
import { authorizeWorkspace } from "./workspace-authorization.ts"
import {
  accessFaults,
  changeAccess,
  type TeamWorkspace,
  type TeamWorkspaceInput,
  type TeamWorkspacePatch,
  type TeamWorkspaces,
  type TeamWorkspaceRepository,
} from "./team-workspace-access.ts"
import type { WorkspaceRepository } from "../workspace/workspace-repository.ts"
import type { SituatedWorkspace } from "../workspace/workspace.ts"

interface UsedRepositories {
  readonly access: AccessRepository
  readonly events: EventRepository
  readonly teams: TeamRepository
  readonly teamWorkspaces: TeamWorkspaceRepository
  readonly workspaces: WorkspaceRepository
}

/**
 * Team access to workspaces. Callers that can read a workspace's settings can list it. Changing it needs administrator rights on the
 * workspace.
 */
export class TeamWorkspaceService implements TeamWorkspaces {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, caller: Caller) {
    // Repeatable read suffices. Each transaction changes one workspace. Of two concurrent ones on the same workspace, one is retried
    // (`WorkspaceRepository.guard`), so neither decides by rows of the workspace that the other changes.
    // A constraint permits one access of a team to a workspace, and a foreign key deletes it with the team.
    this.#storage = atRepeatableRead(storage)
    this.#runtime = runtime
    this.#caller = caller
  }

  create(input: TeamWorkspaceInput): Promise<TeamWorkspace> {
    const id = newId("tws", this.#runtime.random)
    return this.#storage.transact(async (repositories) => {
      const ref = { id: input.workspaceId }
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, ref, "canUpdate")
      const team = await repositories.teams.find(input.teamId)
      const membership = membershipIn(this.#caller, workspace.organizationId)
      if (team?.organizationId !== workspace.organizationId || membership === undefined || !seesTeam(membership, team))
        throw invalid([{ field: ["teamId", "id"], detail: "Team does not exist in this organization" }])
      const access = changeAccess(undefined, input)
      rejectFaults(accessFaults(access, input))
      const made: TeamWorkspace = { id, teamId: team.id, workspaceId: workspace.id, ...access }
      await repositories.teamWorkspaces.insert(made)
      await repositories.events.append({ kind: "team-access.updated", workspace })
      return made
    })
  }

  list(workspaceId: string, page: PageRequest): Promise<Page<TeamWorkspace>> {
    return this.#storage.read(async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, { id: workspaceId }, "canReadSettings")
      return repositories.teamWorkspaces.list(workspace.id, page)
    })
  }

  get(id: string): Promise<TeamWorkspace> {
    return this.#storage.read(
      async (repositories) => (await this.#authorized(repositories, id, "canReadSettings")).found,
    )
  }

  update(id: string, patch: TeamWorkspacePatch): Promise<TeamWorkspace> {
    return this.#storage.transact(async (repositories) => {
      const { found, workspace } = await this.#authorized(repositories, id, "canUpdate")
      const { teamId, workspaceId } = found
      const access = changeAccess(found, patch)
      rejectFaults(accessFaults(access, patch))
      const after: TeamWorkspace = { id: found.id, teamId, workspaceId, ...access }
      await repositories.teamWorkspaces.save(after)
      await repositories.events.append({ kind: "team-access.updated", workspace })
      return after
    })
  }

  delete(id: string): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      const { workspace } = await this.#authorized(repositories, id, "canUpdate")
      await repositories.teamWorkspaces.remove(id)
      await repositories.events.append({ kind: "team-access.updated", workspace })
    })
  }

  async #authorized(
    repositories: UsedRepositories,
    id: string,
    permission: "canReadSettings" | "canUpdate",
  ): Promise<{ readonly found: TeamWorkspace; readonly workspace: SituatedWorkspace }> {
    const found = await repositories.teamWorkspaces.find(id)
    if (found === undefined) throw notFound(id)
    const { workspace } = await authorizeWorkspace(repositories, this.#caller, { id: found.workspaceId }, permission)
    return { found, workspace }
  }
}
