import { type Caller, membershipIn } from "../core/caller.ts"
import { invalid, notFound, rejectFaults } from "../core/errors.ts"
import { newId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Runtime } from "../core/runtime.ts"
import { atRepeatableRead, type Storage } from "../core/storage.ts"
import type { Project, ProjectRepository } from "./project.ts"
import {
  changeProjectAccess,
  covers,
  type ProjectAccess,
  projectAccessFaults,
  type ProjectAccessPatch,
  type TeamProject,
  type TeamProjectInput,
  type TeamProjectRepository,
  type TeamProjects,
} from "./team-project-access.ts"
import { authorizeProject, grantsOn } from "./authorization.ts"
import type { ProjectChange, ProjectEvents } from "./project-events.ts"
import { seesTeam, type TeamRepository } from "./team.ts"

interface UsedRepositories {
  readonly events: ProjectEvents
  readonly projects: ProjectRepository
  readonly teamProjects: TeamProjectRepository
  readonly teams: TeamRepository
}

/** Team access to projects. Callers cannot grant or remove more access than they have on the project. */
export class TeamProjectService implements TeamProjects {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, caller: Caller) {
    // Repeatable read suffices. A constraint permits one access of a team to a project; foreign keys delete it with the team or the
    // project. The rights of the caller are read from the snapshot.
    this.#storage = atRepeatableRead(storage)
    this.#runtime = runtime
    this.#caller = caller
  }

  create({ teamId, projectId, ...wanted }: TeamProjectInput): Promise<TeamProject> {
    const id = newId("tprj", this.#runtime.random)
    return this.#storage.transact(async (repositories) => {
      const { project } = await authorizeProject(repositories, this.#caller, projectId, "canManageTeams")
      const access = await this.#checked(repositories, project, undefined, wanted)
      const team = await repositories.teams.find(teamId)
      const membership = membershipIn(this.#caller, project.organizationId)
      if (team?.organizationId !== project.organizationId || membership === undefined || !seesTeam(membership, team))
        throw invalid([{ field: ["teamId", "id"], detail: "Team does not exist in this organization" }])
      const made: TeamProject = { id, teamId: team.id, projectId: project.id, ...access }
      await repositories.teamProjects.insert(made)
      await repositories.events.append(accessEvent(project))
      return made
    })
  }

  list(projectId: string, page: PageRequest): Promise<Page<TeamProject>> {
    return this.#storage.read(async (repositories) => {
      const { project } = await authorizeProject(repositories, this.#caller, projectId, "canReadTeams")
      return repositories.teamProjects.list(project.id, page)
    })
  }

  get(id: string): Promise<TeamProject> {
    return this.#storage.read(async (repositories) => {
      const found = await existing(repositories, id)
      await authorizeProject(repositories, this.#caller, found.projectId, "canReadTeams")
      return found
    })
  }

  update(id: string, patch: ProjectAccessPatch): Promise<TeamProject> {
    return this.#storage.transact(async (repositories) => {
      const found = await existing(repositories, id)
      const { project } = await authorizeProject(repositories, this.#caller, found.projectId, "canManageTeams")
      const { teamId, projectId } = found
      const after: TeamProject = {
        id,
        teamId,
        projectId,
        ...(await this.#checked(repositories, project, found, patch)),
      }
      await repositories.teamProjects.save(after)
      await repositories.events.append(accessEvent(project))
      return after
    })
  }

  delete(id: string): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      const found = await existing(repositories, id)
      const { project } = await authorizeProject(repositories, this.#caller, found.projectId, "canManageTeams")
      await this.#requireHeld(repositories, project, found)
      await repositories.teamProjects.remove(id)
      await repositories.events.append(accessEvent(project))
    })
  }

  async #checked(
    repositories: UsedRepositories,
    project: Project,
    before: ProjectAccess | undefined,
    patch: ProjectAccessPatch,
  ): Promise<ProjectAccess> {
    const after = changeProjectAccess(before, patch)
    rejectFaults(projectAccessFaults(after, patch))
    if (before !== undefined) await this.#requireHeld(repositories, project, before)
    await this.#requireHeld(repositories, project, after)
    return after
  }

  async #requireHeld(repositories: UsedRepositories, project: Project, access: ProjectAccess): Promise<void> {
    const membership = membershipIn(this.#caller, project.organizationId)
    if (membership?.owner === true || membership?.access.manageProjects === true) return
    if (!covers(await grantsOn(repositories, this.#caller, project), access)) throw notFound(project.id)
  }
}

const accessEvent = ({ id, organizationId }: Project): ProjectChange => ({
  kind: "project.updated",
  organizationId,
  subject: { type: "projects", id },
  changed: ["teamAccess"],
})

async function existing({ teamProjects }: UsedRepositories, id: string): Promise<TeamProject> {
  const found = await teamProjects.find(id)
  if (found === undefined) throw notFound(id)
  return found
}
