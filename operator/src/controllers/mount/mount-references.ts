// Objects in a mount of an engine, and the Mount that manages it. Both name the mount by connection and path.
import type { ConnectionRef } from "../../api/connection-spec.ts"
import type { KubernetesObject, Resource } from "../../kube/kubernetes-object.ts"
import type { Index, ObjectStore } from "../../kube/object-store.ts"
import { connectionOf, type Reference } from "../controllers.ts"
import { type NotReadyError, stalled, waiting } from "../reconcile-result.ts"

/** Index `mount`: connection and path of the mount that an object manages (`spec.path`) or is in (`spec.mount`). */
export const mountOf: Index = (object) => {
  const { path, mount: place = path } = (object["spec"] ?? {}) as { readonly path?: unknown; readonly mount?: unknown }
  return typeof place === "string" ? connectionOf(object).map((connection) => `${connection} ${place}`) : []
}

/** Returns a reference of kinds with the index `mount` to objects of another kind in the same mount. */
export const sameMount = (resource: Resource): Reference => ({
  resource,
  index: "mount",
  valueFor: (_key, object) => mountOf(object)[0] ?? "",
})

/** Interval for checking whether the mount exists now, since another client may create it without a notification. */
const missingPollMs = 60_000

export interface InMount {
  readonly connectionRef: ConnectionRef
  readonly mount: string
}

/** Returns the error for an object whose mount does not exist: it waits for a Mount, or needs one. */
export function mountMissing(
  mounts: Pick<ObjectStore, "by">,
  object: KubernetesObject,
  { connectionRef, mount: path }: InMount,
): NotReadyError {
  const found = mounts.by("mount", mountOf(object)[0] ?? "").find(isStaying)
  if (found === undefined)
    return stalled(
      "MountMissing",
      `The engine of the ${connectionRef.kind} ${connectionRef.name} has no mount ${path}.`,
      missingPollMs,
    )
  const { namespace = "", name } = found.metadata
  return waiting(
    "MountNotReady",
    `The Mount ${name} in the namespace ${namespace} has not created the mount ${path} yet.`,
    missingPollMs,
  )
}

const isStaying = ({ metadata }: KubernetesObject): boolean => metadata.deletionTimestamp === undefined

/** Returns whether an object of the store, which has the index `mount`, is in the mount of this one and not under deletion. */
export const isDeclaredIn = (store: Pick<ObjectStore, "by">, object: KubernetesObject): boolean =>
  store.by("mount", mountOf(object)[0] ?? "").some(isStaying)

/**
 * Returns whether a Mount of the same namespace has not been set up yet, or has changed since. Mounts of other namespaces are left out, so
 * that no namespace can stop the authorities of another one.
 */
export const awaitsMount = (mounts: Pick<ObjectStore, "by">, object: KubernetesObject): boolean =>
  mounts
    .by("mount", mountOf(object)[0] ?? "")
    .some((one) => one.metadata.namespace === object.metadata.namespace && isStaying(one) && !isSetUp(one))

/** Returns whether the settings of the mount are in force, which certificates contain. ACME and EST may wait for roles and issuers. */
function isSetUp({ metadata: { generation }, status }: KubernetesObject): boolean {
  const { settingsGeneration } = (status ?? {}) as { readonly settingsGeneration?: number }
  return settingsGeneration !== undefined && settingsGeneration === generation
}
