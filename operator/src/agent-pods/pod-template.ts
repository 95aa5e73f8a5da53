// Template of the pods of an agent (PodTemplateSpec). Kubernetes checks what is not checked here: the agent has it check a pod at its start.
import { parseDocument } from "yaml"
import { agentContainer } from "./pod.ts"

/** Template without faults. Members that the agent neither reads nor sets can have any value. */
export interface PodTemplate {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec: PodSpec
}

export interface PodSpec extends Members {
  readonly containers?: readonly Container[]
  readonly volumes?: readonly Named[]
  readonly securityContext?: Members
  readonly resources?: Resources
}

export interface Container extends Named {
  readonly image?: string
  readonly env?: readonly Named[]
  readonly volumeMounts?: readonly (Named & { readonly mountPath?: string })[]
  readonly resources?: Resources
  readonly securityContext?: Members
}

interface Named extends Members {
  readonly name: string
}

interface Resources {
  readonly limits?: Members
}

type Members = Readonly<Record<string, unknown>>

/** Templates are written by people; the largest object of Kubernetes has 1.5 MB. */
export const maxTemplateBytes = 256 * 1024
const maxAliases = 100

/** Labels and annotations by which the agent finds its pods. */
const ownPrefix = "chancery.dev/"
export const managedByLabel = "app.kubernetes.io/managed-by"
/** Variables that the agent sets, or that would configure the agent in the pod. */
const ownVariables = /^CHANCERY_/
/** Volumes that the agent adds. */
export const ownVolumes = { data: "chancery-data", temporary: "chancery-tmp", files: "chancery-claim" } as const

/** Parses YAML, which includes JSON. Returns faults, each with the member that has it, if this is no template for runs. */
export function parsePodTemplate(
  text: string,
): { readonly template: PodTemplate } | { readonly faults: readonly string[] } {
  if (Buffer.byteLength(text) > maxTemplateBytes)
    return { faults: [`the template is larger than ${maxTemplateBytes} bytes`] }
  let value: unknown
  try {
    const document = parseDocument(text, { prettyErrors: false, schema: "core" })
    const [error] = document.errors
    if (error !== undefined) return { faults: [`the template is not valid YAML: ${error.message}`] }
    value = document.toJS({ maxAliasCount: maxAliases })
  } catch (error) {
    return { faults: [`the template is not valid YAML: ${(error as Error).message}`] }
  }
  const faults = templateFaults(value)
  return faults.length > 0 ? { faults } : { template: value as PodTemplate }
}

export function templateFaults(template: unknown): readonly string[] {
  if (!isObject(template)) return ["the template must be an object with metadata and spec"]
  const { kind, apiVersion, metadata = {}, spec, ...others } = template
  return [
    ...Object.keys(others).map((name) => `${name} is not a member of a pod template`),
    ...(kind === undefined || kind === "Pod" ? [] : ["kind must be Pod, or absent"]),
    ...(apiVersion === undefined || apiVersion === "v1" ? [] : ["apiVersion must be v1, or absent"]),
    ...metadataFaults(metadata),
    ...specFaults(spec),
  ]
}

function metadataFaults(metadata: unknown): readonly string[] {
  if (!isObject(metadata)) return ["metadata must be an object"]
  const { labels = {}, annotations = {}, ...others } = metadata
  return [
    ...Object.keys(others).map((name) => `metadata.${name} cannot be set; only labels and annotations can`),
    ...stringFaults("metadata.labels", labels),
    ...stringFaults("metadata.annotations", annotations),
  ]
}

function stringFaults(path: string, values: unknown): readonly string[] {
  if (!isObject(values)) return [`${path} must be an object`]
  return Object.entries(values).flatMap(([name, value]) => {
    if (name.startsWith(ownPrefix) || name === managedByLabel) return [`${path}.${name} is set by the agent`]
    return typeof value === "string" ? [] : [`${path}.${name} must be a string`]
  })
}

function specFaults(spec: unknown): readonly string[] {
  if (!isObject(spec)) return ["spec must be an object"]
  const { restartPolicy = "Never", containers = [], volumes = [], securityContext = {} } = spec
  return [
    ...(restartPolicy === "Never" ? [] : ["spec.restartPolicy must be Never, because a run is not started twice"]),
    ...(isObject(securityContext) ? [] : ["spec.securityContext must be an object"]),
    ...namedFaults("spec.volumes", volumes, (volume, path) =>
      Object.values<unknown>(ownVolumes).includes(volume["name"])
        ? [`${path}.name is the name of a volume of the agent`]
        : [],
    ),
    ...namedFaults("spec.containers", containers, (container, path) =>
      container["name"] === agentContainer ? agentFaults(container, path) : [],
    ),
  ]
}

function agentFaults(container: Members, path: string): readonly string[] {
  const { image = "image", env = [], volumeMounts = [], securityContext = {} } = container
  return [
    ...["command", "args"].flatMap((name) =>
      container[name] === undefined ? [] : [`${path}.${name} cannot be set; the agent sets the command`],
    ),
    ...(typeof image === "string" && image !== "" ? [] : [`${path}.image must be a non-empty string`]),
    ...(isObject(securityContext) ? [] : [`${path}.securityContext must be an object`]),
    ...namedFaults(`${path}.env`, env, ({ name }, at) =>
      ownVariables.test(String(name)) ? [`${at}.name cannot begin with CHANCERY_`] : [],
    ),
    ...namedFaults(`${path}.volumeMounts`, volumeMounts, () => []),
  ]
}

/** Returns the faults of a list of objects with names. */
function namedFaults(
  path: string,
  list: unknown,
  faultsOf: (element: Members, path: string) => readonly string[],
): readonly string[] {
  if (!Array.isArray(list)) return [`${path} must be an array`]
  return list.flatMap((element: unknown, index) => {
    const at = `${path}[${index}]`
    if (!isObject(element)) return [`${at} must be an object`]
    return typeof element["name"] === "string" ? faultsOf(element, at) : [`${at}.name must be a string`]
  })
}

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)
