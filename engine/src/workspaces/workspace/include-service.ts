import { type Caller, membershipIn } from "../../core/caller.ts"
import type { RunId, StateVersionId, TeamId, UserId } from "../../core/ids.ts"
import type { Storage } from "../../core/storage.ts"
import {
  type Organization,
  type OrganizationRepository,
  permissionsIn,
  viewOrganization,
} from "../../organizations/organization.ts"
import { viewProjects } from "../../organizations/project-service.ts"
import type { ProjectRepository } from "../../organizations/project.ts"
import { seesTeam, type TeamRepository } from "../../organizations/team.ts"
import { viewTeam } from "../../organizations/team-service.ts"
import { shownToOthers } from "../../organizations/user-service.ts"
import type { UserRepository } from "../../organizations/user.ts"
import { effectiveBindings } from "../tags/tag-binding.ts"
import type { Taggable, TagRepository } from "../tags/tag-repository.ts"
import type { AccessRepository } from "../access/access-repository.ts"
import { viewAgentPools } from "../runs/agent-pool-service.ts"
import type { AgentPoolRepository } from "../runs/agent-pool-repository.ts"
import { viewConfigurationVersion } from "../configuration-versions/configuration-version-service.ts"
import type { ConfigurationVersionRepository } from "../configuration-versions/configuration-version-repository.ts"
import type { Inclusions, WorkspaceInclusions, WorkspacePart } from "./include.ts"
import { isVisible, type WorkspacePermission } from "../access/workspace-permissions.ts"
import { viewRun } from "../runs/run-service.ts"
import type { RunRepository } from "../runs/run-repository.ts"
import type { StateVersionRepository } from "../state/state-version-repository.ts"
import { type VariableRepository, viewVariable } from "../variables/variable.ts"
import type { WorkspaceRepository } from "./workspace-repository.ts"
import type { Actor } from "./workspace.ts"
import type { WorkspaceView } from "./workspace-view.ts"

interface UsedRepositories {
  readonly access: AccessRepository
  readonly agentPools: AgentPoolRepository
  readonly configurationVersions: ConfigurationVersionRepository
  readonly organizations: OrganizationRepository
  readonly projects: ProjectRepository
  readonly runs: RunRepository
  readonly stateVersions: StateVersionRepository
  readonly tags: TagRepository
  readonly teams: TeamRepository
  readonly users: UserRepository
  readonly variables: VariableRepository
  readonly workspaces: WorkspaceRepository
}

