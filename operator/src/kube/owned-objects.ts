// Secrets and ConfigMaps that the operator writes itself: all of them have one label, by which it follows them and no others.
import { type Cluster, isRejection } from "./cluster.ts"
import { keyOf, type KubernetesObject, type ObjectKey, placeOf, reaches, type Resource } from "./kubernetes-object.ts"
import type { ObjectStore } from "./object-store.ts"
import { Postponed } from "../controllers/reconcile-result.ts"
import type { OwnWrites } from "./read-your-writes.ts"

const managedLabel = "controller.chancery.dev/managed"

export const managedSelector = `${managedLabel}=true`

export const labels = {
  "app.kubernetes.io/managed-by": "chancery-operator",
  [managedLabel]: "true",
} as const

export interface OwnObjectsParts {
  readonly cluster: Pick<Cluster, "apply" | "get">
  readonly storeOf: (resource: Resource) => Pick<ObjectStore, "get">
  readonly writes: OwnWrites
}

export function inNamespaceOf({ metadata: { namespace } }: KubernetesObject, name: string): ObjectKey {
  return namespace === undefined ? name : `${namespace}/${name}`
}

/** Looked at a second time only after the watch has shown what was written. */
const patienceMs = 200

/** As it is, without what is on its way here. Only ours are followed: another may be there all the same. */
export async function presentAt(
  { cluster, storeOf, writes }: OwnObjectsParts,
  resource: Resource,
  key: ObjectKey,
): Promise<KubernetesObject | undefined> {
  const known = storeOf(resource).get(key)
  const waitMs = writes.waitMs(placeOf(resource, key), known?.metadata.resourceVersion)
  if (waitMs > 0) throw new Postponed(Math.min(waitMs, patienceMs))
  return known ?? (await cluster.get(resource, key))
}

export interface Writer {
  /** Who is not told of what it has written itself. */
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
  // The watch may be faster than the answer.
  if (resourceVersion !== undefined && !reaches(shown, resourceVersion))
    writes.remember(placeOf(resource, keyOf(object)), resourceVersion, placeOf(kind, keyOf(owner)))
  return written
}

/** Webhooks that cannot take part in a rehearsal decide when the Secret is written. */
export function unlessWithoutRehearsal(error: unknown): void {
  if (!isRejection(error) || !/does not support dry run/.test(error.message)) throw error
}
