// Reconciles Mounts: creates or adopts the mount, and keeps its settings in step. Comparison and changes are those of the declared kind
// (`@chancery/engine/declared`). ACME and EST come last, because they may name roles and issuers that other objects create in the mount.
import { type Engine, isEngineError } from "@chancery/engine"
import { type ObservedPkiMount, PartlyCreated, pkiMountResource, type PkiMountSpec } from "@chancery/engine/declared"
import { mount, type MountObjectSpec, ownNames } from "../../api/mount.ts"
import { type KubernetesObject, secondTime } from "../../kube/kubernetes-object.ts"
import type { ObjectStore } from "../../kube/object-store.ts"
import { differencesOf, othersOf, rejectOlderRival, saved } from "../declared-object.ts"
import type { EngineConnections } from "../engine-connections.ts"
import { withFinalizerHint } from "../finalizer.ts"
import { NotReadyError, type OwnStatus, type ReconcileResult, refused, stalled, waiting } from "../reconcile-result.ts"
import { parsedSpec, type Reconciler, type ReconcileRequest } from "../reconciler.ts"
import { type Difference, fieldsOf } from "../workspace/drift.ts"
import { mountOf } from "./mount-references.ts"
import {
  type NamingPart,
  namingParts,
  rejectMissingNames,
  type SettingsPartName,
  settingsPartNames,
  syncPart,
} from "./mount-settings.ts"

export interface MountsOptions {
  readonly engines: Pick<EngineConnections, "connect">
  /** Mounts, with the index `mount`. So have the roles and authorities, which exist in mounts. */
  readonly mounts: Pick<ObjectStore, "by">
  readonly roles: Pick<ObjectStore, "by">
  readonly authorities: Pick<ObjectStore, "by">
}

interface MountStatus {
  readonly id?: string
  /** Generation whose settings are in force, except ACME and EST. */
  readonly settingsGeneration?: number
  readonly createPending?: unknown
}

export const reconcileMounts = (options: MountsOptions): Reconciler => ({
  finalizer: {
    name: "chancery.dev/external",
    needed: (object) => (object["spec"] as Partial<MountObjectSpec>).deletionPolicy === "Delete",
  },
  reconcile: (object, request) => reconcile(options, object, request),
  finalize: (object, request) => finalize(options, object, request),
})

interface MountContext {
  readonly options: MountsOptions
  readonly object: KubernetesObject
  readonly request: ReconcileRequest
  readonly spec: MountObjectSpec
  readonly engine: Engine
  readonly wanted: PkiMountSpec
}

async function reconcile(
  options: MountsOptions,
  object: KubernetesObject,
  request: ReconcileRequest,
): Promise<ReconcileResult> {
  const spec = parsedSpec(mount, object)
  const wanted = mountSpec(spec)
  const faults = pkiMountResource.validate({ ...wanted })
  if (faults.length > 0)
    throw stalled(
      "InvalidSpec",
      faults.map(({ field = [], detail }) => `spec.${field.join(".")}: ${detail}`).join("; "),
    )
  rejectOlderRival("Mount", options.mounts.by("mount", mountOf(object)[0] ?? ""), object)
  const { engine } = await options.engines.connect(spec.connectionRef, object.metadata.namespace, request.signal, {
    use: { mount: spec.path, isWhole: true },
  })
  try {
    return await settle({ options, object, request, spec, engine, wanted })
  } catch (error) {
    throw isEngineError(error) ? refused(error) : error
  }
}

/** Without changes, one part of the settings is compared at each poll. They take turns. */
function partsOf({ spec, request }: MountContext): readonly SettingsPartName[] {
  const declared = settingsPartNames.filter((name) => spec[name] !== undefined)
  // In report mode, the status lists the differences of all parts.
  if (!request.partial || spec.driftPolicy === "Report") return declared
  return declared.filter((_, index) => index === request.turn % declared.length)
}

async function settle(it: MountContext): Promise<ReconcileResult> {
  const { spec, request, object } = it
  const before = await observe(it)
  const { observed, isNew } = isOurs(it, before) ? { observed: before, isNew: false } : await establish(it, before)
  const known: OwnStatus = { id: observed.uuid, accessor: observed.accessor }
  const { settingsGeneration } = request.status as MountStatus
  // In report mode an adopted mount is not changed, and a new one is completed.
  const mayChange = spec.driftPolicy === "Enforce" || isNew
  let status: OwnStatus = { ...known, ...(settingsGeneration === undefined ? {} : { settingsGeneration }) }
  try {
    const drift = [...(await syncMount(it, observed, mayChange))]
    const { generation } = object.metadata
    status = { ...known, ...(generation === undefined ? {} : { settingsGeneration: generation }) }
    drift.push(...(await syncNamingParts(it, mayChange)))
    if (drift.length > 0 && mayChange && request.quiet)
      await request.record({
        type: "Warning",
        reason: "DriftCorrected",
        note: `Reverted differences in the engine: ${fieldsOf(drift)}.`,
      })
    const ready = {
      reason: "MountSaved",
      message: "The engine has the mount.",
      inStep: "The mount matches the spec.",
    } as const
    return saved(ready, status, mayChange ? [] : drift)
  } catch (error) {
    const unsettled = isEngineError(error) ? refused(error) : error
    throw unsettled instanceof NotReadyError ? new NotReadyError({ ...unsettled.outcome, status }) : unsettled
  }
}

/** Brings the mount and its settings except ACME and EST in step. Returns the differences that it found. */
async function syncMount(
  it: MountContext,
  observed: ObservedPkiMount,
  mayChange: boolean,
): Promise<readonly Difference[]> {
  const { engine, spec, wanted } = it
  const { changed } = pkiMountResource.diff(wanted, observed)
  if (changed.length > 0 && mayChange) await pkiMountResource.update(engine, spec.path, wanted, observed)
  const drift = [...differencesOf(changed, wanted, observed)]
  for (const name of partsOf(it))
    if (!isNaming(name)) drift.push(...(await syncPart({ engine, spec, mayChange }, name)))
  return drift
}

