// What the parts of the work on a Certificate have in common.
import type { Cluster } from "../cluster.ts"
import type { StoredCondition } from "../conditions.ts"
import type { EngineConnections } from "../engine-connections.ts"
import { certificate, type CertificateSpec } from "../kinds/certificate.ts"
import { keyOf, type KubernetesObject, type ObjectKey, placeOf, type Resource } from "../kubernetes-object.ts"
import type { ObjectStore } from "../object-store.ts"
import { Postponed } from "../outcome.ts"
import type { OwnWrites } from "../own-writes.ts"
import type { Visit } from "../reconciler.ts"
import type { OperatorRuntime } from "../runtime.ts"
import type { CertificateStatus } from "./certificate-status.ts"
import type { Held } from "./held-certificate.ts"

export interface CertificateParts {
  readonly cluster: Pick<Cluster, "apply" | "delete" | "get">
  readonly runtime: Pick<OperatorRuntime, "random" | "stopwatch">
  readonly engines: Pick<EngineConnections, "connect">
  readonly storeOf: (resource: Resource) => Pick<ObjectStore, "get" | "by" | "size">
  readonly writes: OwnWrites
}

/** Everything about one Certificate in the course of one look. */
export interface Case {
  readonly object: KubernetesObject
  readonly visit: Visit
  readonly spec: CertificateSpec
  /** Of the Secret. */
  readonly key: ObjectKey
  readonly before: CertificateStatus
  /** As it is, or as it was written last. */
  secret: KubernetesObject | undefined
  held: Held
}

/** What the frame writes into a status. */
export interface FramedStatus {
  readonly observedGeneration?: number
  readonly lastHandledReconcileAt?: string
  readonly nextAttemptTime?: string
  readonly conditions?: readonly StoredCondition[]
}

export const framed = ({ status }: KubernetesObject): FramedStatus => status ?? {}

export function inNamespaceOf({ metadata: { namespace } }: KubernetesObject, name: string): ObjectKey {
  return namespace === undefined ? name : `${namespace}/${name}`
}

/** Looked at a second time only after the watch has shown what was written. */
const patienceMs = 200

/** As it is, without what is on its way here. Only ours are followed: another may be there all the same. */
export async function presentAt(
  { cluster, storeOf, writes }: CertificateParts,
  resource: Resource,
  key: ObjectKey,
): Promise<KubernetesObject | undefined> {
  const known = storeOf(resource).get(key)
  const waitMs = writes.waitMs(placeOf(resource, key), known?.metadata.resourceVersion)
  if (waitMs > 0) throw new Postponed(Math.min(waitMs, patienceMs))
  return known ?? (await cluster.get(resource, key))
}

export async function put(
  { cluster, writes }: CertificateParts,
  { object: owner }: Pick<Case, "object">,
  resource: Resource,
  object: KubernetesObject,
): Promise<KubernetesObject> {
  const written = await cluster.apply(resource, object, fieldManager)
  const { resourceVersion } = written.metadata
  if (resourceVersion !== undefined)
    writes.remember(placeOf(resource, keyOf(object)), resourceVersion, placeOf(certificate, keyOf(owner)))
  return written
}

export const fieldManager = "chancery-certificate"
