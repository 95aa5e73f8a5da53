// Reconciles roles of certificate authorities. Comparison and changes are those of the declared kind (`@chancery/engine/declared`); this
// module decides when they run.
import { isDeepStrictEqual } from "node:util"
import { isEngineError, type Engine } from "@chancery/engine"
import { type ObservedPkiRole, pkiRoleResource, type PkiRoleSpec } from "@chancery/engine/declared"
import { byAge } from "../certificate/ownership.ts"
import type { Condition } from "../conditions.ts"
import { connectionOf } from "../controllers.ts"
import type { EngineConnections } from "../engine-connections.ts"
import { certificateRole, type CertificateRoleSpec, ruleNames } from "../../api/certificate-role.ts"
import { keyOf, type KubernetesObject } from "../../kube/kubernetes-object.ts"
import type { ObjectStore } from "../../kube/object-store.ts"
import { type ReconcileResult, type OwnStatus, pollMs, refused, stalled, NotReadyError } from "../reconcile-result.ts"
import { parsedSpec, type Reconciler, type ReconcileRequest } from "../reconciler.ts"
import { withFinalizerHint } from "../finalizer.ts"
import { mountMissing } from "../mount/mount-references.ts"

export interface CertificateRolesOptions {
  readonly engines: Pick<EngineConnections, "connect">
  /** Store of CertificateRoles, with the index `connection`. */
  readonly roles: Pick<ObjectStore, "by">
  /** Store of Mounts, with the index `mount`. */
  readonly mounts: Pick<ObjectStore, "by">
}

export const reconcileCertificateRoles = (options: CertificateRolesOptions): Reconciler => ({
  finalizer: {
    name: "chancery.dev/external",
    needed: (object) => (object["spec"] as Partial<CertificateRoleSpec>).deletionPolicy !== "Retain",
  },
  reconcile: (object, request) => reconcile(options, object, request),
  finalize: (object, request) => finalize(options, object, request),
})

/** Returns the name that the role of an object has in the engine. */
export const engineRoleName = (spec: Pick<CertificateRoleSpec, "name">, object: KubernetesObject): string =>
  spec.name ?? object.metadata.name

async function reconcile(
  { engines, roles, mounts }: CertificateRolesOptions,
  object: KubernetesObject,
  request: ReconcileRequest,
): Promise<ReconcileResult> {
  const spec = parsedSpec(certificateRole, object)
  const wanted = roleSpec(spec, object)
  const faults = pkiRoleResource.validate({ ...wanted })
  if (faults.length > 0)
    throw stalled(
      "InvalidSpec",
      faults.map(({ field = [], detail }) => `spec.${field.join(".")}: ${detail}`).join("; "),
    )
  const { engine } = await engines.connect(spec.connectionRef, object.metadata.namespace, request.signal, {
    use: { mount: spec.mount, role: engineRoleName(spec, object) },
  })
  try {
    const { id } = request.status as { readonly id?: string }
    const observed =
      id === undefined ? undefined : await pkiRoleResource.observe(engine, id, wanted, { before: {}, now: request.now })
    if (id === undefined || observed === undefined) {
      rejectRivals(roles, object, wanted)
      return await made(engine, spec, wanted, object)
    }
    const { changed } = pkiRoleResource.diff(wanted, observed)
    if (changed.length === 0) return settled(id, wanted)
    if (spec.driftPolicy === "Report") return reported(id, wanted, observed, changed)
    rejectRivals(roles, object, wanted)
    await pkiRoleResource.update(engine, id, wanted, observed)
    return settled(id, wanted)
  } catch (error) {
    // A role is created or changed by its name, so it is the mount that does not exist.
    if (isEngineError(error, "not-found")) throw mountMissing(mounts, object, spec)
    throw isEngineError(error) ? refused(error) : error
  }
}

interface OtherRole {
  readonly object: KubernetesObject
  readonly wanted: PkiRoleSpec
}

/** Returns other objects for the same role of the engine, in any namespace, except those being deleted. */
function othersOf(
  roles: CertificateRolesOptions["roles"],
  object: KubernetesObject,
  { mount, name }: PkiRoleSpec,
): readonly OtherRole[] {
  const [connection = ""] = connectionOf(object)
  return roles
    .by("connection", connection)
    .filter((other) => keyOf(other) !== keyOf(object) && other.metadata.deletionTimestamp === undefined)
    .flatMap((other) => {
      const parsed = certificateRole.spec.safeParse(other["spec"])
      return parsed.success ? [{ object: other, wanted: roleSpec(parsed.data, other) }] : []
    })
    .filter(({ wanted }) => wanted.mount === mount && wanted.name === name)
}

/** Interval for checking whether a conflict with another object is resolved, since its changes do not requeue this one. */
const rivalPollMs = 60_000

/**
 * Throws if an older object sets a rule of the same role to another value. Without this, each object would undo the other's change
 * repeatedly.
 */
