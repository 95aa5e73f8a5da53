/** Members that all Kubernetes objects have. Times remain strings, as on the wire. */
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

/** Kind, with the names that its URLs have. */
export interface Resource {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  /** Default: `Namespaced`. */
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

/** `namespace/name`, or only the name for cluster-scoped objects. */
export type ObjectKey = string

export const keyOf = ({ metadata: { namespace, name } }: KubernetesObject): ObjectKey =>
  namespace === undefined ? name : `${namespace}/${name}`

/** Returns a key that is unique over all kinds. */
export const placeOf = ({ group, plural }: Resource, key: ObjectKey): string => `${plural}.${group}/${key}`

export function parseKey(key: ObjectKey): { readonly namespace?: string; readonly name: string } {
  const slash = key.indexOf("/")
  return slash === -1 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

export const apiVersionOf = ({ group, version }: Resource): string => (group === "" ? version : `${group}/${version}`)

/**
 * Returns the object as it is cached. `managedFields` are half of an object and not needed. A new object takes less memory than one with a
 * deleted member.
 */
export function withoutManagedFields(object: KubernetesObject): KubernetesObject {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

/**
 * Returns whether `resourceVersion` is at least as new as `other`. Versions of one resource are increasing decimals (KEP-5504). If a server
 * uses another format, the version counts as up to date.
 */
export function reaches(resourceVersion: string | undefined, other: string): boolean {
  if (resourceVersion === undefined) return false
  if (!/^\d+$/.test(resourceVersion) || !/^\d+$/.test(other)) return true
  return BigInt(resourceVersion) >= BigInt(other)
}

/**
 * Formats an instant with whole seconds, which is all that objects store. Otherwise a status would differ, and be written, at every
 * comparison.
 */
export const secondTime = (instant: number): string => new Date(instant).toISOString().replace(/\.\d+Z$/, "Z")

/** Formats an instant with six fractional digits, which leases and events require; three are rejected. */
export const microTime = (instant: number): string => new Date(instant).toISOString().replace("Z", "000Z")

// Label selectors of the Kubernetes API (`metav1.LabelSelector`). All conditions must match; an empty selector matches everything.

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
