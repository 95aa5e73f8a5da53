// Reconciles Workspaces: creates or adopts them, corrects or reports differences, and deletes them by policy.
import { isDeepStrictEqual } from "node:util"
import { type Engine, isEngineError, type WorkspaceView } from "@chancery/engine"
import type { Condition } from "../conditions.ts"
import type { Connected, EngineConnections } from "../engine-connections.ts"
import type { EngineFeeds } from "../engine-feeds.ts"
import { workspace, type WorkspaceObjectSpec } from "../../api/workspace.ts"
import { keyOf, type KubernetesObject, secondTime } from "../../kube/kubernetes-object.ts"
import type { ObjectStore } from "../../kube/object-store.ts"
import {
  type ReconcileResult,
  type OwnStatus,
  RequeueAfter,
  refused,
  stalled,
  NotReadyError,
  waiting,
} from "../reconcile-result.ts"
import { parsedSpec, type Reconciler, type ReconcileRequest } from "../reconciler.ts"
import { type Applied, appliedOf, type DesiredWorkspace } from "./desired.ts"
import { type Difference, fieldsOf } from "./drift.ts"
import { establish, find, sourceNameOf, withoutPending } from "./establish.ts"
import { Lookups } from "./lookups.ts"
import { outputsCondition, type PublicationParts, publishes, publishOutputs } from "./output-publication.ts"
import { type Aspect, aspectOf, aspectOfEvent, intervalMs } from "./polling.ts"
import {
  type Subject,
  syncConsumers,
  syncLock,
  syncRetention,
  syncSettings,
  syncSshKey,
  syncTagBindings,
  syncTags,
  unlocked,
} from "./sync.ts"
import { projectsUsedBy } from "../project/project-references.ts"
import { tagOwnerOf } from "./tag-owner.ts"
import { type Named, type WantedVariable, wantedVariables } from "./variable-sources.ts"
import {
  haveSourcesChanged,
  isVariableField,
  type KnownVariable,
  perhapsBrought,
  syncVariables,
} from "./variable-sync.ts"

export interface WorkspacesOptions extends PublicationParts {
  /** Secrets and ConfigMaps that variables reference (`variableSecretsOf`, `variableConfigMapsOf`). */
  readonly named: Named
  readonly engines: Pick<EngineConnections, "connect">
  readonly feeds: Pick<EngineFeeds, "need" | "taken">
  /** Distinguishes clusters whose operators use the same engine. */
  readonly clusterName: string
  /** Workspace objects, with the index `workspaceId`. */
  readonly workspaces: Pick<ObjectStore, "get" | "by">
  /** Project objects, with the index `project`. */
  readonly projects: Pick<ObjectStore, "by">
}

export function reconcileWorkspaces(options: WorkspacesOptions): Reconciler {
  const lookups = new Lookups()
  return {
    // A retained workspace needs no cleanup.
    finalizer: { name: "chancery.dev/external", needed: (object) => rawPolicy(object) !== "Retain" },
    reconcile: (object, request) => reconcile(options, lookups, object, request),
    finalize: (object, request) => finalize(options, object, request),
  }
}

/** Values for the indexes of the kind. */
export const workspaceIdOf = ({ status }: KubernetesObject): readonly string[] => {
  const { id } = (status ?? {}) as { readonly id?: string }
  return id === undefined ? [] : [id]
}

export const workspacesReferredTo = ({ metadata: { namespace = "" }, spec }: KubernetesObject): readonly string[] => {
  const { remoteStateConsumers } = (spec ?? {}) as Partial<WorkspaceObjectSpec>
  return (remoteStateConsumers ?? []).flatMap(({ workspaceRef }) =>
    workspaceRef === undefined ? [] : [`${namespace}/${workspaceRef}`],
  )
}

const maxReferences = 1_000

/** Returns whether an object refers to the one with this key, directly or through others. */
function refersTo(workspaces: Pick<ObjectStore, "get">, from: KubernetesObject, key: string): boolean {
  const found = new Set(workspacesReferredTo(from))
  for (const one of found) {
    if (one === key) return true
    const next = found.size > maxReferences ? undefined : workspaces.get(one)
    if (next !== undefined) for (const other of workspacesReferredTo(next)) found.add(other)
  }
  return false
}

