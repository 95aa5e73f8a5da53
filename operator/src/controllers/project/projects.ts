// Reconciles Projects: creates or adopts the project, and keeps its settings in step. Comparison and changes are those of the declared kind
// (`@chancery/engine/declared`).
import { type Engine, firstPage, isEngineError } from "@chancery/engine"
import { type ObservedProject, projectResource, type ProjectSpec } from "@chancery/engine/declared"
import { project, type ProjectObjectSpec } from "../../api/project.ts"
import { type KubernetesObject, secondTime } from "../../kube/kubernetes-object.ts"
import type { ObjectStore } from "../../kube/object-store.ts"
import { differencesOf, othersOf, rejectOlderRival, saved } from "../declared-object.ts"
import type { EngineConnections } from "../engine-connections.ts"
import { withFinalizerHint } from "../finalizer.ts"
import { NotReadyError, type OwnStatus, type ReconcileResult, refused, stalled, waiting } from "../reconcile-result.ts"
import { parsedSpec, type Reconciler, type ReconcileRequest } from "../reconciler.ts"
import { fieldsOf } from "../workspace/drift.ts"
import { Lookups } from "../workspace/lookups.ts"
import { tagOwnerOf } from "../workspace/tag-owner.ts"
import { engineProjectName, projectOf } from "./project-references.ts"

export interface ProjectsOptions {
  readonly engines: Pick<EngineConnections, "connect">
  /** Distinguishes clusters whose operators use the same engine. */
  readonly clusterName: string
  /** Project objects, with the index `project`. */
  readonly projects: Pick<ObjectStore, "by">
}

interface ProjectStatus {
  readonly id?: string
  readonly createPending?: unknown
}

export function reconcileProjects(options: ProjectsOptions): Reconciler {
  const lookups = new Lookups()
  return {
    finalizer: {
      name: "chancery.dev/external",
      needed: (object) => (object["spec"] as Partial<ProjectObjectSpec>).deletionPolicy === "Delete",
    },
    reconcile: (object, request) => reconcile(options, lookups, object, request),
    finalize: (object, request) => finalize(options, object, request),
  }
}

const useOf = ({ organization, name }: ProjectObjectSpec, object: KubernetesObject) => ({
  organization,
  project: name ?? object.metadata.name,
})

interface ProjectContext {
  readonly object: KubernetesObject
  readonly request: ReconcileRequest
  readonly spec: ProjectObjectSpec
  readonly engine: Engine
  readonly wanted: ProjectSpec
  /** Owner of the tags. */
  readonly owner: string
}

async function reconcile(
  options: ProjectsOptions,
  lookups: Lookups,
  object: KubernetesObject,
  request: ReconcileRequest,
): Promise<ReconcileResult> {
  const spec = parsedSpec(project, object)
  const connected = await options.engines.connect(spec.connectionRef, object.metadata.namespace, request.signal, {
    use: useOf(spec, object),
  })
  const { engine } = connected
  const organization = spec.organization ?? connected.organization
  if (organization === undefined)
    throw stalled("OrganizationMissing", "spec.organization is required, because the connection sets no organization.")
  rejectOlderRival("Project", sameProjects(options, object, spec), object)
  try {
    const { defaultAgentPool } = spec
    const { now, quiet } = request
    const poolId =
      defaultAgentPool === undefined
        ? undefined
        : await lookups.agentPool("defaultAgentPool", defaultAgentPool, { engine, organization, quiet, now })
    const wanted = projectSpec(spec, object, organization, poolId)
    const faults = projectResource.validate({ ...wanted })
    if (faults.length > 0)
      throw stalled(
        "InvalidSpec",
        faults.map(({ field = [], detail }) => `spec.${field.join(".")}: ${detail}`).join("; "),
      )
    const owner = tagOwnerOf(object, options.clusterName)
    return await settle({ object, request, spec, engine, wanted, owner })
  } catch (error) {
    throw isEngineError(error) ? refused(error) : error
  }
}

/** Returns the objects for the same project of the same organization. */
const sameProjects = (
  { projects }: ProjectsOptions,
  object: KubernetesObject,
  { organization }: Pick<ProjectObjectSpec, "organization">,
): readonly KubernetesObject[] =>
  projects
    .by("project", projectOf(object)[0] ?? "")
    .filter((other) => (other["spec"] as Partial<ProjectObjectSpec>).organization === organization)

const projectSpec = (
  spec: ProjectObjectSpec,
  object: KubernetesObject,
  organization: string,
  defaultAgentPoolId: string | undefined,
): ProjectSpec => {
  const { description, autoDestroyActivityDuration, defaultExecutionMode, tagBindings } = spec
  return {
    organization,
    name: engineProjectName(object),
    ...(description === undefined ? {} : { description }),
    ...(autoDestroyActivityDuration === undefined ? {} : { autoDestroyActivityDuration }),
    ...(defaultExecutionMode === undefined ? {} : { defaultExecutionMode }),
    ...(defaultAgentPoolId === undefined ? {} : { defaultAgentPoolId }),
    ...(tagBindings === undefined
      ? {}
      : { tagBindings: Object.fromEntries(tagBindings.map(({ key, value }) => [key, value])) }),
  }
}