const isNaming = (name: SettingsPartName): name is NamingPart => namingParts.some((part) => part === name)

/** Brings ACME and EST in step. A part that waits for a role does not delay the other. */
async function syncNamingParts(it: MountContext, mayChange: boolean): Promise<readonly Difference[]> {
  const { engine, spec, options, object } = it
  const results = await Promise.allSettled(
    partsOf(it)
      .filter(isNaming)
      .map((name) => {
        const beforeChange = () => rejectMissingNames(options, object, { engine, spec }, name)
        return syncPart({ engine, spec, mayChange, beforeChange }, name)
      }),
  )
  return results.flatMap((result) => {
    if (result.status === "rejected") throw result.reason
    return result.value
  })
}

async function observe({ engine, spec, wanted, request }: MountContext): Promise<ObservedPkiMount | undefined> {
  return pkiMountResource.observe(engine, spec.path, wanted, { before: {}, now: request.now })
}

/** Returns whether the mount is the one that this object created or adopted, and not a later one at the same path. */
const isOurs = ({ request }: MountContext, observed: ObservedPkiMount | undefined): observed is ObservedPkiMount =>
  observed !== undefined && (request.status as MountStatus).id === observed.uuid

interface Established {
  readonly observed: ObservedPkiMount
  readonly isNew: boolean
}

async function establish(it: MountContext, found: ObservedPkiMount | undefined): Promise<Established> {
  const { spec, request, engine, wanted, object } = it
  const { path, adoptionPolicy } = spec
  const { id, createPending } = request.status as MountStatus
  if (found !== undefined) {
    // There was no mount when the creation began, so this one is its result.
    const isCreated = createPending !== undefined
    if (!isCreated && adoptionPolicy === "Never")
      throw stalled(
        "NameTaken",
        `The engine already has a mount ${path}; set adoptionPolicy to IfExists to take it over.`,
      )
    await record(it, isCreated ? "Created" : "Adopted")
    return { observed: found, isNew: isCreated }
  }
  if (adoptionPolicy === "MustExist" || (id !== undefined && spec.driftPolicy === "Report"))
    throw stalled("MountMissing", `The engine has no mount ${path}, or the token cannot see it.`)
  if (createPending === undefined) await request.saveStatus({ createPending: { at: secondTime(request.now) } })
  const { uid = object.metadata.name } = object.metadata
  try {
    const created = await pkiMountResource.create(engine, wanted, { marker: uid, adopt: false })
    await record(it, "Created")
    return { observed: created.observed, isNew: true }
  } catch (error) {
    // Its settings are completed by the next attempt, which finds the mount.
    if (error instanceof PartlyCreated) throw isEngineError(error.cause) ? refused(error.cause) : error
    if (isEngineError(error, "conflict"))
      throw withoutPending(
        stalled("NameTaken", `The engine already has a mount ${path}; set adoptionPolicy to IfExists to take it over.`),
      )
    const known = isEngineError(error) ? refused(error) : error
    throw known instanceof NotReadyError && known.outcome.health.is === "stalled" ? withoutPending(known) : known
  }
}

/** Forgets a creation that the engine rejected. */
const withoutPending = ({ outcome }: NotReadyError): NotReadyError => new NotReadyError({ ...outcome, status: {} })

const record = ({ request, spec }: MountContext, how: "Created" | "Adopted"): Promise<void> =>
  request.record({
    type: "Normal",
    reason: how,
    note: how === "Created" ? `Created the mount ${spec.path}.` : `Took over the mount ${spec.path}.`,
  })

const mountSpec = (spec: MountObjectSpec): PkiMountSpec => ({
  path: spec.path,
  ...Object.fromEntries(ownNames.flatMap((name) => (spec[name] === undefined ? [] : [[name, spec[name]]]))),
})

async function finalize(
  options: MountsOptions,
  object: KubernetesObject,
  request: ReconcileRequest,
): Promise<ReconcileResult | undefined> {
  const { id, createPending } = request.status as MountStatus
  const { deletionPolicy } = object["spec"] as Partial<MountObjectSpec>
  if (deletionPolicy !== "Delete" || (id === undefined && createPending === undefined)) return undefined
  const [place = ""] = mountOf(object)
  // The object was renamed or moved, and its successor manages the same mount now. So the mount stays.
  if (othersOf(options.mounts.by("mount", place), object).length > 0) return undefined
  if (options.authorities.by("mount", place).length > 0)
    throw waiting(
      "DeletionBlocked",
      "CertificateAuthorities still use the mount; it is deleted after the last of them.",
    )
  return withFinalizerHint(mount, object, async () => {
    const spec = parsedSpec(mount, object)
    const { engine } = await options.engines.connect(spec.connectionRef, object.metadata.namespace, request.signal, {
      isCleaningUp: true,
      use: { mount: spec.path, isWhole: true },
    })
    try {
      const { path } = spec
      const found = await pkiMountResource.observe(engine, path, { path }, { before: {}, now: request.now })
      // Another client deleted the mount, and perhaps created another one.
      if (found === undefined || (id !== undefined && found.uuid !== id)) return
      await pkiMountResource.delete(engine, path, {}, "safe", { before: {}, now: request.now })
      await request.record({ type: "Normal", reason: "Deleted", note: `Deleted the mount ${path}.` })
    } catch (error) {
      if (isEngineError(error, "conflict")) throw waiting("DeletionBlocked", error.message)
      throw isEngineError(error) ? refused(error) : error
    }
  })
}
