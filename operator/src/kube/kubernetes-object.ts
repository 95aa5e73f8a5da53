/** What every object of the Kubernetes API has; times stay the text that they are on the wire. */
export interface KubernetesObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: ObjectMetadata
  readonly [member: string]: unknown
}

export interface ObjectMetadata {
  readonly name: string
  readonly namespace?: string
  readonly uid?: string
  readonly generation?: number
  readonly resourceVersion?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly deletionTimestamp?: string
  readonly [member: string]: unknown
}

/** One kind, as its addresses spell it. */
export interface Resource {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  /** Whether its objects are in namespaces, which they are unless it says otherwise. */
  readonly scope?: "Cluster" | "Namespaced"
}

export const secrets: Resource = { group: "", version: "v1", plural: "secrets", kind: "Secret" }
export const configMaps: Resource = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap" }
export const namespaces: Resource = {
  group: "",
  version: "v1",
  plural: "namespaces",
  kind: "Namespace",
  scope: "Cluster",
}

/** `namespace/name`, or the name alone of what is in no namespace. */
export type ObjectKey = string

export const keyOf = ({ metadata: { namespace, name } }: KubernetesObject): ObjectKey =>
  namespace === undefined ? name : `${namespace}/${name}`

/** An object among those of all kinds. */
export const placeOf = ({ group, plural }: Resource, key: ObjectKey): string => `${plural}.${group}/${key}`

export function parseKey(key: ObjectKey): { readonly namespace?: string; readonly name: string } {
  const slash = key.indexOf("/")
  return slash === -1 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

export const apiVersionOf = ({ group, version }: Resource): string => (group === "" ? version : `${group}/${version}`)

/**
 * What is kept in memory. Who wrote which field is half of an object and nothing to us; building the object anew is smaller
 * than deleting a member from it.
 */
export function withoutManagedFields(object: KubernetesObject): KubernetesObject {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

/**
 * Whether one version is not older than the other. Versions of one resource are decimal and grow (KEP-5504); a server that
 * breaks with that is taken to be up to date.
 */
export function reaches(resourceVersion: string | undefined, other: string): boolean {
  if (resourceVersion === undefined) return false
  if (!/^\d+$/.test(resourceVersion) || !/^\d+$/.test(other)) return true
  return BigInt(resourceVersion) >= BigInt(other)
}

/** Whole seconds: objects store no more, and a status that differs by less would be written for ever. */
export const secondTime = (instant: number): string => new Date(instant).toISOString().replace(/\.\d+Z$/, "Z")

/** Leases and events have six digits; three are refused. */
export const microTime = (instant: number): string => new Date(instant).toISOString().replace("Z", "000Z")

// Label selectors of the Kubernetes API (`metav1.LabelSelector`): all of it must hold; an empty one selects everything.

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly {
    readonly key: string
    readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist"
    readonly values?: readonly string[]
  }[]
}

export function selects(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Readonly<Record<string, string>>,
): boolean {
  if (!Object.entries(matchLabels).every(([key, value]) => labels[key] === value)) return false
  return matchExpressions.every(({ key, operator, values = [] }) => {
    const value = labels[key]
    switch (operator) {
      case "In":
        return value !== undefined && values.includes(value)
      case "NotIn":
        return value === undefined || !values.includes(value)
      case "Exists":
        return value !== undefined
      case "DoesNotExist":
        return value === undefined
      default:
        return unreachable(operator)
    }
  })
}

const unreachable = (operator: never): never => {
  throw new Error(`a label selector has the operator ${String(operator)}`)
}
