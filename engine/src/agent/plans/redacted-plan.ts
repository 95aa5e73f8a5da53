// The redacted plan of a run, which Terraform's command line renders (`terraform plan`, `show` and `apply` with remote operations). It
// contains no sensitive value, so callers that may read the run can read it (docs/runs.md, "Redacted plans").
import { shapeOfBlock } from "./schema-shape.ts"
import {
  completeMarks,
  isObject,
  type Json,
  type JsonObject,
  redactPath,
  redactUnknown,
  redactValue,
  type Shape,
  uniteMarks,
} from "./sensitive-value.ts"

export interface RedactedPlan {
  readonly plan_format_version: string
  readonly resource_changes?: readonly JsonObject[]
  readonly resource_drift?: readonly JsonObject[]
  readonly deferred_changes?: readonly JsonObject[]
  readonly relevant_attributes?: readonly JsonObject[]
  readonly output_changes?: JsonObject
  readonly provider_format_version: string
  readonly provider_schemas: JsonObject
}

/**
 * Makes the redacted plan from the output of `terraform show -json PLANFILE` and of `terraform providers schema -json`, both parsed. Throws
 * if a member has an unexpected type, or if a schema is missing: it can mark attributes as sensitive.
 */
export function redactPlan(plan: unknown, providerSchemas: unknown): RedactedPlan {
  const whole = objectIn(plan as Json, "plan")
  const allSchemas = objectIn(providerSchemas as Json, "schemas")
  const schemas = new UsedSchemas(allSchemas["provider_schemas"])
  const changesIn = (member: string) =>
    listIn(whole, member, (item, name) => redactResource(objectIn(item, name), name, schemas))
  return {
    plan_format_version: textIn(whole, "format_version", "plan"),
    ...changesIn("resource_changes"),
    ...changesIn("resource_drift"),
    ...listIn(whole, "deferred_changes", (item, name) => {
      const deferred = objectIn(item, name)
      const change = objectIn(deferred["resource_change"], `${name}.resource_change`)
      return { ...pick(deferred, ["reason"]), resource_change: redactResource(change, name, schemas) }
    }),
    ...listIn(whole, "relevant_attributes", (item, name) => pick(objectIn(item, name), ["resource", "attribute"])),
    ...(whole["output_changes"] !== undefined && { output_changes: redactOutputs(whole["output_changes"]) }),
    provider_format_version: textIn(allSchemas, "format_version", "schemas"),
    provider_schemas: schemas.used(),
  }
}

const resourceMembers = [
  "address",
  "previous_address",
  "module_address",
  "mode",
  "type",
  "name",
  "index",
  "index_unknown",
  "provider_name",
  "deposed",
  "action_reason",
]

function redactResource(resource: JsonObject, name: string, schemas: UsedSchemas): JsonObject {
  const change = objectIn(resource["change"], `${name}.change`)
  const [mode, type, provider] = ["mode", "type", "provider_name"].map((member) => textIn(resource, member, name))
  if (mode !== "managed" && mode !== "data") throw new Error(`${name}.mode must be "managed" or "data"`)
  return {
    ...pick(resource, resourceMembers),
    change: redactChange(change, schemas.shapeOf(mode, provider ?? "", type ?? "")),
  }
}

const redactOutputs = (outputs: Json): JsonObject =>
  Object.fromEntries(
    Object.entries(objectIn(outputs, "plan.output_changes")).map(([name, output]) => [
      name,
      redactChange(objectIn(output, `plan.output_changes.${name}`), null),
    ]),
  )

const changeMembers = ["actions", "importing", "generated_config"]

/** Redacts both sides of a change. A value that is sensitive on one side is hidden on both, because it can be the same. */
function redactChange(change: JsonObject, shape: Shape | null): JsonObject {
  const { before_sensitive: marksBefore = false, after_sensitive: marksAfter = false } = change
  const place = { shape, marks: uniteMarks(marksBefore, marksAfter), isSensitive: false }
  const textFor = numberedTexts()
  const { before = null, after = null, after_unknown: unknown = false, replace_paths: paths } = change
  return {
    ...pick(change, changeMembers),
    before: redactValue(before, place, textFor),
    after: redactValue(after, place, textFor),
    after_unknown: redactUnknown(unknown, place),
    before_sensitive: completeMarks(before, marksBefore, place),
    after_sensitive: completeMarks(after, marksAfter, place),
    ...(Array.isArray(paths) && {
      replace_paths: (paths as readonly Json[]).map((path) => redactPath(Array.isArray(path) ? path : [], place)),
    }),
  }
}

/** Numbers the sensitive values of one change. A digest would let readers guess short secrets. */
function numberedTexts(): (secret: Json) => string {
  const numbers = new Map<string, number>()
  return (secret) => {
    const key = JSON.stringify(secret)
    const number = numbers.get(key) ?? numbers.size + 1
    numbers.set(key, number)
    return `(sensitive value ${number})`
  }
}

const kinds = {
  managed: { member: "resource_schemas", title: "resource type" },
  data: { member: "data_source_schemas", title: "data source" },
} as const

/** Schemas of the types that occur in the plan. The renderer needs no others, and those of a provider can have many megabytes. */
class UsedSchemas {
  readonly #all: JsonObject
  readonly #used = new Map<string, Map<string, Map<string, Json>>>()
  readonly #shapes = new Map<Json, Shape>()

  constructor(all: Json | undefined) {
    this.#all = isObject(all) ? all : {}
  }

  shapeOf(mode: keyof typeof kinds, provider: string, type: string): Shape {
    const { member, title } = kinds[mode]
    const schema = memberOf(memberOf(memberOf(this.#all, provider), member), type)
    if (!isObject(schema)) throw new Error(`provider_schemas has no ${title} "${type}" of the provider "${provider}"`)
    const ofProvider = this.#used.get(provider) ?? new Map<string, Map<string, Json>>()
    const ofMember = ofProvider.get(member) ?? new Map<string, Json>()
    this.#used.set(provider, ofProvider.set(member, ofMember.set(type, schema)))
    const shape = this.#shapes.get(schema) ?? shapeOfBlock(schema["block"])
    this.#shapes.set(schema, shape)
    return shape
  }

  used(): JsonObject {
    return Object.fromEntries(
      Array.from(this.#used, ([provider, members]) => [
        provider,
        Object.fromEntries(Array.from(members, ([member, types]) => [member, Object.fromEntries(types)])),
      ]),
    )
  }
}

const memberOf = (value: Json | undefined, name: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

const pick = (from: JsonObject, members: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(from).filter(([name]) => members.includes(name)))

function objectIn(value: Json | undefined, name: string): JsonObject {
  if (!isObject(value)) throw new Error(`${name} must be an object`)
  return value
}

function textIn(from: JsonObject, member: string, name: string): string {
  const text = from[member]
  if (typeof text !== "string") throw new Error(`${name}.${member} must be a string`)
  return text
}

/** Returns an object with the list under its name, or without it if it is absent. */
function listIn(
  from: JsonObject,
  member: string,
  map: (item: Json, name: string) => JsonObject,
): { readonly [name: string]: readonly JsonObject[] } {
  const list = from[member]
  if (list === undefined) return {}
  if (!Array.isArray(list)) throw new Error(`plan.${member} must be an array`)
  return { [member]: (list as readonly Json[]).map((item, index) => map(item, `plan.${member}[${index}]`)) }
}
