// Common part of kinds that keep one resource of an engine in step with their spec: conditions, drift, and objects of the same resource.
import { keyOf, type KubernetesObject } from "../kube/kubernetes-object.ts"
import { byAge } from "./certificate/ownership.ts"
import type { Condition } from "./conditions.ts"
import type { Reason } from "./event-reasons.ts"
import { NotReadyError, type OwnStatus, pollMs, type ReconcileResult } from "./reconcile-result.ts"
import { type Difference, difference, fieldsOf } from "./workspace/drift.ts"

/** Returns the members of a spec that differ, under the names of the fields below `prefix`. */
export const differencesOf = (
  changed: readonly string[],
  wanted: object,
  observed: object,
  prefix = "",
): readonly Difference[] =>
  changed.map((name) =>
    difference(
      `${prefix}${name}`,
      (wanted as Readonly<Record<string, unknown>>)[name],
      (observed as Readonly<Record<string, unknown>>)[name],
    ),
  )

const maxDrift = 100

/** Returns the result for a resource that exists. With differences, it is ready and not in step. */
export function saved(
  ready: { readonly reason: Reason; readonly message: string; readonly inStep: string },
  status: OwnStatus,
  drift: readonly Difference[],
): ReconcileResult {
  const synced: Condition =
    drift.length === 0
      ? { type: "Synced", status: "True", reason: "InStep", message: ready.inStep }
      : {
          type: "Synced",
          status: "False",
          reason: "DriftDetected",
          message: `These fields differ in the engine: ${fieldsOf(drift)}.`,
        }
  return {
    health: { is: "ready", reason: ready.reason, message: ready.message },
    conditions: [synced],
    status: drift.length === 0 ? status : { ...status, drift: drift.slice(0, maxDrift) },
    againAfterMs: pollMs,
  }
}

/** Interval for checking whether a conflict with another object is resolved, since its changes do not requeue this one. */
const rivalPollMs = 60_000

/** Returns the others of these objects, except those under deletion. */
export const othersOf = (objects: readonly KubernetesObject[], object: KubernetesObject): readonly KubernetesObject[] =>
  objects.filter((other) => keyOf(other) !== keyOf(object) && other.metadata.deletionTimestamp === undefined)

/** Throws if one of the objects that declare the same resource is older, because each would undo the other's changes. */
export function rejectOlderRival(kind: string, objects: readonly KubernetesObject[], object: KubernetesObject): void {
  const rival = othersOf(objects, object).find((other) => byAge(other, object) < 0)
  if (rival === undefined) return
  const { name, namespace = "" } = rival.metadata
  const reason = "AlreadyManaged"
  const message = `The ${kind} ${name} in the namespace ${namespace} already manages it; delete one of the two objects.`
  throw new NotReadyError({
    health: { is: "stalled", reason, message },
    conditions: [{ type: "Synced", status: "False", reason, message }],
    againAfterMs: rivalPollMs,
  })
}