export class InclusionService implements WorkspaceInclusions {
  readonly #storage: Storage<UsedRepositories>
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, caller: Caller) {
    this.#storage = storage
    this.#caller = caller
  }

  /**
   * Returns the related resources that the caller may see. Runs, configuration versions and bindings need the right to see the workspace. A
   * consumer that may only read its state gets none of them. Outputs, states and variables need one permission each.
   */
  of(workspaces: readonly WorkspaceView[], parts: ReadonlySet<WorkspacePart>): Promise<Inclusions> {
    const wants = (...names: readonly WorkspacePart[]) => names.some((name) => parts.has(name))
    const holding = (permission: WorkspacePermission) => workspaces.filter(({ permissions }) => permissions[permission])
    const holders = wants("locked_by") ? workspaces.flatMap(({ lock }) => (lock.held ? [lock.by] : [])) : []
    const seen = workspaces.filter(({ permissions }) => isVisible(permissions))
    return this.#storage.read(async (repositories) => {
      const runs = wants("current_run", "latest_run", ...ofRun) ? await this.#runs(repositories, seen) : []
      const lockers = await this.#lockingRuns(repositories, seen, holders)
      const versions = await versionsOf(repositories, seen, runs, parts)
      const organizations = await this.#organizations(
        repositories,
        workspaces,
        wants("agent_pool", "organization", "project", "locked_by"),
      )
      const outputs = wants("outputs") ? await outputsOf(repositories, holding("canReadStateOutputs")) : []
      const variables = wants("vars")
        ? await repositories.variables.listMany(holding("canReadVariable").map(({ id }) => id))
        : []
      return {
        runs: [...new Map([...runs, ...lockers].map((run) => [run.id, run])).values()],
        plans: wants("current_run.plan") ? runs : [],
        applies: wants("current_run.apply") ? runs : [],
        ...versions,
        outputs,
        stateVersions: wants("current_state_version")
          ? await stateVersionsOf(repositories, holding("canReadStateVersions"))
          : [],
        variables: variables.map(viewVariable),
        users: (await repositories.users.findMany(idsOf<UserId>(holders, "users"))).map(shownToOthers),
        teams: await this.#teams(repositories, organizations, idsOf<TeamId>(holders, "teams")),
        organizations: wants("organization")
          ? organizations.flatMap((organization) => {
              const permissions = permissionsIn(this.#caller, organization.id)
              return permissions === undefined ? [] : [viewOrganization(organization, permissions)]
            })
          : [],
        projects: wants("project") ? await this.#projects(repositories, workspaces, organizations) : [],
        agentPools: wants("agent_pool") ? await this.#agentPools(repositories, seen, organizations) : [],
        effectiveTagBindings: wants("effective_tag_bindings")
          ? await this.#effectiveTagBindings(repositories, seen)
          : new Map(),
      }
    })
  }

  async #runs(repositories: UsedRepositories, workspaces: readonly WorkspaceView[]) {
    const ids = workspaces.flatMap(({ currentRunId }) => (currentRunId === null ? [] : [currentRunId]))
    return this.#viewRuns(repositories, workspaces, ids)
  }

  #lockingRuns(repositories: UsedRepositories, workspaces: readonly WorkspaceView[], holders: readonly Actor[]) {
    return this.#viewRuns(repositories, workspaces, idsOf<RunId>(holders, "runs"))
  }

  async #viewRuns(repositories: UsedRepositories, workspaces: readonly WorkspaceView[], ids: readonly RunId[]) {
    const permissions = new Map(workspaces.map((workspace) => [workspace.id, workspace.permissions]))
    const runs = ids.length === 0 ? [] : await repositories.runs.findMany(ids)
    return runs.flatMap((run) => {
      const permitted = permissions.get(run.workspaceId)
      return permitted === undefined ? [] : [viewRun(run, permitted)]
    })
  }

  async #effectiveTagBindings(
    { organizations, tags }: UsedRepositories,
    workspaces: readonly WorkspaceView[],
  ): Promise<Inclusions["effectiveTagBindings"]> {
    const found = await this.#organizations({ organizations }, workspaces, true)
    const taggables = found.flatMap(({ id: organizationId, name }) =>
      workspaces
        .filter(({ organizationName }) => organizationName === name)
        .flatMap(({ id, projectId }): Taggable[] => [
          { kind: "workspace", id, organizationId },
          { kind: "project", id: projectId, organizationId },
        ]),
    )
    const unique = [...new Map(taggables.map((taggable) => [taggable.id, taggable])).values()]
    const bindings = await tags.bindingsOf(unique)
    return new Map(
      workspaces.map(({ id, projectId }) => [
        id,
        effectiveBindings(bindings.get(id) ?? [], { id: projectId, bindings: bindings.get(projectId) ?? [] }),
      ]),
    )
  }

  async #organizations(
    { organizations }: Pick<UsedRepositories, "organizations">,
    workspaces: readonly WorkspaceView[],
    isWanted: boolean,
  ): Promise<readonly Organization[]> {
    if (!isWanted) return []
    const found: Organization[] = []
    // All workspaces of a page belong to one organization.
    for (const name of new Set(workspaces.map(({ organizationName }) => organizationName))) {
      const organization = await organizations.findByName(name)
      if (organization !== undefined) found.push(organization)
    }
    return found
  }

  async #agentPools(
    repositories: UsedRepositories,
    workspaces: readonly WorkspaceView[],
    organizations: readonly Organization[],
  ): Promise<Inclusions["agentPools"]> {
    const pools = await repositories.agentPools.findMany([
      ...new Set(workspaces.flatMap(({ agentPoolId: id }) => id ?? [])),
    ])
    const views = organizations.map((organization) => {
      const own = pools.filter(({ organizationId }) => organizationId === organization.id)
      return viewAgentPools(repositories, this.#caller, own, organization)
    })
    return (await Promise.all(views)).flat()
  }

  async #projects(
    repositories: UsedRepositories,
    workspaces: readonly WorkspaceView[],
    organizations: readonly Organization[],
  ): Promise<Inclusions["projects"]> {
    const projects = await repositories.projects.findMany([...new Set(workspaces.map(({ projectId }) => projectId))])
    const views = await Promise.all(
      organizations.map((organization) =>
        viewProjects(
          repositories,
          this.#caller,
          projects.filter(({ organizationId }) => organizationId === organization.id),
          organization,
        ),
      ),
    )
    return views.flat()
  }

  async #teams(
    repositories: UsedRepositories,
    organizations: readonly Organization[],
    ids: readonly TeamId[],
  ): Promise<Inclusions["teams"]> {
    if (ids.length === 0) return []
    const teams = await repositories.teams.findMany(ids)
    const members = await repositories.teams.membersOf(ids)
    return teams.flatMap((team) => {
      const organization = organizations.find(({ id }) => id === team.organizationId)
      const membership = membershipIn(this.#caller, team.organizationId)
      if (organization === undefined || membership === undefined || !seesTeam(membership, team)) return []
      return [viewTeam(team, organization.name, membership, members.get(team.id) ?? [])]
    })
  }
}

