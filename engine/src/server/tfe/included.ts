// Reads the resources that `include` adds to runs, state versions and workspaces. Each is read with the caller's rights, so that nothing is
// disclosed that the caller could not read. Each is returned once, however many resources refer to it.
import { isEngineError } from "../../core/errors.ts"
import { maximumPageSize } from "../../core/page.ts"
import type { Engine } from "../../engine.ts"
import { agentPool } from "../../contracts/tfe/agent-pool.ts"
import { configurationVersion, ingressAttributes, readme } from "../../contracts/tfe/configuration-version.ts"
import type { Resource } from "../../contracts/tfe/json-api/document.ts"
import {
  apply,
  applyOf,
  comment,
  plan,
  planOf,
  run,
  runEvent,
  type runEventParts,
  type runParts,
} from "../../contracts/tfe/run.ts"
import { organization } from "../../contracts/tfe/organization.ts"
import { project } from "../../contracts/tfe/project.ts"
import {
  stateVersion,
  stateVersionOutput,
  type stateVersionParts,
  withDocumentAddresses,
  workspaceOutput,
} from "../../contracts/tfe/state-version.ts"
import { encodeIdentifiedBindings } from "../../contracts/tfe/tag.ts"
import { team } from "../../contracts/tfe/team.ts"
import { user } from "../../contracts/tfe/user.ts"
import { variable } from "../../contracts/tfe/variable.ts"
import { type EncodedWorkspace, encodeWorkspace } from "../../contracts/tfe/workspace-encoder.ts"
import type { Inclusions } from "../../workspaces/workspace/include.ts"
import type { RunEvent, RunView } from "../../workspaces/runs/run.ts"
import type { StateVersionView } from "../../workspaces/state/state-version.ts"
import type { Actor } from "../../workspaces/workspace/workspace.ts"
import type { WorkspaceView } from "../../workspaces/workspace/workspace-view.ts"

type RunParts = ReadonlySet<(typeof runParts)[number]>

type StateVersionParts = ReadonlySet<(typeof stateVersionParts)[number]>

/** Reads and encodes the resources that `include` names for runs. */
export async function besideRuns(engine: Engine, runs: readonly RunView[], parts: RunParts): Promise<Resource[]> {
  const versions = runs.map(({ configurationVersionId }) => configurationVersionId)
  const workspaces = parts.has("workspace") ? runs.map(({ workspaceId }) => workspaceId) : []
  const ingress = parts.has("configuration_version.ingress_attributes")
  return [
    ...(parts.has("plan") ? runs.map((view) => plan.encode(planOf(view))) : []),
    ...(parts.has("apply") ? runs.map((view) => apply.encode(applyOf(view))) : []),
    ...(ingress || parts.has("configuration_version") ? await configurations(engine, versions) : []),
    ...(ingress ? await ingresses(engine, versions) : []),
    ...(parts.has("created_by") ? await creators(engine, runs) : []),
    ...(parts.has("run_events") ? await eventsOf(engine, runs) : []),
    ...(await readable(workspaces, (id) => engine.workspaces.get({ id }))).map(encodeWorkspace),
  ]
}

/** Reads and encodes the resources that `include` names for events of runs. */
export async function besideRunEvents(
  engine: Engine,
  events: readonly RunEvent[],
  parts: ReadonlySet<(typeof runEventParts)[number]>,
): Promise<Resource[]> {
  const actors = parts.has("actor") ? events.map(({ actor }) => ({ createdBy: actor })) : []
  const comments = parts.has("comment") ? events.map(({ commentId }) => commentId) : []
  return [
    ...(await creators(engine, actors)),
    ...(await readable(comments, (id) => engine.runs.comment(id))).map(comment.encode),
  ]
}

/** Reads and encodes the resources that `include` names for state versions. */
export async function besideStateVersions(
  engine: Engine,
  versions: readonly StateVersionView[],
  parts: StateVersionParts,
): Promise<Resource[]> {
  const ofRun: RunParts = new Set([
    ...(parts.has("run.configuration_version") ? (["configuration_version"] as const) : []),
    ...(parts.has("run.created_by") ? (["created_by"] as const) : []),
  ])
  const runIds = parts.has("run") || ofRun.size > 0 ? versions.map(({ runId }) => runId) : []
  const runs = await readable(runIds, (id) => engine.runs.get(id))
  const resources = [
    ...(parts.has("outputs") ? await outputsOf(engine, versions) : []),
    ...(parts.has("created_by") ? await creators(engine, versions) : []),
    ...runs.map(run.encode),
    ...(await besideRuns(engine, runs, ofRun)),
  ]
  return [...new Map(resources.map((resource) => [resource.id, resource])).values()]
}

