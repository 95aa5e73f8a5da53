// ConfigMap with the chain of a certificate authority, under `ca.crt`. It belongs to the object that publishes it.
import { type Cluster, isRejection } from "../kube/cluster.ts"
import { apiVersionOf, configMaps, type KubernetesObject, type Resource } from "../kube/kubernetes-object.ts"
import type { ObjectStore } from "../kube/object-store.ts"
import { labels } from "../kube/owned-objects.ts"
import { NotReadyError, rejectionHealth, stalled } from "./reconcile-result.ts"

export interface ChainPublicationParts {
  readonly cluster: Pick<Cluster, "apply" | "get">
  /** Cache of the operator's own ConfigMaps, which have its label. */
  readonly storeOf: (resource: Resource) => Pick<ObjectStore, "get">
}

export interface PublishedChain {
  readonly kind: Resource
  /** Owner of the ConfigMap. */
  readonly object: KubernetesObject
  readonly namespace: string
  readonly name: string
  /** PEM. */
  readonly caChain: string
}

const fieldManager = "chancery-issuer"
const ownerAnnotation = "chancery.dev/issuer"

/** Writes the ConfigMap if it differs. Throws if it belongs to another owner, or the API server rejects it. */
export async function publishChain(
  { cluster, storeOf }: ChainPublicationParts,
  { kind, object, namespace, name, caChain }: PublishedChain,
): Promise<void> {
  const key = `${namespace}/${name}`
  const present = storeOf(configMaps).get(key) ?? (await cluster.get(configMaps, key))
  const title = ownerTitle(kind, object)
  if (present !== undefined && present.metadata.annotations?.[ownerAnnotation] !== title)
    throw stalled(
      "ConfigMapConflict",
      `The ConfigMap ${name} in the namespace ${namespace} does not belong to this ${kind.kind}.`,
    )
  if ((present?.["data"] as Readonly<Record<string, string>> | undefined)?.["ca.crt"] === caChain) return
  const configMap: KubernetesObject = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name,
      namespace,
      ...(present?.metadata.uid === undefined ? {} : { uid: present.metadata.uid }),
      labels,
      annotations: { [ownerAnnotation]: title },
      ownerReferences: [ownerReference(kind, object)],
    },
    data: { "ca.crt": caChain },
  }
  try {
    await cluster.apply(configMaps, configMap, fieldManager)
  } catch (error) {
    if (!isRejection(error)) throw error
    throw new NotReadyError({
      health: rejectionHealth("ConfigMapRejected", `the ConfigMap ${name} in the namespace ${namespace}`, error),
    })
  }
}

/** Returns the owner that is written on ConfigMaps and Secrets of issuers and authorities. */
export const ownerTitle = ({ kind }: Pick<Resource, "kind">, { metadata }: KubernetesObject): string =>
  `${kind}/${metadata.name}`

export const ownerReference = (
  resource: Resource,
  { metadata: { name, uid } }: KubernetesObject,
): Readonly<Record<string, unknown>> => ({
  apiVersion: apiVersionOf(resource),
  kind: resource.kind,
  name,
  uid,
  controller: true,
})