const ofRun = [
  "current_run.apply",
  "current_run.plan",
  "current_run.configuration_version",
  "current_run.configuration_version.ingress_attributes",
] as const satisfies readonly WorkspacePart[]

const idsOf = <Id extends string>(holders: readonly Actor[], kind: Actor["kind"]): Id[] => [
  ...new Set(holders.flatMap((holder) => (holder.kind === kind ? [holder.id as Id] : []))),
]

/** Returns configuration versions of the workspaces and of their runs, with their ingress attributes and readmes. */
async function versionsOf(
  { configurationVersions }: UsedRepositories,
  workspaces: readonly WorkspaceView[],
  runs: Inclusions["runs"],
  parts: ReadonlySet<WorkspacePart>,
): Promise<Pick<Inclusions, "configurationVersions" | "ingressAttributes" | "readmes">> {
  const has = (...names: readonly WorkspacePart[]) => names.some((name) => parts.has(name))
  const own = new Set(workspaces.flatMap(({ currentConfigurationVersionId: id }) => id ?? []))
  const ofRuns = new Set(runs.flatMap(({ configurationVersionId: id }) => id ?? []))
  const shown = new Set([
    ...(has("current_configuration_version", "current_configuration_version.ingress_attributes") ? own : []),
    ...(has("current_run.configuration_version", "current_run.configuration_version.ingress_attributes") ? ofRuns : []),
  ])
  const ids = new Set([...shown, ...(has("readme") ? own : [])])
  if (ids.size === 0) return { configurationVersions: [], ingressAttributes: [], readmes: [] }
  const versions = await configurationVersions.findMany([...ids])
  const withIngress = new Set([
    ...(has("current_configuration_version.ingress_attributes") ? own : []),
    ...(has("current_run.configuration_version.ingress_attributes") ? ofRuns : []),
  ])
  return {
    configurationVersions: versions.filter(({ id }) => shown.has(id)).map(viewConfigurationVersion),
    ingressAttributes: versions.flatMap(({ id, ingress }) =>
      ingress !== null && withIngress.has(id) ? [{ id: ingress.id, ...ingress.attributes }] : [],
    ),
    readmes: versions.flatMap(({ id, readme }) => (readme !== null && has("readme") && own.has(id) ? [readme] : [])),
  }
}

const currentStateIds = (workspaces: readonly WorkspaceView[]): StateVersionId[] =>
  workspaces.flatMap(({ currentStateVersionId: id }) => (id === null ? [] : [id]))

/** Returns the documents of current state versions. These are complete, so they have no upload URLs. */
async function stateVersionsOf(
  { stateVersions }: UsedRepositories,
  workspaces: readonly WorkspaceView[],
): Promise<Inclusions["stateVersions"]> {
  const ids = currentStateIds(workspaces)
  if (ids.length === 0) return []
  const related = await stateVersions.related(ids)
  const versions = await stateVersions.findMany(ids)
  return versions.map(({ organizationId: _organizationId, lockNumber: _lockNumber, ...version }) => ({
    ...version,
    outputIds: related.get(version.id)?.outputIds ?? [],
    hasJsonState: related.get(version.id)?.hasJsonState ?? false,
    uploads: null,
    downloads: null,
  }))
}

async function outputsOf(
  { stateVersions }: UsedRepositories,
  workspaces: readonly WorkspaceView[],
): Promise<Inclusions["outputs"]> {
  const ids = currentStateIds(workspaces)
  return ids.length === 0 ? [] : stateVersions.outputsOf(ids)
}