/** Reads each id once. Omits resources that no longer exist or that the caller cannot see. */
export async function readable<Id extends string, T>(
  ids: readonly (Id | null)[],
  read: (id: Id) => Promise<T>,
): Promise<T[]> {
  const found: T[] = []
  for (const id of new Set(ids)) {
    if (id === null) continue
    try {
      found.push(await read(id))
    } catch (error) {
      if (!isEngineError(error, "not-found")) throw error
    }
  }
  return found
}

async function creators(engine: Engine, made: readonly { readonly createdBy: Actor | null }[]): Promise<Resource[]> {
  const ids = made.map(({ createdBy }) => (createdBy === null || createdBy.kind === "runs" ? null : createdBy.id))
  return (await readable(ids, (id) => engine.users.get(id))).map(user.encode)
}

const eventsOf = async ({ runs }: Engine, of: readonly RunView[]): Promise<Resource[]> =>
  (
    await readable(
      of.map(({ id }) => id),
      (id) => runs.events(id),
    )
  )
    .flat()
    .map(runEvent.encode)

const configurations = async ({ configurationVersions }: Engine, ids: readonly (string | null)[]) =>
  (await readable(ids, (id) => configurationVersions.get(id))).map((version) =>
    configurationVersion.encode({ ...version, upload: null }),
  )

const ingresses = async ({ configurationVersions }: Engine, ids: readonly (string | null)[]) =>
  (await readable(ids, (id) => configurationVersions.ingressAttributes(id))).map(ingressAttributes.encode)

async function outputsOf({ stateVersions }: Engine, versions: readonly StateVersionView[]): Promise<Resource[]> {
  const all = versions.map(async ({ id, outputIds }) => {
    const resources: Resource[] = []
    for (let number = 1; resources.length < outputIds.length; number += 1) {
      const { items } = await stateVersions.outputs(id, { number, size: maximumPageSize })
      if (items.length === 0) break
      resources.push(...items.map(stateVersionOutput.encode))
    }
    return resources
  })
  return (await Promise.all(all)).flat()
}

/** Adds the ids of included tag bindings to a workspace. Other documents of workspaces only link to them. */
export const withBindingsOf =
  ({ effectiveTagBindings }: Inclusions) =>
  (view: WorkspaceView): EncodedWorkspace => ({
    ...view,
    effectiveTagBindingIds: effectiveTagBindings.get(view.id)?.map(({ id }) => id),
  })

/** Encodes included resources. `base` is the public URL of the server. */
export const encodeInclusions = (included: Inclusions, base: string): Resource[] => [
  ...included.configurationVersions.map((version) => configurationVersion.encode({ ...version, upload: null })),
  ...included.ingressAttributes.map(ingressAttributes.encode),
  ...included.runs.map(run.encode),
  ...included.plans.map((view) => plan.encode(planOf(view))),
  ...included.applies.map((view) => apply.encode(applyOf(view))),
  ...included.stateVersions.map((version) => stateVersion.encode(withDocumentAddresses(version, base))),
  ...included.outputs.map(workspaceOutput.encode),
  ...included.users.map(user.encode),
  ...included.teams.map(team.encode),
  ...encodeOrganizations(included),
  ...included.projects.map(project.encode),
  ...included.agentPools.map(agentPool.encode),
  ...included.readmes.map(readme.encode),
  ...included.variables.map(variable.encode),
  ...encodeIdentifiedBindings([...included.effectiveTagBindings.values()].flat()),
]

/**
 * Encodes included organizations. go-tfe follows linkage between included resources without detecting cycles. Projects and agent pools
 * refer to their organization, so it does not refer to its defaults if they are included.
 */
const encodeOrganizations = ({ organizations, projects, agentPools }: Inclusions): Resource[] =>
  organizations.map((view) => {
    const resource = organization.encode(view)
    if (projects.length + agentPools.length === 0) return resource
    const { "default-project": _project, "default-agent-pool": _pool, ...relationships } = resource.relationships ?? {}
    return { ...resource, relationships }
  })
