import { type Caller, membershipIn } from "../core/caller.ts"
import { invalid, notFound } from "../core/errors.ts"
import { newId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Runtime } from "../core/runtime.ts"
import { atRepeatableRead, type Storage } from "../core/storage.ts"
import type { Change } from "../events/event.ts"
import type { Stores } from "../stores.ts"
import type { Project } from "./project.ts"
import { authorizeProject } from "./project-authorization.ts"
import type { ProjectAccessLevel } from "./project-permissions.ts"
import { seesTeam } from "./team.ts"
import type { TeamProject, TeamProjectInput, TeamProjects } from "./team-project.ts"

type UsedStores = Pick<Stores, "events" | "projects" | "teamProjects" | "teams">

/** Seeing a project shows who has access to it; changing that takes the right to change the project. */
export class TeamProjectService implements TeamProjects {
  readonly #storage: Storage<UsedStores>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<UsedStores>, runtime: Runtime, caller: Caller) {
    // A team has one access to a project by constraint; team and project take it along by foreign keys. Whoever may grant access
    // is read as of the snapshot.
    this.#storage = atRepeatableRead(storage)
    this.#runtime = runtime
    this.#caller = caller
  }

  create({ teamId, projectId, access }: TeamProjectInput): Promise<TeamProject> {
    const id = newId("tprj", this.#runtime.random)
    return this.#storage.transact(async (stores) => {
      const { project } = await authorizeProject(stores, this.#caller, projectId, "canUpdate")
      const team = await stores.teams.find(teamId)
      const membership = membershipIn(this.#caller, project.organizationId)
      if (team?.organizationId !== project.organizationId || membership === undefined || !seesTeam(membership, team))
        throw invalid([{ field: ["team", "id"], detail: "Team does not exist in this organization" }])
      const made: TeamProject = { id, teamId: team.id, projectId: project.id, access }
      await stores.teamProjects.insert(made)
      await stores.events.append(accessEvent(project))
      return made
    })
  }

  list(projectId: string, page: PageRequest): Promise<Page<TeamProject>> {
    return this.#storage.read(async (stores) => {
      const { project } = await authorizeProject(stores, this.#caller, projectId)
      return stores.teamProjects.list(project.id, page)
    })
  }

  get(id: string): Promise<TeamProject> {
    return this.#storage.read(async (stores) => {
      const found = await existing(stores, id)
      await authorizeProject(stores, this.#caller, found.projectId)
      return found
    })
  }

  update(id: string, patch: { readonly access?: ProjectAccessLevel }): Promise<TeamProject> {
    return this.#storage.transact(async (stores) => {
      const found = await existing(stores, id)
      const { project } = await authorizeProject(stores, this.#caller, found.projectId, "canUpdate")
      const after = { ...found, ...patch }
      await stores.teamProjects.save(after)
      await stores.events.append(accessEvent(project))
      return after
    })
  }

  delete(id: string): Promise<void> {
    return this.#storage.transact(async (stores) => {
      const found = await existing(stores, id)
      const { project } = await authorizeProject(stores, this.#caller, found.projectId, "canUpdate")
      await stores.teamProjects.remove(id)
      await stores.events.append(accessEvent(project))
    })
  }
}

const accessEvent = ({ id, organizationId }: Project): Change => ({
  kind: "project.updated",
  organizationId,
  subject: { type: "projects", id },
  changed: ["teamAccess"],
})

async function existing({ teamProjects }: UsedStores, id: string): Promise<TeamProject> {
  const found = await teamProjects.find(id)
  if (found === undefined) throw notFound(id)
  return found
}