function rejectRivals(roles: CertificateRolesOptions["roles"], object: KubernetesObject, wanted: PkiRoleSpec): void {
  for (const rival of othersOf(roles, object, wanted).filter((other) => byAge(other.object, object) < 0)) {
    const both = { ...wanted, ...rival.wanted } as ObservedPkiRole
    const differing = pkiRoleResource.diff(wanted, both).changed.filter((name) => name in rival.wanted)
    if (differing.length === 0) continue
    const { name, namespace = "" } = rival.object.metadata
    const fields = differing.map((field) => `spec.${field}`).join(" and ")
    const reason = "AlreadyManaged"
    const message = `The CertificateRole ${name} in the namespace ${namespace} manages the same role ${wanted.name} in ${wanted.mount} with different values of ${fields}; set them in one object only.`
    throw new NotReadyError({
      health: { is: "stalled", reason, message },
      conditions: [{ type: "Synced", status: "False", reason, message }],
      againAfterMs: rivalPollMs,
    })
  }
}

async function made(
  engine: Engine,
  spec: CertificateRoleSpec,
  wanted: PkiRoleSpec,
  object: KubernetesObject,
): Promise<ReconcileResult> {
  const { mount, name } = wanted
  if (spec.adoptionPolicy === "MustExist" && !(await exists(engine, wanted)))
    throw stalled(
      "RoleMissing",
      `The engine has no role ${name} in ${mount}, and adoptionPolicy MustExist requires one.`,
    )
  try {
    const origin = { marker: object.metadata.uid ?? name, adopt: spec.adoptionPolicy !== "Never" }
    const { id } = await pkiRoleResource.create(engine, wanted, origin)
    return settled(id, wanted)
  } catch (error) {
    if (!isEngineError(error, "conflict")) throw error
    throw stalled(
      "NameTaken",
      `The engine already has a role ${name} in ${mount} with different settings; set adoptionPolicy to IfExists to take it over.`,
    )
  }
}

async function exists(engine: Engine, { mount, name }: PkiRoleSpec): Promise<boolean> {
  try {
    await engine.pki(mount).roles.get(name)
    return true
  } catch (error) {
    if (isEngineError(error, "not-found")) return false
    throw error
  }
}

const roleSpec = (spec: CertificateRoleSpec, object: KubernetesObject): PkiRoleSpec => ({
  mount: spec.mount,
  name: engineRoleName(spec, object),
  ...Object.fromEntries(ruleNames.flatMap((name) => (spec[name] === undefined ? [] : [[name, spec[name]]]))),
})

const settled = (id: string, { name }: PkiRoleSpec): ReconcileResult => ({
  health: { is: "ready", reason: "RoleSaved", message: "The engine has the role." },
  conditions: [{ type: "Synced", status: "True", reason: "InStep", message: "The role matches the spec." }],
  status: { id, name },
  againAfterMs: pollMs,
})

const maxText = 4_096

function reported(
  id: string,
  wanted: PkiRoleSpec,
  observed: ObservedPkiRole,
  changed: readonly string[],
): ReconcileResult {
  const text = (value: unknown) => JSON.stringify(value).slice(0, maxText)
  const drift = changed.map((field) => ({
    field,
    desired: text(wanted[field as keyof PkiRoleSpec]),
    observed: text(observed[field as keyof PkiRoleSpec]),
  }))
  const synced: Condition = {
    type: "Synced",
    status: "False",
    reason: "DriftDetected",
    message: `These fields differ in the engine: ${changed.join(", ")}.`,
  }
  const status: OwnStatus = { id, name: wanted.name, drift }
  return { ...settled(id, wanted), conditions: [synced], status }
}

async function finalize(
  { engines, roles }: CertificateRolesOptions,
  object: KubernetesObject,
  request: ReconcileRequest,
): Promise<ReconcileResult | undefined> {
  const spec = object["spec"] as Partial<CertificateRoleSpec>
  const { id } = request.status as { readonly id?: string }
  if (spec.deletionPolicy === "Retain" || id === undefined) return undefined
  return withFinalizerHint(certificateRole, object, async () => {
    const parsed = parsedSpec(certificateRole, object)
    const wanted = roleSpec(parsed, object)
    // The object was renamed or moved, and its successor manages the same role now. So the role stays.
    if (othersOf(roles, object, wanted).some((other) => isDeepStrictEqual(other.wanted, wanted))) return
    const { engine } = await engines.connect(parsed.connectionRef, object.metadata.namespace, request.signal, {
      isCleaningUp: true,
      use: { mount: parsed.mount, role: engineRoleName(parsed, object) },
    })
    try {
      await pkiRoleResource.delete(engine, id, {}, "safe", { before: {}, now: request.now })
    } catch (error) {
      throw isEngineError(error) ? refused(error) : error
    }
  })
}
