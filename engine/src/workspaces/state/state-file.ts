// Parser of Terraform states in format 4, the only one written since 2019. It keeps no values of resources; only the values of outputs are
// returned. Larger states are never held in memory whole: `state-parser.ts` reads them as a stream, by the same rules.
import { type Fault, invalid } from "../../core/errors.ts"
import { type JsonBounds, JsonBoundsError, parseBoundedJson } from "../../core/json-bounds.ts"
import { maxJsonDepth } from "../../core/json-reader.ts"

/** Members that are read first, and by which a state is validated. */
export interface StateHeader {
  readonly formatVersion: number
  readonly terraformVersion: string | null
  readonly serial: number
  readonly lineage: string | null
}

export interface StateContents {
  /** Number of instances of managed resources. Data sources manage nothing. */
  readonly resourceCount: number
  readonly resources: readonly StateResource[]
  /** Number of instances by resource type, for each module and each provider. */
  readonly modules: ResourceCounts
  readonly providers: ResourceCounts
  readonly outputs: readonly StateOutput[]
}

export interface StateFile extends StateHeader, StateContents {}

export interface StateResource {
  readonly name: string
  /** `data.<type>` for data sources. */
  readonly type: string
  readonly count: number
  /** `root` for the root module. */
  readonly module: string
  readonly provider: string
}

export type ResourceCounts = Readonly<Record<string, Readonly<Record<string, number>>>>

export interface StateOutput {
  readonly name: string
  readonly sensitive: boolean
  readonly type: OutputType
  readonly value: unknown
  /** Type notation of Terraform: `"string"`, `["list", "string"]`, `["object", { … }]`. */
  readonly detailedType: unknown
}

export const outputTypes = ["string", "number", "boolean", "array", "map"] as const
export type OutputType = (typeof outputTypes)[number]

export const rootModule = "root"
/** Deeper values cannot be written back as JSON without exhausting the stack. */
export const maxOutputDepth = 200

export function parseStateFile(bytes: Uint8Array): StateFile {
  const document = jsonObject(bytes)
  if (document === undefined) throw notJson()
  const faults: string[] = []
  const header = parseStateHeader(document, faults)
  const resources = listOf(document["resources"], "state resources must be an array", faults).map((resource, index) =>
    parseResource(
      isObject(resource) ? { ...resource, instances: instanceCount(resource["instances"]) } : {},
      index,
      faults,
    ),
  )
  const outputs = Object.entries(objectOf(document["outputs"], "state outputs must be an object", faults)).map(
    ([name, output]) => parseOutput(name, output, faults),
  )
  if (faults.length > 0) throw refused(...faults)
  return { ...header, ...summarize(resources), outputs }
}

/** Reads the header. Ignores other members of the document. */
export function parseStateHeader(document: Readonly<Record<string, unknown>>, faults: string[]): StateHeader {
  const { version } = document
  if (typeof version !== "number" || !Number.isInteger(version)) throw refused("state version must be an integer")
  if (version !== 4)
    throw refused(
      version < 4
        ? `state has format version ${version}; only version 4 is supported; upgrade it with a newer release of the tool`
        : `state has format version ${version}; only version 4 is supported`,
    )
  const serial = document["serial"]
  if (!isCount(serial)) faults.push("state serial must be a non-negative integer")
  const lineage = optionalText(document["lineage"], "state lineage must be a string", faults)
  const terraformVersion = optionalText(
    document["terraform_version"],
    "state terraform_version must be a string",
    faults,
  )
  return { formatVersion: version, terraformVersion, serial: serial as number, lineage }
}

export const summarize = (resources: readonly StateResource[]): Omit<StateContents, "outputs"> => ({
  resourceCount: resources
    .filter(({ type }) => !type.startsWith(dataPrefix))
    .reduce((total, { count }) => total + count, 0),
  resources,
  modules: countsBy(resources, ({ module }) => module),
  providers: countsBy(resources, ({ provider }) => provider),
})

const dataPrefix = "data."
/** A damaged file can have as many faults as lines. The first few are enough. */
const faultsShown = 20

export const notJson = () => refused("state must be a JSON object")

export const refused = (...details: string[]) =>
  invalid(details.slice(0, faultsShown).map((detail): Fault => ({ field: ["state"], detail })))

/** Only for small states. `state-parser.ts` builds no values from larger ones. */
const bounds: JsonBounds = {
  depth: maxJsonDepth,
  members: 2 ** 30,
  elements: 2 ** 30,
  stringBytes: 2 ** 30,
  values: 2 ** 30,
}

