import { assessments } from "../contracts/tfe/assessment.ts"
import { configurationVersions } from "../contracts/tfe/configuration-version.ts"
import { projects } from "../contracts/tfe/project.ts"
import { remoteStateConsumers } from "../contracts/tfe/remote-state-consumers.ts"
import { organizationRetention, siteRetention, workspaceRetention } from "../contracts/tfe/retention-policy.ts"
import { sshKeys } from "../contracts/tfe/ssh-key.ts"
import { terraformVersions } from "../contracts/tfe/terraform-version.ts"
import { variables } from "../contracts/tfe/variable.ts"
import { namedWorkspaces, workspaces } from "../contracts/tfe/workspace.ts"
import { isEngineError } from "../core/errors.ts"
import type { Assessments } from "../workspaces/assessments/assessment.ts"
import type { ConfigurationVersions } from "../workspaces/configuration-versions/configuration-version-api.ts"
import type { RemoteStateConsumers } from "../workspaces/state/remote-state-consumers.ts"
import type { RetentionPolicies, RetentionTarget } from "../workspaces/state/retention-policy.ts"
import type { Tags } from "../workspaces/tags/tag-api.ts"
import type { Variables } from "../workspaces/variables/variable.ts"
import type { TerraformVersions } from "../workspaces/workspace/terraform-version.ts"
import type { Workspaces } from "../workspaces/workspace/workspace-api.ts"
import type { WorkspaceView } from "../workspaces/workspace/workspace-view.ts"
import type { WorkspaceRef } from "../workspaces/workspace/workspace.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"

export function remoteWorkspaces(transport: Transport, tags: Pick<Tags, "bindings">): Workspaces {
  const byId = remote(workspaces, transport)
  const byName = remote(namedWorkspaces, transport)
  const withId = <Rest extends unknown[], T>(call: (id: string, ...rest: Rest) => Promise<T>) =>
    byWorkspaceId(transport, call)
  return {
    create: byId.create,
    list: byId.list,
    async get(ref, { bindings: showing } = {}) {
      const found = getWorkspace(transport, ref)
      if (showing === undefined) return found
      const bindingsOf = (id: string) => tags.bindings(id, showing)
      // Both requests are sent in parallel if the id is known.
      const bindingsRequest = "id" in ref ? bindingsOf(ref.id) : found.then(({ id }) => bindingsOf(id))
      const [view, bindings] = await Promise.all([found, unlessHidden(bindingsRequest)])
      return { ...view, ...(bindings && { bindings }) }
    },
    update: async (ref, changes, writer) =>
      "id" in ref ? byId.update(ref.id, changes, writer) : byName.update(ref.organization, ref.name, changes, writer),
    safeDelete: async (ref) => ("id" in ref ? byId.safeDelete(ref.id) : byName.safeDelete(ref.organization, ref.name)),
    forceDelete: async (ref) => ("id" in ref ? byId.delete(ref.id) : byName.delete(ref.organization, ref.name)),
    assignSshKey: withId(remote(sshKeys, transport).assign),
    lock: withId(byId.lock),
    extendLock: async (ref, input = {}) => withId(byId.extendLock)(ref, input),
    unlock: withId(byId.unlock),
    forceUnlock: withId(byId.forceUnlock),
    moveToProject: remote(projects, transport).moveWorkspaces,
  }
}

/** Returns undefined for `not-found`: the caller can see the workspace only for its state, and not its bindings. */
async function unlessHidden<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}

async function getWorkspace(transport: Transport, ref: WorkspaceRef): Promise<WorkspaceView> {
  const { data } = await ("id" in ref
    ? remote(workspaces, transport).get(ref.id, {})
    : remote(namedWorkspaces, transport).get(ref.organization, ref.name, {}))
  return data
}

/** Adapts a call that needs the id of a workspace to one that also accepts its name. */
export const byWorkspaceId =
  <Rest extends unknown[], T>(transport: Transport, call: (id: string, ...rest: Rest) => Promise<T>) =>
  async (ref: WorkspaceRef, ...rest: Rest): Promise<T> =>
    call(await workspaceId(transport, ref), ...rest)

/** Returns the id of a workspace. Reads the workspace if only its name is given. */
export const workspaceId = async (transport: Transport, ref: WorkspaceRef): Promise<string> =>
  "id" in ref ? ref.id : (await getWorkspace(transport, ref)).id

export function remoteVariables(transport: Transport): Variables {
  const { create, get, findById, list, update, delete: remove } = remote(variables, transport)
  const idOf = (ref: WorkspaceRef): Promise<string> => workspaceId(transport, ref)
  return {
    create: async (ref, input) => create(await idOf(ref), input),
    get: async (ref, id) => get(await idOf(ref), id),
    findById,
    list: async (ref) => (await list(await idOf(ref))).items,
    update: async (ref, id, patch) => update(await idOf(ref), id, patch),
    delete: async (ref, id) => remove(await idOf(ref), id),
  }
}

export const remoteRemoteStateConsumers = (transport: Transport): RemoteStateConsumers =>
  remote(remoteStateConsumers, transport)

export function remoteRetentionPolicies(transport: Transport): RetentionPolicies {
  const ofWorkspace = remote(workspaceRetention, transport)
  const ofOrganization = remote(organizationRetention, transport)
  const ofSite = remote(siteRetention, transport)
  const callsOf = (target: RetentionTarget): Pick<typeof ofSite, "get" | "set" | "delete"> => {
    if (target.kind === "site") return ofSite
    const [calls, id] = target.kind === "workspace" ? [ofWorkspace, target.id] : [ofOrganization, target.name]
    return { get: () => calls.get(id), set: (sent) => calls.set(id, sent), delete: () => calls.delete(id) }
  }
  return {
    get: (target) => callsOf(target).get(),
    set: (target, rule) => callsOf(target).set({ rule }),
    delete: (target) => callsOf(target).delete(),
  }
}

export const remoteTerraformVersions = (transport: Transport): TerraformVersions => remote(terraformVersions, transport)

export function remoteAssessments(transport: Transport): Assessments {
  const { create, list, ...same } = remote(assessments, transport)
  return { ...same, create: byWorkspaceId(transport, create), list: byWorkspaceId(transport, list) }
}

export function remoteConfigurationVersions(transport: Transport): ConfigurationVersions {
  const { create, list, readme, downloadOfRun: _, ...same } = remote(configurationVersions, transport)
  return {
    ...same,
    create: byWorkspaceId(transport, create),
    list: byWorkspaceId(transport, list),
    readme: byWorkspaceId(transport, readme),
  }
}
