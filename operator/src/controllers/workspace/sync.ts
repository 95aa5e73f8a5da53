// Compares a workspace with its spec by aspect. Corrects differences, unless they are only to be reported.
import { type EffectiveTagBinding, type Engine, isEngineError, type WorkspaceView } from "@chancery/engine"
import {
  dataRetentionPolicyResource,
  observedTagBindings,
  observedWorkspace,
  concerning,
  foldedKeys,
  type ObservedWorkspaceTags,
  observedWorkspaceTags,
  remoteStateConsumersResource,
  tagBindingsResource,
  workspaceResource,
  workspaceLockResource,
  workspaceTagsResource,
} from "@chancery/engine/declared"
import type { WorkspaceObjectSpec } from "../../api/workspace.ts"
import { stalled } from "../reconcile-result.ts"
import {
  type Applied,
  desiredSettings,
  type DesiredWorkspace,
  droppedSettings,
  fieldOf,
  wasDropped,
} from "./desired.ts"
import { difference, type Difference } from "./drift.ts"

/** Workspace and its desired state. */
export interface Subject {
  readonly engine: Engine
  readonly id: string
  readonly spec: WorkspaceObjectSpec
  /** Owner of the object's tags (docs/tag-owners.md). */
  readonly owner: string
  readonly desired: DesiredWorkspace
  /** Items that the previous spec had set. */
  readonly applied: Applied
  /** Differences are reported and not corrected. */
  readonly reports: boolean
  /** Nothing has changed, so operations that were rejected before are not retried. */
  readonly quiet: boolean
  readonly now: number
}

export async function syncSettings(subject: Subject, view: WorkspaceView): Promise<readonly Difference[]> {
  const { engine, id, spec, desired, applied } = subject
  const wanted = desiredSettings(spec, desired)
  rejectFaults(wanted)
  const observed = observedWorkspace(view)
  const dropped = droppedSettings(spec, applied)
  const { changed, mustReplace } = workspaceResource.diff(wanted, observed, dropped)
  if (mustReplace.length > 0)
    throw stalled(
      "InvalidSpec",
      `The workspace ${id} is in the organization ${view.organizationName}, not ${wanted.organization}.`,
    )
  const [before, after] = [observed, wanted] as unknown as Record<string, unknown>[]
  if (changed.length > 0 && !subject.reports) await workspaceResource.update(engine, id, wanted, observed, dropped)
  return changed.map((member) => difference(fieldOf(member), after?.[member], before?.[member]))
}

export function rejectFaults(wanted: object): void {
  const [fault] = workspaceResource.validate({ ...wanted })
  if (fault === undefined) return
  const [member = "", ...rest] = fault.field ?? []
  throw stalled("InvalidSpec", `spec.${[fieldOf(String(member)), ...rest].join(".")}: ${fault.detail}`)
}

const fold = (text: string): string => text.toLowerCase()

/** Returns the items of an earlier spec that this spec no longer lists and that still exist. */
function leftOver(brought: readonly string[] = [], wanted: readonly string[], present: readonly string[]): string[] {
  const [kept, there] = [new Set(wanted.map(fold)), new Set(present.map(fold))]
  return brought.filter((one) => !kept.has(fold(one)) && there.has(fold(one)))
}

/** Corrects flat tags. `syncTagBindings` checks whether the object owns the existing ones. */
export async function syncTags(subject: Subject, { tagNames }: WorkspaceView): Promise<readonly Difference[]> {
  const { engine, id, spec, owner, applied, now } = subject
  const mode = spec.tagsPolicy === "Exclusive" && spec.tags !== undefined ? "exclusive" : "additive"
  const wanted = { workspaceId: id, tags: spec.tags ?? [], mode } as const
  const leftovers = leftOver(applied.tags, wanted.tags, tagNames)
  const isAsWanted = (found: ObservedWorkspaceTags) => workspaceTagsResource.diff(wanted, found).changed.length === 0
  const all = observedWorkspaceTags(wanted, tagNames)
  if (isAsWanted(all) && leftovers.length === 0) return []
  // Other owners may own additional tags.
  const found =
    mode === "exclusive"
      ? await workspaceTagsResource.observe(engine, id, wanted, { before: {}, now, owner })
      : undefined
  const observed = found ?? all
  if (isAsWanted(observed) && leftovers.length === 0) return []
  if (!subject.reports)
    await workspaceTagsResource.update(engine, id, wanted, { ...observed, tags: leftovers }, [], { owner })
  return [difference("tags", wanted.tags, mode === "exclusive" ? observed.tags : [...observed.tags, ...leftovers])]
}

export interface SyncedBindings {
  readonly differences: readonly Difference[]
  readonly effective: readonly EffectiveTagBinding[]
}

