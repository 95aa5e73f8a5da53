// The ConfigMap and the Secret of a TrustBundle in the namespaces: written where they are selected, deleted elsewhere. Objects of others
// are never changed.
import { trustBundle, type TrustBundleSpec } from "../../api/trust-bundle.ts"
import { ApiError, type Cluster, isRejection } from "../../kube/cluster.ts"
import {
  apiVersionOf,
  configMaps,
  type KubernetesObject,
  namespaces,
  type ObjectKey,
  parseKey,
  type Resource,
  secrets,
  selects,
} from "../../kube/kubernetes-object.ts"
import type { ObjectStore } from "../../kube/object-store.ts"
import { labels, type OwnObjectsParts, presentAt, put } from "../../kube/owned-objects.ts"
import { isAsWanted } from "../certificate/secret-layout.ts"
import type { Reason } from "../event-reasons.ts"
import { rejectionMessage } from "../reconcile-result.ts"
import type { Bundle } from "./bundle.ts"

export interface TargetParts extends OwnObjectsParts {
  readonly cluster: Pick<Cluster, "apply" | "delete" | "get">
  readonly storeOf: (resource: Resource) => Pick<ObjectStore, "get" | "keys">
}

export interface TargetFailure {
  readonly namespace: string
  readonly reason: Reason
  readonly message: string
}

export interface Published {
  /** Number of selected namespaces. */
  readonly selected: number
  /** Number of selected namespaces that have the bundle. */
  readonly inSync: number
  readonly failures: readonly TargetFailure[]
  /** True if an object changed during the reconciliation. */
  readonly isOutdated: boolean
}

const fieldManager = "chancery-trust-bundle"
export const ownerAnnotation = "chancery.dev/trust-bundle"
/** Requests at the same time, so that a thousand namespaces take seconds and other kinds are not delayed. */
const maxConcurrent = 8

interface Target {
  readonly resource: Resource
  readonly namespace: string
  readonly name: string
  readonly data: Readonly<Record<string, string>>
}

export async function publishBundle(
  parts: TargetParts,
  object: KubernetesObject,
  { target }: TrustBundleSpec,
  { pem }: Bundle,
  signal: AbortSignal,
): Promise<Published> {
  const selected = selectedNamespaces(parts, target.namespaceSelector ?? {})
  const targets = selected.flatMap((namespace): readonly Target[] => [
    { resource: configMaps, namespace, name: target.configMap.name, data: { [target.configMap.key]: pem } },
    ...(target.secret === undefined
      ? []
      : [
          {
            resource: secrets,
            namespace,
            name: target.secret.name,
            data: { [target.secret.key]: Buffer.from(pem).toString("base64") },
          },
        ]),
  ])
  const wanted = new Set(targets.map(({ resource, namespace, name }) => `${resource.plural} ${namespace}/${name}`))
  const former = [configMaps, secrets].flatMap((resource) =>
    ownedKeys(parts, resource, object)
      .filter((key) => !wanted.has(`${resource.plural} ${key}`))
      .map((key) => ({ resource, key })),
  )
  const failures: TargetFailure[] = []
  let isOutdated = false
  const guarded = async (namespace: string, subject: string, resource: Resource, work: () => Promise<void>) => {
    signal.throwIfAborted()
    try {
      await work()
    } catch (error) {
      if (error instanceof TargetConflict) failures.push({ namespace, reason: error.reason, message: error.message })
      else if (error instanceof ApiError && error.status === 409) isOutdated = true
      else if (!isGone(error)) {
        if (!isRejection(error)) throw error
        failures.push({ namespace, reason: rejectedReason(resource), message: rejectionMessage(subject, error) })
      }
    }
  }
  await inParallel(targets, async (one) => {
    const subject = `the ${one.resource.kind} ${one.name}`
    await guarded(one.namespace, subject, one.resource, () => write(parts, object, one))
  })
  await inParallel(former, async ({ resource, key }) => {
    const { namespace = "", name } = parseKey(key)
    await guarded(namespace, `the deletion of the ${resource.kind} ${name}`, resource, () =>
      parts.cluster.delete(resource, key, parts.storeOf(resource).get(key)?.metadata.uid),
    )
  })
  const order = (one: TargetFailure, other: TargetFailure) => (one.namespace < other.namespace ? -1 : 1)
  const failed = new Set(failures.map(({ namespace }) => namespace))
  return {
    selected: selected.length,
    inSync: selected.filter((namespace) => !failed.has(namespace)).length,
    failures: failures.toSorted(order),
    isOutdated,
  }
}

function selectedNamespaces(
  { storeOf }: TargetParts,
  selector: NonNullable<TrustBundleSpec["target"]["namespaceSelector"]>,
): readonly string[] {
  const store = storeOf(namespaces)
  return [...store.keys()].filter((name) => {
    const namespace = store.get(name)
    // Nothing can be created in a namespace under deletion.
    return (
      namespace !== undefined &&
      namespace.metadata.deletionTimestamp === undefined &&
      selects(selector as Parameters<typeof selects>[0], namespace.metadata.labels ?? {})
    )
  })
}

const ownerOf = ({ metadata }: KubernetesObject): string | undefined => metadata.annotations?.[ownerAnnotation]

function ownedKeys({ storeOf }: TargetParts, resource: Resource, { metadata }: KubernetesObject): readonly ObjectKey[] {
  const store = storeOf(resource)
  return [...store.keys()].filter((key) => {
    const present = store.get(key)
    return present !== undefined && ownerOf(present) === metadata.name
  })
}

class TargetConflict extends Error {
  readonly reason: Reason
  constructor(reason: Reason, message: string) {
    super(message)
    this.reason = reason
  }
}

async function write(parts: TargetParts, object: KubernetesObject, target: Target): Promise<void> {
  const { resource, namespace, name, data } = target
  const present = await presentAt(parts, resource, `${namespace}/${name}`)
  if (present !== undefined && ownerOf(present) !== object.metadata.name) {
    const owner = ownerOf(present)
    const whose = owner === undefined ? "does not belong to this TrustBundle" : `belongs to the TrustBundle ${owner}`
    throw new TargetConflict(
      resource === configMaps ? "ConfigMapConflict" : "SecretNameConflict",
      `The ${resource.kind} ${name} already exists and ${whose}; change the name in spec.target, or delete the ${resource.kind}.`,
    )
  }
  const wanted: KubernetesObject = {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: {
      name,
      namespace,
      ...(present?.metadata.uid === undefined ? {} : { uid: present.metadata.uid }),
      labels,
      annotations: { [ownerAnnotation]: object.metadata.name },
      ownerReferences: [
        {
          apiVersion: apiVersionOf(trustBundle),
          kind: trustBundle.kind,
          name: object.metadata.name,
          uid: object.metadata.uid,
          controller: true,
          blockOwnerDeletion: false,
        },
      ],
    },
    data,
  }
  if (isAsWanted(wanted, present)) return
  await put(parts, { kind: trustBundle, object, fieldManager }, resource, wanted)
}

const rejectedReason = ({ kind }: Resource): Reason => (kind === "ConfigMap" ? "ConfigMapRejected" : "SecretRejected")

/** Returns whether the namespace is gone, or under deletion. */
const isGone = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.status === 404 || (error.status === 403 && /being terminated/.test(error.message)))

async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values()
  await Promise.all(
    Array.from({ length: Math.min(maxConcurrent, items.length) }, async () => {
      for (const item of rest) await work(item)
    }),
  )
}
