// Admission of manifests in place of an API server: rejects them with the faulty field, or fills in defaults.
import type { Kind } from "../api/definition.ts"
import { specFaults } from "../api/rules.ts"
import {
  apiVersionOf,
  configMaps,
  type KubernetesObject,
  namespaces,
  type ObjectKey,
  type Resource,
  secrets,
} from "../kube/kubernetes-object.ts"
import type { Manifest } from "./manifests.ts"

/** Path of the faulty member from the root of the object, and the fault. */
export interface AdmissionRejection {
  readonly field: string
  readonly message: string
}

/** Declared part of an object: labels, annotations, and all members outside of the metadata. */
export type Declared = Readonly<Record<string, unknown>> & {
  readonly metadata?: Pick<KubernetesObject["metadata"], "labels" | "annotations">
}

export interface Admitted {
  readonly resource: Resource
  readonly key: ObjectKey
  readonly declared: Declared
}

/** Built-in kinds of Kubernetes that objects reference. */
export const plainResources: readonly Resource[] = [secrets, configMaps, namespaces]
const plainMembers = new Set(["apiVersion", "kind", "metadata", "type", "data", "stringData", "immutable"])
const ownMembers = new Set(["apiVersion", "kind", "metadata", "spec", "status"])

const nameExpression = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const namespaceExpression = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const maxNameLength = 253
const base64Expression = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
export const defaultNamespace = "default"

/**
 * Returns the admitted object or its faults. Returns undefined for kinds that neither belong to the operator nor are referenced by its
 * kinds.
 */
export function admit(
  { object }: Pick<Manifest, "object">,
  kinds: readonly Kind<unknown>[],
  specBefore: (resource: Resource, key: ObjectKey) => unknown,
): Admitted | readonly AdmissionRejection[] | undefined {
  const { apiVersion, kind, metadata } = object
  if (typeof apiVersion !== "string") return [{ field: "apiVersion", message: "is required" }]
  if (typeof kind !== "string") return [{ field: "kind", message: "is required" }]
  const isThis = (resource: Resource) => apiVersionOf(resource) === apiVersion && resource.kind === kind
  const own = kinds.find(isThis)
  const resource = own ?? plainResources.find(isThis)
  if (resource === undefined) {
    const isOurs = kinds.some(({ group }) => apiVersion === group || apiVersion.startsWith(`${group}/`))
    return isOurs ? [{ field: "kind", message: `${kind} is not a kind of ${apiVersion}` }] : undefined
  }
  if (!isObject(metadata)) return [{ field: "metadata", message: "is required" }]
  const members = own === undefined ? plainMembers : ownMembers
  const refusals: AdmissionRejection[] = Object.keys(object)
    .filter((name) => !members.has(name))
    .map((field) => ({ field, message: "is not a known field" }))
  refusals.push(...metadataRefusals(resource, metadata))
  if (refusals.length > 0) return refusals

  const {
    name,
    namespace = defaultNamespace,
    labels,
    annotations,
  } = metadata as unknown as KubernetesObject["metadata"]
  const key = resource.scope === "Cluster" ? name : `${namespace}/${name}`
  const kept = { ...(labels && { labels }), ...(annotations && { annotations }) }
  const about = Object.keys(kept).length === 0 ? {} : { metadata: kept }
  if (own === undefined) {
    const data = dataOf(object)
    return Array.isArray(data) ? data : { resource, key, declared: { ...about, ...(data as object) } }
  }
  const spec = object["spec"] ?? {}
  const faults = specFaults(own, spec, specBefore(resource, key))
  if (faults.length > 0) return faults
  const filled = own.spec.parse(spec)
  const unknown = unknownMembers(spec, filled, "spec")
  return unknown.length > 0 ? unknown : { resource, key, declared: { ...about, spec: filled } }
}

function metadataRefusals(
  resource: Resource,
  metadata: Readonly<Record<string, unknown>>,
): readonly AdmissionRejection[] {
  const { name, namespace, labels, annotations } = metadata
  const refusals: AdmissionRejection[] = []
  if (typeof name !== "string") refusals.push({ field: "metadata.name", message: "is required" })
  else if (name.length > maxNameLength || !nameExpression.test(name))
    refusals.push({ field: "metadata.name", message: "must consist of lower-case letters, digits, - and ." })
  if (namespace !== undefined && resource.scope === "Cluster")
    refusals.push({
      field: "metadata.namespace",
      message: `must be absent, because a ${resource.kind} is cluster-scoped`,
    })
  else if (namespace !== undefined && (typeof namespace !== "string" || !namespaceExpression.test(namespace)))
    refusals.push({ field: "metadata.namespace", message: "must consist of lower-case letters, digits and -" })
  for (const [member, texts] of Object.entries({ labels, annotations })) {
    if (texts === undefined || texts === null) continue
    if (!isObject(texts)) refusals.push({ field: `metadata.${member}`, message: "must be an object of strings" })
    else
      for (const [one, text] of Object.entries(texts))
        if (typeof text !== "string")
          refusals.push({ field: `metadata.${member}.${one}`, message: "must be a string; put it in quotes" })
  }
  return refusals
}

/** Returns `data` in base64, as Kubernetes stores it, with `stringData` merged in. */
function dataOf(
  object: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | readonly AdmissionRejection[] {
  const { apiVersion: _, kind, metadata: __, stringData = {}, data = {}, ...rest } = object
  const refusals: AdmissionRejection[] = []
  const filled: Record<string, string> = {}
  for (const [member, values] of Object.entries({ data, stringData })) {
    if (!isObject(values)) refusals.push({ field: member, message: "must be an object of strings" })
    else
      for (const [name, value] of Object.entries(values)) {
        const field = `${member}.${name}`
        if (typeof value !== "string") refusals.push({ field, message: "must be a string; put it in quotes" })
        else if (member === "data" && kind === "Secret" && !base64Expression.test(value))
          refusals.push({ field, message: "must be base64; use stringData for plain text" })
        else filled[name] = member === "data" ? value : Buffer.from(value).toString("base64")
      }
  }
  if (refusals.length > 0) return refusals
  return Object.keys(filled).length === 0 ? rest : { ...rest, data: filled }
}

/** Returns members that the schema does not know. Clients that validate request the same from an API server. */
function unknownMembers(input: unknown, known: unknown, path: string): readonly AdmissionRejection[] {
  if (Array.isArray(input) && Array.isArray(known))
    return input.flatMap((item, index) => unknownMembers(item, known[index], `${path}.${index}`))
  if (!isObject(input) || !isObject(known)) return []
  return Object.entries(input).flatMap(([name, value]) =>
    name in known || value === undefined || value === null
      ? unknownMembers(value, known[name], `${path}.${name}`)
      : [{ field: `${path}.${name}`, message: "is not a known field" }],
  )
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