export async function syncTagBindings(subject: Subject): Promise<SyncedBindings> {
  const { engine, id, spec, owner, applied } = subject
  const entries = await engine.tags.effectiveBindings(id, { owners: true, tags: true })
  const effective = entries.filter(({ isBinding }) => isBinding !== false)
  const own = entries.filter(({ inheritedFrom }) => inheritedFrom === null)
  const mode = spec.tagsPolicy === "Exclusive" && spec.tagBindings !== undefined ? "exclusive" : "additive"
  const bindings = Object.fromEntries((spec.tagBindings ?? []).map(({ key, value }) => [key, value]))
  const wanted = { workspaceId: id, bindings, mode } as const
  const present = concerning(own, foldedKeys(Object.keys(bindings)), { owner })
    .filter(({ value }) => value !== "")
    .map(({ key, value }) => [key, value] as const)
  const observed = observedTagBindings(wanted, present)
  const keys = present.map(([key]) => key)
  const leftovers = leftOver(applied.tagBindings, Object.keys(bindings), keys)
  const leftoverBindings = Object.fromEntries(
    present.filter(([key]) => leftovers.some((one) => fold(one) === fold(key))),
  )
  const isAsWanted = tagBindingsResource.diff(wanted, observed).changed.length === 0 && leftovers.length === 0
  const shown = mode === "exclusive" ? observed.bindings : { ...observed.bindings, ...leftoverBindings }
  const differences = isAsWanted ? [] : [difference("tagBindings", bindings, shown)]
  if (subject.reports) return { differences, effective }
  // A tag that exists, but is not owned by this object, disappears with its other owners. It may have disappeared since the query.
  const held = foldedKeys(own.filter(({ owners = [] }) => owners.includes(owner)).map(({ key }) => key))
  const unowned = (spec.tags ?? []).filter((name) => !held.has(fold(name)))
  if (unowned.length > 0)
    await engine.tags.add(
      id,
      unowned.map((name) => ({ name })),
      { owner },
    )
  if (isAsWanted && Object.keys(bindings).every((key) => held.has(fold(key)))) return { differences, effective }
  await tagBindingsResource.update(engine, id, wanted, { ...observed, bindings: leftoverBindings }, [], { owner })
  return { differences, effective: isAsWanted ? effective : await engine.tags.effectiveBindings(id) }
}

export async function syncConsumers(subject: Subject): Promise<readonly Difference[]> {
  const { engine, id, spec, desired, applied, now } = subject
  const consumerIds = [...(desired.ids.remoteStateConsumerIds ?? [])]
  if (spec.remoteStateConsumers === undefined) {
    const leftovers = applied.remoteStateConsumers ?? []
    if (leftovers.length === 0 || subject.reports || spec.globalRemoteState === true) return []
    await remoteStateConsumersResource.delete(engine, id, { consumerIds: [...leftovers] }, "safe", { before: {}, now })
    return [difference("remoteStateConsumers", [], leftovers)]
  }
  const wanted = { workspaceId: id, consumerIds, mode: "exclusive" } as const
  const observed = await remoteStateConsumersResource.observe(engine, id, wanted, { before: {}, now })
  if (observed === undefined || remoteStateConsumersResource.diff(wanted, observed).changed.length === 0) return []
  if (!subject.reports) await remoteStateConsumersResource.update(engine, id, wanted, observed)
  return [difference("remoteStateConsumers", consumerIds, observed.consumerIds)]
}

export async function syncSshKey(subject: Subject, view: WorkspaceView): Promise<readonly Difference[]> {
  const { engine, id, spec, desired, applied } = subject
  const wanted = wasDropped("sshKey", spec, applied) ? null : desired.ids.sshKeyId
  if (wanted === undefined || wanted === view.sshKeyId) return []
  if (!subject.reports) await engine.workspaces.assignSshKey({ id }, wanted)
  return [difference("sshKey", wanted, view.sshKeyId)]
}

export async function syncRetention(subject: Subject): Promise<readonly Difference[]> {
  const { engine, id, spec, applied, now } = subject
  const policy = spec.dataRetentionPolicy
  const dropped = wasDropped("dataRetentionPolicy", spec, applied)
  if (policy === undefined && !dropped) return []
  const days = policy?.deleteOlderThanDays ?? null
  const wanted = { workspaceId: id, deleteOlderThanDays: days }
  const observed = await dataRetentionPolicyResource.observe(engine, id, wanted, { before: {}, now })
  const same =
    policy === undefined
      ? observed === undefined
      : observed !== undefined && dataRetentionPolicyResource.diff(wanted, observed).changed.length === 0
  if (same) return []
  if (!subject.reports) {
    if (policy === undefined) await dataRetentionPolicyResource.delete(engine, id, wanted, "safe", { before: {}, now })
    else await dataRetentionPolicyResource.update(engine, id, wanted, observed ?? wanted)
  }
  const shown = observed === undefined ? null : (observed.deleteOlderThanDays ?? "never")
  return [difference("dataRetentionPolicy", policy === undefined ? null : (days ?? "never"), shown)]
}

export interface SyncedLock {
  readonly differences: readonly Difference[]
  /** Reason of a lock by another holder that prevents the lock of the spec. */
  readonly foreign?: string
}

export async function syncLock(subject: Subject, { lock }: WorkspaceView): Promise<SyncedLock> {
  const { engine, id, spec, applied, quiet } = subject
  const held = lock.held ? lock.reason : undefined
  const ours = applied.fields?.includes("lock") === true
  if (spec.lock === undefined) {
    if (!ours || held === undefined) return { differences: [] }
    const differences = [difference("lock", null, { reason: held })]
    if (!subject.reports) await unlocked(engine, id)
    return { differences }
  }
  const { reason } = spec.lock
  if (ours && held === reason) return { differences: [] }
  const differences = [difference("lock", { reason }, held === undefined ? null : { reason: held })]
  if (subject.reports) return { differences: held === reason ? [] : differences }
  // The lock was rejected before, and nothing has changed since.
  if (held !== undefined && quiet) return { differences: [], foreign: held }
  if (held !== undefined && ours && !(await unlocked(engine, id))) return { differences: [], foreign: held }
  try {
    await workspaceLockResource.create(engine, { workspaceId: id, reason }, { marker: "", adopt: false })
    return { differences }
  } catch (error) {
    if (isEngineError(error, "conflict")) return { differences: [], foreign: held ?? "" }
    throw error
  }
}

/** Unlocks the workspace. Returns whether it is unlocked now; another holder's lock is left alone. */
export async function unlocked(engine: Engine, id: string): Promise<boolean> {
  try {
    await engine.workspaces.unlock({ id })
    return true
  } catch (error) {
    if (!isEngineError(error, "conflict")) throw error
    return !(await engine.workspaces.get({ id })).lock.held
  }
}