interface KnownStatus {
  readonly id?: string
  readonly applied?: Applied
  readonly drift?: readonly Difference[]
  readonly effectiveTagBindings?: readonly object[]
  readonly lastSyncTime?: string
  readonly variables?: readonly KnownVariable[]
}

async function reconcile(
  options: WorkspacesOptions,
  lookups: Lookups,
  object: KubernetesObject,
  request: ReconcileRequest,
): Promise<ReconcileResult> {
  const { namespace = "" } = object.metadata
  const spec = parsedSpec(workspace, object)
  const connected = await options.engines.connect(spec.connectionRef, namespace, request.signal, { use: useOf(spec) })
  const { engine } = connected
  const organization = spec.organization ?? connected.organization
  if (organization === undefined)
    throw stalled("OrganizationMissing", "spec.organization is required, because the connection sets no organization.")
  options.feeds.need(connected, organization)
  try {
    const ids = await lookups.resolve(spec, {
      engine,
      organization,
      quiet: request.quiet,
      now: request.now,
      workspaceOf(name) {
        const found = options.workspaces.get(`${namespace}/${name}`)
        if (found === undefined) return undefined
        return { id: workspaceIdOf(found)[0], isCircular: refersTo(options.workspaces, found, keyOf(object)) }
      },
      isProjectDeclared: () =>
        projectsUsedBy(object).some((place) =>
          options.projects.by("project", place).some(({ metadata }) => metadata.deletionTimestamp === undefined),
        ),
    })
    const variables = await wantedVariables(spec, object, options.named, request.signal)
    const desired = { organization, name: spec.name ?? object.metadata.name, ids }
    return await look({ options, object, request, spec, connected, desired, variables })
  } catch (error) {
    throw isEngineError(error) ? refused(error) : error
  }
}

/** A project by id counts as unnamed, because policies have names. */
const useOf = ({ organization, project }: WorkspaceObjectSpec) => ({ organization, project: project?.name })

interface WorkspaceContext {
  readonly options: WorkspacesOptions
  readonly object: KubernetesObject
  readonly request: ReconcileRequest
  readonly spec: WorkspaceObjectSpec
  readonly connected: Connected
  readonly desired: DesiredWorkspace
  readonly variables: readonly WantedVariable[]
}

async function look(it: WorkspaceContext): Promise<ReconcileResult> {
  const { request, spec, connected } = it
  const { engine } = connected
  const { id, variables: known = [] } = request.status as KnownStatus
  const due = new Set([aspectOf(spec, request.turn)])
  if (haveSourcesChanged(it.variables, known)) due.add("variables")
  if (id !== undefined) for (const kind of it.options.feeds.taken(id)) due.add(aspectOfEvent(kind))
  // The workspace view shows whether there is a new state.
  if (publishes(it)) due.add("workspace")
  if (id !== undefined && request.partial && !due.has("workspace")) {
    try {
      return await settle(it, id, undefined, due)
    } catch (error) {
      // The workspace or a part of it is gone, so continue with a complete reconciliation.
      if (!isEngineError(error, "not-found")) throw error
    }
  }
  const found = id === undefined ? undefined : await find(engine, { id })
  if (id !== undefined && found === undefined && spec.driftPolicy === "Report")
    throw stalled("WorkspaceMissing", `The workspace ${id} was deleted, or the token can no longer see it.`)
  const view = found ?? (await newcomer(it))
  const all: readonly Aspect[] = [
    "workspace",
    "tagBindings",
    "remoteStateConsumers",
    "dataRetentionPolicy",
    "variables",
  ]
  const aspects = request.partial && found !== undefined ? due.add("workspace") : new Set(all)
  return settle(it, view.id, view, aspects)
}

