import type { Caller } from "../core/caller.ts"
import { conflict, notFound } from "../core/errors.ts"
import { newId, type ProjectId } from "../core/ids.ts"
import { ownerOf, type Writer } from "../core/owner.ts"
import { type Page, pageOf, type PageRequest } from "../core/page.ts"
import type { Runtime } from "../core/runtime.ts"
import { repeatableRead, type Storage } from "../core/storage.ts"
import type { Instant } from "../core/time.ts"
import { attributeChanges } from "../core/attribute-changes.ts"
import { authorizeOrganization, authorizeProject, permissionsOn } from "./authorization.ts"
import type { Organization, OrganizationRepository } from "./organization.ts"
import {
  changeProject,
  createProject,
  type Project,
  type ProjectBindings,
  projectDefaults,
  type ProjectFilter,
  type ProjectInput,
  type ProjectPatch,
  projectPermissions,
  type ProjectRepository,
  type Projects,
  type ProjectView,
} from "./project.ts"
import type { ProjectChange, ProjectEvents } from "./project-events.ts"

interface UsedRepositories {
  readonly events: ProjectEvents
  readonly organizations: OrganizationRepository
  readonly projects: ProjectRepository
}

/** `Stores` also contains the repositories of `bindings`. */
export class ProjectService<Stores extends UsedRepositories> implements Projects {
  readonly #storage: Storage<Stores>
  readonly #runtime: Runtime
  readonly #bindings: ProjectBindings<Stores>
  readonly #caller: Caller

  constructor(storage: Storage<Stores>, runtime: Runtime, bindings: ProjectBindings<Stores>, caller: Caller) {
    this.#storage = storage
    this.#runtime = runtime
    this.#bindings = bindings
    this.#caller = caller
  }

  create(organizationName: string, input: ProjectInput, writer: Writer = {}): Promise<ProjectView> {
    const id = newId("prj", this.#runtime.random)
    const now = this.#runtime.clock.now()
    return this.#storage.transact(async (repositories) => {
      const { organization } = await authorizeOrganization(
        repositories,
        this.#caller,
        organizationName,
        "canCreateProject",
      )
      const context = await this.#contextOf(repositories, organization, input)
      const project = createProject(input, context, { id, organizationId: organization.id, now })
      await repositories.projects.insert(project)
      await this.#bind(repositories, project, input, { now, owner: ownerOf(writer) })
      await repositories.events.append(projectEvent("project.created", project))
      return this.#view(repositories, project, organization)
    }, isolationFor(input))
  }

  list(organizationName: string, filter: ProjectFilter, page: PageRequest): Promise<Page<ProjectView>> {
    return this.#storage.read(async (repositories) => {
      const { organization, membership } = await authorizeOrganization(repositories, this.#caller, organizationName)
      // Returns whether the caller can see every project without any grant.
      const everything = projectPermissions(
        this.#caller,
        { id: organization.defaultProjectId, organizationId: organization.id },
        [],
      ).canRead
      const query = {
        organizationId: organization.id,
        ...filter,
        ...(everything ? {} : { grantedTo: membership.teams }),
      }
      const found = await repositories.projects.list(query, page)
      return pageOf(await viewProjects(repositories, this.#caller, found.items, organization), page, found.totalCount)
    })
  }

  get(id: string): Promise<ProjectView> {
    return this.#storage.read(async (repositories) => {
      const { project } = await authorizeProject(repositories, this.#caller, id)
      return this.#view(repositories, project, await organizationOf(repositories, project))
    })
  }

  update(id: string, patch: ProjectPatch, writer: Writer = {}): Promise<ProjectView> {
    return this.#storage.transact(async (repositories) => {
      const { project } = await authorizeProject(repositories, this.#caller, id, "canUpdate")
      const organization = await organizationOf(repositories, project)
      const after = changeProject(project, patch, await this.#contextOf(repositories, organization, patch, project.id))
      await repositories.projects.save(after)
      await this.#bind(repositories, after, patch, { now: this.#runtime.clock.now(), owner: ownerOf(writer) })
      const changed = [
        ...attributeChanges(project, after, ["overwritesAgentPool"]),
        ...(project.overwritesAgentPool === after.overwritesAgentPool ? [] : ["settingOverwrites"]),
        ...(patch.tagBindings === undefined ? [] : ["tagBindings"]),
      ]
      if (changed.length > 0) await repositories.events.append({ ...projectEvent("project.updated", after), changed })
      return this.#view(repositories, after, organization)
    }, isolationFor(patch))
  }

  delete(id: string): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      const { project } = await authorizeProject(repositories, this.#caller, id, "canDestroy")
      if (project.isDefault) throw conflict("The default project cannot be deleted", { subject: id })
      const counts = (await repositories.projects.countsOf([project.id])).get(project.id)
      if (counts !== undefined && counts.workspaces > 0)
        throw conflict("The project cannot be deleted because it still contains workspaces", { subject: id })
      await repositories.projects.remove(project.id)
      await repositories.events.append(projectEvent("project.deleted", project))
    })
  }

  async #contextOf(
    { organizations }: UsedRepositories,
    organization: Organization,
    patch: ProjectPatch,
    projectId?: ProjectId,
  ) {
    const { defaultAgentPoolId, tagBindings = [] } = patch
    const ownsAgentPool =
      typeof defaultAgentPoolId === "string" && (await organizations.ownsAgentPool(organization.id, defaultAgentPoolId))
    const agentPoolAdmits =
      typeof defaultAgentPoolId !== "string" || (await organizations.admittedByAgentPool(defaultAgentPoolId, projectId))
    return { organization, ownsAgentPool, agentPoolAdmits, bindingFaults: this.#bindings.faults(tagBindings) }
  }

  async #bind(
    repositories: Stores,
    project: Project,
    { tagBindings }: ProjectPatch,
    by: { readonly now: Instant; readonly owner: string | undefined },
  ): Promise<void> {
    if (tagBindings === undefined) return
    await this.#bindings.replace(repositories, project, tagBindings, { ...by, random: this.#runtime.random })
  }

  async #view(repositories: UsedRepositories, project: Project, organization: Organization): Promise<ProjectView> {
    const [view] = await viewProjects(repositories, this.#caller, [project], organization)
    return view as ProjectView
  }
}

