import { assessments } from "../../contracts/tfe/assessment.ts"
import { remoteStateConsumers } from "../../contracts/tfe/remote-state-consumers.ts"
import { organizationRetention, siteRetention, workspaceRetention } from "../../contracts/tfe/retention-policy.ts"
import { namedWorkspaces, workspaces } from "../../contracts/tfe/workspace.ts"
import type { RetentionRule, RetentionTarget } from "../../workspaces/state/retention-policy.ts"
import type { WorkspacePart } from "../../workspaces/workspace/include.ts"
import type { WorkspaceView } from "../../workspaces/workspace/workspace-view.ts"
import type { WorkspaceRef } from "../../workspaces/workspace/workspace.ts"
import { implement } from "./implement.ts"
import { encodeInclusions, withBindingsOf } from "./included.ts"
import { type ApiRequest, baseOf, type Route } from "./route.ts"

/** Returns the workspaces with the resources that `include` names. */
async function including(request: ApiRequest, found: readonly WorkspaceView[], parts: readonly WorkspacePart[] = []) {
  if (parts.length === 0) return { items: found }
  const included = await request.engine.inclusions.of(found, new Set(parts))
  return { items: found.map(withBindingsOf(included)), included: encodeInclusions(included, baseOf(request)) }
}

interface Query {
  readonly include?: readonly WorkspacePart[]
}

async function show(request: ApiRequest, ref: WorkspaceRef, { include }: Query) {
  const view = await request.engine.workspaces.get(ref)
  const { items, included } = await including(request, [view], include)
  return { data: items[0] ?? view, included }
}

/** Endpoints of one workspace, by id and by name. */
export const workspaceRoutes: readonly Route[] = [
  ...implement(workspaces, {
    create: ({ engine }, organization, input, writer) => engine.workspaces.create(organization, input, writer),
    async list(request, organization, { include, ...query }, page) {
      const found = await request.engine.workspaces.list(organization, query, page)
      return { ...found, ...(await including(request, found.items, include)) }
    },
    get: (request, id, query) => show(request, { id }, query),
    update: ({ engine }, id, changes, writer) => engine.workspaces.update({ id }, changes, writer),
    delete: ({ engine }, id) => engine.workspaces.forceDelete({ id }),
    safeDelete: ({ engine }, id) => engine.workspaces.safeDelete({ id }),
    lock: ({ engine }, id, input) => engine.workspaces.lock({ id }, input),
    extendLock: ({ engine }, id, input) => engine.workspaces.extendLock({ id }, input),
    unlock: ({ engine }, id) => engine.workspaces.unlock({ id }),
    forceUnlock: ({ engine }, id) => engine.workspaces.forceUnlock({ id }),
  }),
  ...implement(namedWorkspaces, {
    get: (request, organization, name, query) => show(request, { organization, name }, query),
    update: ({ engine }, organization, name, changes, writer) =>
      engine.workspaces.update({ organization, name }, changes, writer),
    delete: ({ engine }, organization, name) => engine.workspaces.forceDelete({ organization, name }),
    safeDelete: ({ engine }, organization, name) => engine.workspaces.safeDelete({ organization, name }),
  }),
]

export const remoteStateConsumerRoutes = implement(remoteStateConsumers, {
  list: ({ engine }, id, page) => engine.remoteStateConsumers.list(id, page),
  replace: ({ engine }, id, consumerIds) => engine.remoteStateConsumers.replace(id, consumerIds),
  add: ({ engine }, id, consumerIds) => engine.remoteStateConsumers.add(id, consumerIds),
  remove: ({ engine }, id, consumerIds) => engine.remoteStateConsumers.remove(id, consumerIds),
})

interface Sent {
  readonly rule: RetentionRule
  readonly legacy?: boolean
}

async function set({ engine }: ApiRequest, target: RetentionTarget, { rule, legacy = false }: Sent) {
  return { ...(await engine.retentionPolicies.set(target, rule)), legacy }
}

const handlers = (targetOf: (id: string) => RetentionTarget) => ({
  get: ({ engine }: ApiRequest, id: string) => engine.retentionPolicies.get(targetOf(id)),
  set: (request: ApiRequest, id: string, sent: Sent) => set(request, targetOf(id), sent),
  change: (request: ApiRequest, id: string, sent: Sent) => set(request, targetOf(id), sent),
  delete: ({ engine }: ApiRequest, id: string) => engine.retentionPolicies.delete(targetOf(id)),
})
const site = { kind: "site" } as const

export const retentionPolicyRoutes = [
  ...implement(
    workspaceRetention,
    handlers((id) => ({ kind: "workspace", id })),
  ),
  ...implement(
    organizationRetention,
    handlers((name) => ({ kind: "organization", name })),
  ),
  ...implement(siteRetention, {
    get: ({ engine }) => engine.retentionPolicies.get(site),
    set: (request, sent) => set(request, site, sent),
    change: (request, sent) => set(request, site, sent),
    delete: ({ engine }) => engine.retentionPolicies.delete(site),
  }),
]

export const assessmentRoutes = implement(assessments, {
  create: ({ engine }, id, input) => engine.assessments.create({ id }, input),
  list: ({ engine }, id, page) => engine.assessments.list({ id }, page),
  get: ({ engine }, id) => engine.assessments.get(id),
  delete: ({ engine }, id) => engine.assessments.delete(id),
})