async function newcomer(it: WorkspaceContext): Promise<WorkspaceView> {
  const { options, object, request, connected } = it
  try {
    const { view, how } = await establish({ ...it, engine: connected.engine })
    const rival = options.workspaces.by("workspaceId", view.id).find((other) => keyOf(other) !== keyOf(object))
    if (rival !== undefined)
      throw stalled("AlreadyManaged", `The workspace ${view.id} already belongs to the Workspace ${keyOf(rival)}.`)
    if (how === "Adopted") await assertPermittedProject(it, view)
    await request.record({
      type: "Normal",
      reason: how,
      note: how === "Created" ? `Created the workspace ${view.id}.` : `Took over the workspace ${view.id}.`,
    })
    return view
  } catch (error) {
    // The engine rejected the creation, so nothing was created.
    const unsettled = isEngineError(error) ? refused(error) : error
    if (!(unsettled instanceof NotReadyError) || unsettled.outcome.health.is !== "stalled") throw unsettled
    const { id: _, ...status } = withoutPending(request.status)
    throw new NotReadyError({ ...unsettled.outcome, status })
  }
}

/** The project that a workspace is taken from must be permitted too, not only the project that it is moved to. */
async function assertPermittedProject({ connected }: WorkspaceContext, view: WorkspaceView): Promise<void> {
  const { engine, assertPermitted } = connected
  if (assertPermitted === undefined) return
  const { name } = await engine.projects.get(view.projectId)
  assertPermitted({ organization: view.organizationName, project: name })
}

/** Synchronizes the given aspects. Without a view, aspects that need one are skipped. */
async function settle(
  it: WorkspaceContext,
  id: string,
  view: WorkspaceView | undefined,
  aspects: ReadonlySet<Aspect>,
): Promise<ReconcileResult> {
  const { object, request, spec, connected, desired } = it
  const before = request.status as KnownStatus
  const applied = before.applied ?? {}
  const knownVariables = before.variables ?? []
  const { engine } = connected
  // A creation in progress is completed even in report mode.
  const reports = spec.driftPolicy === "Report" && request.status["createPending"] === undefined
  const owner = tagOwnerOf(object, it.options.clusterName)
  const subject: Subject = {
    engine,
    id,
    spec,
    owner,
    desired,
    applied,
    reports,
    quiet: request.quiet,
    now: request.now,
  }
  const known = { ...withoutPending(request.status), id }
  try {
    const differences: Difference[] = []
    if (view !== undefined) {
      differences.push(...(await syncSettings(subject, view)))
      differences.push(...(await syncTags(subject, view)), ...(await syncSshKey(subject, view)))
    }
    const bindings = aspects.has("tagBindings") ? await syncTagBindings(subject) : undefined
    differences.push(...(bindings?.differences ?? []))
    if (aspects.has("remoteStateConsumers")) differences.push(...(await syncConsumers(subject)))
    if (aspects.has("dataRetentionPolicy")) differences.push(...(await syncRetention(subject)))
    const variables = aspects.has("variables") ? await syncVariables(subject, it.variables, knownVariables) : undefined
    differences.push(...(variables?.differences ?? []))
    const lock = view === undefined ? undefined : await syncLock(subject, view)
    differences.push(...(lock?.differences ?? []))

    const changed = differences.length > 0 && !reports
    const now = changed && view !== undefined ? await engine.workspaces.get({ id }) : view
    const kept = (before.drift ?? []).filter(({ field }) => !aspects.has(aspectOfField(field)))
    const published =
      now === undefined || !publishes(it)
        ? undefined
        : await publishOutputs(it.options, {
            engine,
            id,
            stateVersionId: now.currentStateVersionId,
            object,
            spec,
            request,
          })
    const drift = reports ? [...kept, ...differences].slice(0, maxDrift) : []
    if (changed && request.quiet)
      await request.record({
        type: "Warning",
        reason: "DriftCorrected",
        note: `Reverted differences in the engine: ${fieldsOf(differences)}.`,
      })
    const status = withSyncTime(
      {
        ...known,
        ...(now === undefined ? {} : seen(now, connected)),
        ...(bindings === undefined
          ? {}
          : { effectiveTagBindings: bindings.effective.slice(0, maxEffective).map(shownBinding) }),
        applied: reports ? applied : appliedOf(spec, desired.ids),
        ...(variables === undefined ? {} : { variables: variables.variables }),
        ...(published === undefined ? {} : { outputs: published.outputs }),
        drift,
      },
      before,
      request.now,
    )
    // Without a view, the lock was not checked.
    const foreign = lock === undefined ? undefined : lock.foreign
    return {
      health: { is: "ready", reason: "Available", message: "The workspace exists." },
      ...(view === undefined && !reports
        ? {}
        : {
            conditions: [...conditionsOf(drift, foreign, object, view), ...outputsConditions(published?.condition, it)],
          }),
      status,
      againAfterMs: Math.min(intervalMs(object, spec), published?.againAfterMs ?? Infinity),
    }
  } catch (error) {
    const unsettled = isEngineError(error) && view !== undefined ? refused(error) : error
    if (unsettled instanceof RequeueAfter || !(unsettled instanceof NotReadyError)) throw unsettled
    const { reason, message } = unsettled.outcome.health
    const union = unionOf(applied, reports ? {} : appliedOf(spec, desired.ids))
    throw new NotReadyError({
      ...unsettled.outcome,
      status: {
        ...known,
        applied: union,
        ...(aspects.has("variables") && !reports ? { variables: perhapsBrought(it.variables, knownVariables) } : {}),
      },
      conditions: [{ type: "Synced", status: "False", reason, message }, ...outputsConditions(undefined, it)],
    })
  }
}