function jsonObject(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value = parseBoundedJson(bytes, bounds)
    return isObject(value) ? value : undefined
  } catch (error) {
    if (error instanceof JsonBoundsError) throw refused(`state ${error.message}`)
    return undefined
  }
}

/** Returns the number of a resource's instances, or undefined if the member is not a list. */
const instanceCount = (instances: unknown): number | undefined =>
  instances === undefined || instances === null ? 0 : Array.isArray(instances) ? instances.length : undefined

/** Parses a resource. `instances` is the number of instances. */
export function parseResource(
  { mode, type, name, provider, module, instances }: Readonly<Record<string, unknown>>,
  index: number,
  faults: string[],
): StateResource {
  const wellFormed =
    (mode === "managed" || mode === "data") &&
    typeof type === "string" &&
    typeof name === "string" &&
    typeof provider === "string" &&
    (module === undefined || typeof module === "string") &&
    typeof instances === "number"
  if (!wellFormed) {
    faults.push(`state resource ${index} is malformed`)
    return { name: "", type: "", count: 0, module: rootModule, provider: "" }
  }
  return {
    name,
    type: mode === "data" ? `${dataPrefix}${type}` : type,
    count: instances,
    module: module === undefined || module === "" ? rootModule : module,
    provider,
  }
}

export function parseOutput(name: string, output: unknown, faults: string[]): StateOutput {
  const value = isObject(output) ? (output["value"] ?? null) : undefined
  const detailedType = isObject(output) ? output["type"] : undefined
  const sensitive = isObject(output) ? (output["sensitive"] ?? false) : undefined
  if (
    !storable(name) ||
    typeof sensitive !== "boolean" ||
    value === undefined ||
    depthOf(value) > maxOutputDepth ||
    depthOf(detailedType) > maxOutputDepth ||
    !(typeof detailedType === "string" || Array.isArray(detailedType))
  )
    faults.push(`state output ${JSON.stringify(name)} is malformed`)
  return { name, sensitive: sensitive === true, type: outputType(detailedType, value), value, detailedType }
}

/** Returns false for NUL and lone surrogates. Two different lone surrogates would be stored as the same name. */
const storable = (name: string): boolean => !/[\0\p{Surrogate}]/u.test(name)

/** Maps the type notation of Terraform to the types of the API, which are fewer. */
export function outputType(detailedType: unknown, value: unknown): OutputType {
  const kind: unknown = Array.isArray(detailedType) ? detailedType[0] : detailedType
  switch (kind) {
    case "string":
    case "number":
      return kind
    case "bool":
      return "boolean"
    case "list":
    case "set":
    case "tuple":
      return "array"
    case "map":
    case "object":
      return "map"
    default: // "dynamic": only the value shows the type
      return typeOfValue(value)
  }
}

function typeOfValue(value: unknown): OutputType {
  if (Array.isArray(value)) return "array"
  switch (typeof value) {
    case "number":
    case "boolean":
      return typeof value as "number" | "boolean"
    case "object":
      return value === null ? "string" : "map"
    default:
      return "string"
  }
}

/** Returns the depth of a value. Iterates by level, so that a malicious document cannot exhaust the stack. */
function depthOf(value: unknown): number {
  let depth = 0
  let level: unknown[] = [value]
  while (level.length > 0 && depth <= maxOutputDepth) {
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []))
    depth += 1
  }
  return depth
}

/** Counts by type. Types are written with dashes, as in HCP Terraform: `{ "root": { "null-resource": 1 } }`. */
function countsBy(
  resources: readonly StateResource[],
  group: (resource: StateResource) => string,
): Record<string, Record<string, number>> {
  const groups = new Map<string, Map<string, number>>()
  const kinds = new Map<string, string>()
  for (const resource of resources) {
    const { type, count } = resource
    const name = group(resource)
    let counts = groups.get(name)
    if (counts === undefined) groups.set(name, (counts = new Map()))
    let kind = kinds.get(type)
    if (kind === undefined) kinds.set(type, (kind = type.replaceAll("_", "-")))
    counts.set(kind, (counts.get(kind) ?? 0) + count)
  }
  return Object.fromEntries([...groups].map(([name, counts]) => [name, Object.fromEntries(counts)]))
}

function optionalText(value: unknown, fault: string, faults: string[]): string | null {
  if (typeof value === "string") return value === "" ? null : value
  if (value !== undefined && value !== null) faults.push(fault)
  return null
}

function listOf(value: unknown, fault: string, faults: string[]): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (value !== undefined && value !== null) faults.push(fault)
  return []
}

function objectOf(value: unknown, fault: string, faults: string[]): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value
  if (value !== undefined && value !== null) faults.push(fault)
  return {}
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