async function settle(it: ProjectContext): Promise<ReconcileResult> {
  const { engine, spec, wanted, request, owner } = it
  const { id: knownId } = request.status as ProjectStatus
  const known = knownId === undefined ? undefined : await observe(it, knownId)
  if (known === undefined && knownId !== undefined && spec.driftPolicy === "Report")
    throw stalled("ProjectMissing", `The project ${knownId} was deleted, or the token can no longer see it.`)
  const { id, observed, isNew } =
    knownId === undefined || known === undefined ? await establish(it) : { id: knownId, observed: known, isNew: false }
  // In report mode an adopted project is not changed, and a new one is completed.
  const mayChange = spec.driftPolicy === "Enforce" || isNew
  const status: OwnStatus = { id, name: mayChange ? wanted.name : observed.name }
  try {
    const { changed } = projectResource.diff(wanted, observed)
    const drift = differencesOf(changed, wanted, observed)
    if (changed.length > 0 && mayChange) await projectResource.update(engine, id, wanted, observed, [], { owner })
    if (changed.length > 0 && mayChange && request.quiet)
      await request.record({
        type: "Warning",
        reason: "DriftCorrected",
        note: `Reverted differences in the engine: ${fieldsOf(drift)}.`,
      })
    const ready = {
      reason: "ProjectSaved",
      message: "The engine has the project.",
      inStep: "The project matches the spec.",
    } as const
    return saved(ready, status, mayChange ? [] : drift)
  } catch (error) {
    const unsettled = isEngineError(error) ? refused(error) : error
    throw unsettled instanceof NotReadyError ? new NotReadyError({ ...unsettled.outcome, status }) : unsettled
  }
}

const observe = (
  { engine, wanted, request, owner }: ProjectContext,
  id: string,
): Promise<ObservedProject | undefined> =>
  projectResource.observe(engine, id, wanted, { before: {}, now: request.now, owner })

interface Established {
  readonly id: string
  readonly observed: ObservedProject
  readonly isNew: boolean
}

async function establish(it: ProjectContext): Promise<Established> {
  const { engine, spec, wanted, request, object, owner } = it
  const { organization, name } = wanted
  const { createPending } = request.status as ProjectStatus
  const present = await named(engine, wanted)
  const taken = () =>
    stalled(
      "NameTaken",
      `The organization ${organization} already has a project ${name}; set adoptionPolicy to IfExists to take it over.`,
    )
  if (present !== undefined) {
    // There was no project when the creation began, so this one is its result.
    const isCreated = createPending !== undefined
    if (!isCreated && spec.adoptionPolicy === "Never") throw taken()
    const observed = await observe(it, present)
    if (observed === undefined) throw stalled("ProjectMissing", `The project ${name} was deleted during its adoption.`)
    await record(it, isCreated ? "Created" : "Adopted", present)
    return { id: present, observed, isNew: isCreated }
  }
  if (spec.adoptionPolicy === "MustExist")
    throw stalled("ProjectMissing", `The organization ${organization} has no project ${name}.`)
  if (createPending === undefined) await request.saveStatus({ createPending: { at: secondTime(request.now) } })
  try {
    const { uid = object.metadata.name } = object.metadata
    const created = await projectResource.create(engine, wanted, { marker: uid, adopt: false, owner })
    await record(it, "Created", created.id)
    return { ...created, isNew: true }
  } catch (error) {
    const isTaken = isEngineError(error, "invalid") && (await named(engine, wanted)) !== undefined
    const unsettled = isTaken ? taken() : isEngineError(error) ? refused(error) : error
    if (!(unsettled instanceof NotReadyError) || unsettled.outcome.health.is !== "stalled") throw unsettled
    // The engine rejected the creation, so nothing was created.
    throw new NotReadyError({ ...unsettled.outcome, status: {} })
  }
}

async function named(engine: Engine, { organization, name }: ProjectSpec): Promise<string | undefined> {
  const { items } = await engine.projects.list(organization, { names: [name] }, firstPage)
  return items.find((item) => item.name === name)?.id
}

const record = ({ request }: ProjectContext, how: "Created" | "Adopted", id: string): Promise<void> =>
  request.record({
    type: "Normal",
    reason: how,
    note: how === "Created" ? `Created the project ${id}.` : `Took over the project ${id}.`,
  })

async function finalize(
  options: ProjectsOptions,
  object: KubernetesObject,
  request: ReconcileRequest,
): Promise<ReconcileResult | undefined> {
  const { id, createPending } = request.status as ProjectStatus
  const { deletionPolicy, organization } = object["spec"] as Partial<ProjectObjectSpec>
  if (deletionPolicy !== "Delete" || (id === undefined && createPending === undefined)) return undefined
  // The object was renamed or moved, and its successor manages the same project now. So the project stays.
  if (othersOf(sameProjects(options, object, { organization }), object).length > 0) return undefined
  return withFinalizerHint(project, object, async () => {
    const spec = parsedSpec(project, object)
    const connected = await options.engines.connect(spec.connectionRef, object.metadata.namespace, request.signal, {
      isCleaningUp: true,
      use: useOf(spec, object),
    })
    const { engine } = connected
    const place = spec.organization ?? connected.organization
    try {
      // The answer to the creation was lost.
      const orphan =
        place === undefined ? undefined : () => named(engine, { organization: place, name: engineProjectName(object) })
      const known = id ?? (await orphan?.())
      if (known === undefined) return
      await projectResource.delete(engine, known, {}, "safe", { before: {}, now: request.now })
      await request.record({ type: "Normal", reason: "Deleted", note: `Deleted the project ${known}.` })
    } catch (error) {
      if (isEngineError(error, "conflict")) throw waiting("DeletionBlocked", error.message)
      throw isEngineError(error) ? refused(error) : error
    }
  })
}