const maxDrift = 64
const maxEffective = 256

function aspectOfField(field: string): Aspect {
  if (isVariableField(field)) return "variables"
  return field === "tagBindings" || field === "remoteStateConsumers" || field === "dataRetentionPolicy"
    ? field
    : "workspace"
}

const seen = (view: WorkspaceView, { url }: Connected): OwnStatus => ({
  name: view.name,
  engineVersion: view.engineVersion,
  locked: view.lock.held,
  lockedReason: view.lock.held && view.lock.reason !== "" ? view.lock.reason : undefined,
  resourceCount: view.resourceCount,
  url:
    url === undefined
      ? undefined
      : `${url.replace(/\/+$/, "").replace(/\/api\/v2$/, "")}/app/${view.organizationName}/workspaces/${view.name}`,
})

const shownBinding = ({ key, value, inheritedFrom }: { key: string; value: string; inheritedFrom: string | null }) => ({
  key,
  value,
  ...(inheritedFrom === null ? {} : { inheritedFrom }),
})

/** Omits empty members. Changes the time only if another member changed, so that a poll without changes writes nothing. */
function withSyncTime(status: OwnStatus, { lastSyncTime, ...before }: KnownStatus, now: number): OwnStatus {
  const next = Object.fromEntries(
    Object.entries({ ...status, lastSyncTime: undefined }).filter(
      ([, value]) => value !== undefined && !isEmpty(value),
    ),
  )
  const same = lastSyncTime !== undefined && isDeepStrictEqual(next, before)
  return { ...next, lastSyncTime: same ? lastSyncTime : secondTime(now) }
}

const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0

function conditionsOf(
  drift: readonly Difference[],
  foreign: string | undefined,
  object: KubernetesObject,
  view: WorkspaceView | undefined,
): readonly Condition[] {
  const why = foreign === undefined || foreign === "" ? "" : `: ${foreign}`
  const message = `Another client has locked the workspace${why}.`
  const locked: readonly Condition[] =
    foreign === undefined
      ? lockedBefore(object, view)
      : [{ type: "Locked", status: "True", reason: "LockedByOther", message }]
  if (drift.length > 0) {
    const differs = `These fields differ in the engine: ${fieldsOf(drift)}.`
    return [{ type: "Synced", status: "False", reason: "DriftDetected", message: differs }, ...locked]
  }
  if (locked.length > 0) return [{ type: "Synced", status: "False", reason: "LockedByOther", message }, ...locked]
  return [{ type: "Synced", status: "True", reason: "InStep", message: "The workspace matches the spec." }]
}

/** Returns the earlier condition if the lock was not checked. */
const lockedBefore = (object: KubernetesObject, view: WorkspaceView | undefined): readonly Condition[] =>
  view === undefined ? conditionBefore(object, "Locked") : []

/** Returns the earlier condition if the outputs were not checked. */
const outputsConditions = (found: Condition | undefined, { object, spec }: WorkspaceContext): readonly Condition[] =>
  spec.outputs === undefined ? [] : found === undefined ? conditionBefore(object, outputsCondition) : [found]

function conditionBefore({ status }: KubernetesObject, wanted: string): readonly Condition[] {
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly Condition[] }
  return conditions.filter(({ type }) => type === wanted)
}

