// Resolves the values of a spec's variables. The engine is changed only after all values are known.
import type { VariableInput } from "@chancery/engine"
import type { WorkspaceObjectSpec } from "../../api/workspace.ts"
import {
  configMaps,
  type KubernetesObject,
  type ObjectKey,
  type Resource,
  secrets,
} from "../../kube/kubernetes-object.ts"
import type { NamedObjects } from "../../kube/named-objects.ts"
import type { Index } from "../../kube/object-store.ts"
import { stalled } from "../reconcile-result.ts"
import { inNamespaceOf } from "../../kube/owned-objects.ts"

type VariableEntry = NonNullable<WorkspaceObjectSpec["variables"]>[number]
type KeyRef = NonNullable<NonNullable<VariableEntry["valueFrom"]>["secretKeyRef"]>

export type Named = (resource: Resource) => Pick<NamedObjects, "get">

/** Complete desired variable. */
export interface WantedVariable extends VariableInput {
  /** Uid, key and version of the Secret or ConfigMap with the value. Differs after each change. */
  readonly sourceVersion?: string
}

/** Returns the variables in the order of the spec. Throws `Unsettled` if a required source is missing. */
export async function wantedVariables(
  { variables = [] }: WorkspaceObjectSpec,
  object: KubernetesObject,
  named: Named,
  signal: AbortSignal,
): Promise<readonly WantedVariable[]> {
  const wanted: WantedVariable[] = []
  for (const variable of variables) {
    const { key, category, hcl, description, value, valueFrom } = variable
    const found = value === undefined ? await valueFromOthers(variable, object, named, signal) : { value }
    if (found === undefined) continue
    // Values from Secrets are sensitive by default.
    const sensitive = variable.sensitive ?? valueFrom?.secretKeyRef !== undefined
    wanted.push({ key, category, hcl, description, sensitive, ...found })
  }
  return wanted
}

async function valueFromOthers(
  { key: variableKey, category, valueFrom: { secretKeyRef, configMapKeyRef } = {} }: VariableEntry,
  object: KubernetesObject,
  named: Named,
  signal: AbortSignal,
): Promise<Pick<WantedVariable, "value" | "sourceVersion"> | undefined> {
  const [resource, ref] = secretKeyRef === undefined ? [configMaps, configMapKeyRef] : [secrets, secretKeyRef]
  if (ref === undefined) return undefined
  const { name, key, optional } = ref
  const what = `spec.variables: ${category} ${variableKey}:`
  const source = await named(resource).get(inNamespaceOf(object, name), signal)
  if (source === undefined) {
    if (optional) return undefined
    const reason = resource === secrets ? "SecretMissing" : "ConfigMapMissing"
    throw stalled(reason, `${what} there is no ${resource.kind} ${name} in the namespace.`)
  }
  const data = (source["data"] ?? {}) as Readonly<Record<string, string>>
  const stored = Object.hasOwn(data, key) ? data[key] : undefined
  if (stored === undefined) {
    if (optional) return undefined
    const reason = resource === secrets ? "SecretKeyMissing" : "ConfigMapKeyMissing"
    throw stalled(reason, `${what} the ${resource.kind} ${name} has no value for ${key}.`)
  }
  const value = resource === secrets ? textOf(stored) : stored
  if (value === undefined)
    throw stalled("InvalidSpec", `${what} the value of ${key} in the ${resource.kind} ${name} is not valid UTF-8.`)
  const { uid, resourceVersion } = source.metadata
  return { value, sourceVersion: `${uid}/${key}/${resourceVersion}` }
}

function textOf(base64: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, "base64"))
  } catch {
    return undefined
  }
}

/** Returns the keys of referenced objects. The spec may not match the schema. */
const namesOf =
  (ref: "secretKeyRef" | "configMapKeyRef"): Index =>
  (object): readonly ObjectKey[] => {
    const { variables } = (object["spec"] ?? {}) as Partial<WorkspaceObjectSpec>
    const names = (Array.isArray(variables) ? variables : []).flatMap((variable: VariableEntry) => {
      const name = (variable?.valueFrom?.[ref] as Partial<KeyRef> | undefined)?.name
      return typeof name === "string" ? [inNamespaceOf(object, name)] : []
    })
    return [...new Set(names)]
  }

export const variableSecretsOf = namesOf("secretKeyRef")
export const variableConfigMapsOf = namesOf("configMapKeyRef")