/**
 * Repeatable read suffices if one row is written, whose name is unique by constraint. No foreign key protects a default agent pool, and only
 * counting limits bindings. Both need a serializable transaction.
 */
const isolationFor = ({ defaultAgentPoolId, tagBindings }: ProjectPatch) =>
  defaultAgentPoolId === undefined && tagBindings === undefined ? repeatableRead : {}

const projectEvent = (kind: ProjectChange["kind"], { id, organizationId }: Project): ProjectChange => ({
  kind,
  organizationId,
  subject: { type: "projects", id },
})

/** Returns the documents of several projects of one organization. */
export async function viewProjects(
  repositories: Pick<UsedRepositories, "projects">,
  caller: Caller,
  projects: readonly Project[],
  organization: Organization,
): Promise<readonly ProjectView[]> {
  const counts = await repositories.projects.countsOf(projects.map(({ id }) => id))
  const permissions = await permissionsOn(repositories, caller, projects)
  return projects.map((project, index) => {
    const { id, name, description, createdAt, autoDestroyActivityDuration } = project
    const defaults = projectDefaults(project, organization)
    return {
      id,
      organizationName: organization.name,
      name,
      description,
      createdAt,
      autoDestroyActivityDuration,
      defaultExecutionMode: defaults.executionMode,
      defaultAgentPoolId: defaults.agentPoolId,
      settingOverwrites: {
        defaultExecutionMode: project.defaultExecutionMode !== null,
        defaultAgentPool: project.overwritesAgentPool,
      },
      permissions: permissions[index] ?? projectPermissions(caller, project, []),
      counts: counts.get(id) ?? { workspaces: 0, teams: 0 },
    }
  })
}

async function organizationOf(repositories: UsedRepositories, project: Project): Promise<Organization> {
  const organization = await repositories.organizations.find(project.organizationId)
  if (organization === undefined) throw notFound(project.id)
  return organization
}