function unionOf(before: Applied, after: Applied): Applied {
  const both = (name: keyof Applied) => [...new Set([...(before[name] ?? []), ...(after[name] ?? [])])]
  const names = ["fields", "tags", "tagBindings", "remoteStateConsumers"] as const
  return Object.fromEntries(names.map((name) => [name, both(name)] as const).filter(([, items]) => items.length > 0))
}

async function finalize(
  options: WorkspacesOptions,
  object: KubernetesObject,
  request: ReconcileRequest,
): Promise<ReconcileResult | undefined> {
  // Checked first, because retaining a workspace needs no credentials.
  if (rawPolicy(object) === "Retain") return undefined
  const { id, createPending } = request.status as KnownStatus & { readonly createPending?: unknown }
  if (id === undefined && createPending === undefined) return undefined
  const spec = parsedSpec(workspace, object)
  const { engine, organization } = await connectedToDelete(options, object, spec, request)
  try {
    const known = id === undefined ? await orphan(engine, object, spec, organization) : id
    if (known === undefined) return undefined
    await remove(engine, known, spec, request)
    await request.record({ type: "Normal", reason: "Deleted", note: `Deleted the workspace ${known}.` })
    return undefined
  } catch (error) {
    if (!isEngineError(error)) throw error
    throw error.code === "unauthenticated" ? withPatch(refused(error), object) : refused(error)
  }
}

async function connectedToDelete(
  { engines }: WorkspacesOptions,
  object: KubernetesObject,
  spec: WorkspaceObjectSpec,
  request: ReconcileRequest,
): Promise<Connected> {
  try {
    return await engines.connect(spec.connectionRef, object.metadata.namespace ?? "", request.signal, {
      isCleaningUp: true,
      use: useOf(spec),
    })
  } catch (error) {
    throw error instanceof NotReadyError ? withPatch(error, object) : error
  }
}

/** Adds the command that deletes the object and retains the workspace. */
function withPatch(
  error: NotReadyError | RequeueAfter,
  { metadata: { name, namespace = "" } }: KubernetesObject,
): Error {
  if (!(error instanceof NotReadyError)) return error
  const { health } = error.outcome
  const patch = `kubectl patch workspaces.chancery.dev ${name} -n ${namespace} --type merge -p '{"spec":{"deletionPolicy":"Retain"}}'`
  const message = `${health.message} The workspace cannot be deleted without it. To delete the object and keep the workspace: ${patch}`
  return new NotReadyError({ ...error.outcome, health: { ...health, message } })
}

/** Returns the id of a workspace whose creation was begun and whose id was never stored; undefined if there is none. */
async function orphan(
  engine: Engine,
  object: KubernetesObject,
  spec: WorkspaceObjectSpec,
  connectionOrganization: string | undefined,
): Promise<string | undefined> {
  const organization = spec.organization ?? connectionOrganization
  if (organization === undefined) return undefined
  const view = await find(engine, { organization, name: spec.name ?? object.metadata.name })
  return view?.sourceName === sourceNameOf(object) ? view.id : undefined
}

async function remove(
  engine: Engine,
  id: string,
  spec: WorkspaceObjectSpec,
  { status }: ReconcileRequest,
): Promise<void> {
  const view = await find(engine, { id })
  if (view === undefined) return
  const holdsLock = ((status as KnownStatus).applied?.fields ?? []).includes("lock")
  if (view.lock.held && holdsLock) await unlocked(engine, id)
  try {
    await (spec.deletionPolicy === "Force"
      ? engine.workspaces.forceDelete({ id })
      : engine.workspaces.safeDelete({ id }))
  } catch (error) {
    if (isEngineError(error, "conflict")) throw waiting("DeletionBlocked", error.message)
    if (isEngineError(error, "forbidden")) throw stalled("DeletionRefused", error.message)
    if (!isEngineError(error, "not-found")) throw error
    // A missing workspace and a missing permission give the same error.
    if ((await find(engine, { id })) !== undefined)
      throw stalled("DeletionRefused", `The token may not delete the workspace ${id}.`)
  }
}

/** Returns the policy even if the rest of the spec is invalid. */
const rawPolicy = ({ spec }: KubernetesObject): unknown =>
  ((spec ?? {}) as { readonly deletionPolicy?: unknown }).deletionPolicy
