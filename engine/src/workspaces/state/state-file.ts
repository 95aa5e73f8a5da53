// What a state of the infrastructure tool says about itself: format 4, the only one written since 2019. Nothing here keeps
// the values of resources; outputs are the one part whose values leave this file. Larger states are never held whole:
// `state-reader.ts` reads them piece by piece, by the same rules.
import { type Fault, invalid } from "../../core/errors.ts"
import { type JsonBounds, JsonBoundsError, parseBoundedJson } from "../../core/json-bounds.ts"
import { jsonDepthMaximum } from "../../core/json-reader.ts"

/** What every state tells first, and by which it is refused. */
export interface StateHeader {
  readonly formatVersion: number
  readonly terraformVersion: string | null
  readonly serial: number
  readonly lineage: string | null
}

export interface StateContents {
  /** Instances of managed resources; data sources manage nothing. */
  readonly resourceCount: number
  readonly resources: readonly StateResource[]
  /** Instances per kind of resource, by module and by provider. */
  readonly modules: ResourceCounts
  readonly providers: ResourceCounts
  readonly outputs: readonly StateOutput[]
}

export interface StateFile extends StateHeader, StateContents {}

export interface StateResource {
  readonly name: string
  /** Data sources as `data.<type>`. */
  readonly type: string
  readonly count: number
  /** `root` for the outermost. */
  readonly module: string
  readonly provider: string
}

export type ResourceCounts = Readonly<Record<string, Readonly<Record<string, number>>>>

export interface StateOutput {
  readonly name: string
  readonly sensitive: boolean
  readonly type: OutputType
  readonly value: unknown
  /** The tool's own type notation: `"string"`, `["list", "string"]`, `["object", { … }]`. */
  readonly detailedType: unknown
}

export const outputTypes = ["string", "number", "boolean", "array", "map"] as const
export type OutputType = (typeof outputTypes)[number]

export const rootModule = "root"
/** Deeper values cannot be written back as JSON without exhausting the stack. */
export const outputDepthMaximum = 200

export function parseStateFile(bytes: Uint8Array): StateFile {
  const document = jsonObject(bytes)
  if (document === undefined) throw notJson()
  const faults: string[] = []
  const header = parseStateHeader(document, faults)
  const resources = listOf(document["resources"], "State resources must be a list", faults).map((resource, index) =>
    parseResource(
      isObject(resource) ? { ...resource, instances: instanceCount(resource["instances"]) } : {},
      index,
      faults,
    ),
  )
  const outputs = Object.entries(objectOf(document["outputs"], "State outputs must be an object", faults)).map(
    ([name, output]) => parseOutput(name, output, faults),
  )
  if (faults.length > 0) throw refused(...faults)
  return { ...header, ...summarize(resources), outputs }
}

/** Of the members of the document only its own are looked at. */
export function parseStateHeader(document: Readonly<Record<string, unknown>>, faults: string[]): StateHeader {
  const { version } = document
  if (typeof version !== "number" || !Number.isInteger(version)) throw refused("State names no format version")
  if (version !== 4)
    throw refused(
      version < 4
        ? `State has format version ${version}; only version 4 is supported. Write it again with a newer release of the tool.`
        : `State has format version ${version}; only version 4 is supported.`,
    )
  const serial = document["serial"]
  if (!isCount(serial)) faults.push("State has no valid serial")
  const lineage = optionalText(document["lineage"], "State lineage must be a string", faults)
  const terraformVersion = optionalText(
    document["terraform_version"],
    "State terraform_version must be a string",
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
/** A damaged file can be wrong in as many places as it has lines; the first few say enough. */
const faultsShown = 20

export const notJson = () => refused("State is not a JSON document")

export const refused = (...details: string[]) =>
  invalid(details.slice(0, faultsShown).map((detail): Fault => ({ field: ["state"], detail })))

/** It holds a small state; of larger ones `state-reader.ts` makes no values. */
const bounds: JsonBounds = {
  depth: jsonDepthMaximum,
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
    if (error instanceof JsonBoundsError) throw refused(`State ${error.message}`)
    return undefined
  }
}

/** The number of a resource's instances; undefined where they are no list. */
const instanceCount = (instances: unknown): number | undefined =>
  instances === undefined || instances === null ? 0 : Array.isArray(instances) ? instances.length : undefined

/** `instances` is their number. */
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
    faults.push(`State resource ${index} is malformed`)
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
    depthOf(value) > outputDepthMaximum ||
    depthOf(detailedType) > outputDepthMaximum ||
    !(typeof detailedType === "string" || Array.isArray(detailedType))
  )
    faults.push(`State output ${JSON.stringify(name)} is malformed`)
  return { name, sensitive: sensitive === true, type: outputType(detailedType, value), value, detailedType }
}

/** Half a character is none: two of them would be stored as the same name. */
const storable = (name: string): boolean => !/[\0\p{Surrogate}]/u.test(name)

/** The tool knows more kinds than clients are shown. */
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
    default: // "dynamic": only the value tells
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

/** Level by level, so that a hostile document cannot exhaust the stack. */
function depthOf(value: unknown): number {
  let depth = 0
  let level: unknown[] = [value]
  while (level.length > 0 && depth <= outputDepthMaximum) {
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []))
    depth += 1
  }
  return depth
}

/** Kinds with dashes, as clients of the public API read them: `{ "root": { "null-resource": 1 } }`. */
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
