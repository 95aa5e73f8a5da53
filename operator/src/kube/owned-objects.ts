// Secrets and ConfigMaps that the operator writes. They share one label, and the operator watches only objects with it.
import { type Cluster, isRejection } from "./cluster.ts"
import { keyOf, type KubernetesObject, type ObjectKey, placeOf, reaches, type Resource } from "./kubernetes-object.ts"
import type { ObjectStore } from "./object-store.ts"
import { RequeueAfter } from "../controllers/reconcile-result.ts"
import type { ReadYourWrites } from "./read-your-writes.ts"

const managedLabel = "controller.chancery.dev/managed"

export const managedSelector = `${managedLabel}=true`

export const labels = {
  "app.kubernetes.io/managed-by": "chancery-operator",
  [managedLabel]: "true",
} as const

export interface OwnObjectsParts {
  readonly cluster: Pick<Cluster, "apply" | "get">
  readonly storeOf: (resource: Resource) => Pick<ObjectStore, "get">
  readonly writes: ReadYourWrites
}

export function inNamespaceOf({ metadata: { namespace } }: KubernetesObject, name: string): ObjectKey {
  return namespace === undefined ? name : `${namespace}/${name}`
}

/** Delay before the next attempt if the watch has not yet shown the operator's own last write. */
const timeoutMs = 200

/**
 * Returns the current object, or undefined. Throws `Postponed` if the watch is behind the operator's own write. Only labelled objects are
 * cached; others are read from the cluster.
 */
export async function presentAt(
  { cluster, storeOf, writes }: OwnObjectsParts,
  resource: Resource,
  key: ObjectKey,
): Promise<KubernetesObject | undefined> {
  const known = storeOf(resource).get(key)
  const waitMs = writes.waitMs(placeOf(resource, key), known?.metadata.resourceVersion)
  if (waitMs > 0) throw new RequeueAfter(Math.min(waitMs, timeoutMs))
  return known ?? (await cluster.get(resource, key))
}

export interface Writer {
  /** Kind of the owner. The owner is not requeued for its own writes. */
  readonly kind: Resource
  readonly object: KubernetesObject
  readonly fieldManager: string
}

export async function put(
  { cluster, storeOf, writes }: OwnObjectsParts,
  { kind, object: owner, fieldManager }: Writer,
  resource: Resource,
  object: KubernetesObject,
): Promise<KubernetesObject> {
  const written = await cluster.apply(resource, object, fieldManager)
  const { resourceVersion } = written.metadata
  const shown = storeOf(resource).get(keyOf(object))?.metadata.resourceVersion
  // The watch may have shown the write before the response arrived.
  if (resourceVersion !== undefined && !reaches(shown, resourceVersion))
    writes.remember(placeOf(resource, keyOf(object)), resourceVersion, placeOf(kind, keyOf(owner)))
  return written
}

/** Ignores the error of admission webhooks that do not support dry run; these decide at the real write. Rethrows others. */
export function unlessWithoutRehearsal(error: unknown): void {
  if (!isRejection(error) || !/does not support dry run/.test(error.message)) throw error
}
