// Decoding of request documents, with all faults of a document at once, and building blocks of answers.
import { z } from "zod"
import { badRequest, type Fault, invalid } from "../../../core/errors.ts"
import { encode } from "../../codec.ts"
import { unstorableFaults } from "./storable-text.ts"

/** Returns a schema of strings with a domain rule, so that its faults are reported together with those of types. */
export const ruled = (rule: (text: string) => readonly Fault[]) => z.string().check(judging(rule))

/** Returns a schema of numbers with a domain rule. */
export const ruledNumber = (rule: (number: number) => readonly Fault[]) => z.number().check(judging(rule))

function judging<T>(rule: (value: T) => readonly Fault[]): z.core.CheckFn<T> {
  return (context) => {
    for (const { detail } of rule(context.value))
      context.issues.push({ code: "custom", message: detail, input: context.value, params: wholeSentence })
  }
}

/** Parameters of an issue whose message already names the member. */
export const wholeSentence = { wholeSentence: true }

export interface ResourceIdentifier {
  readonly type: string
  readonly id: string
}

export interface Resource extends ResourceIdentifier {
  readonly attributes: Readonly<Record<string, unknown>>
  readonly relationships?: Readonly<Record<string, unknown>>
  readonly links?: Readonly<Record<string, unknown>>
}

export interface Document {
  readonly data: unknown
  readonly included?: readonly unknown[]
  readonly links?: Readonly<Record<string, unknown>>
  readonly meta?: Readonly<Record<string, unknown>>
}

export const identifier = (type: string, id: string): ResourceIdentifier => ({ type, id })
/** Encodes a to-one relationship. Null means none. */
export const toOne = (type: string, id: string | null) => ({ data: id === null ? null : identifier(type, id) })
export const toMany = (type: string, ids: readonly string[]) => ({ data: ids.map((id) => identifier(type, id)) })

/**
 * Decodes `{ data: { type, attributes, relationships } }`. Unknown members are ignored, as HCP Terraform clients expect. `schema` describes
 * `data`; its faults have pointers. A missing or empty `type` is accepted if `typeOptional` is set, because public clients send one
 * (docs/compatibility.md, "Locking"). Throws `bad-request` or `invalid`.
 */
export function decodeDocument<T>(body: unknown, schema: z.ZodType<T>, options: DocumentTypes): T {
  const { data, faults } = readData(body, options)
  const parsed = parse(schema, data, "/data")
  if (faults.length > 0 || !parsed.success) throw invalid([...faults, ...parsed.faults])
  return parsed.value
}

/**
 * Decodes a document whose members are all optional. Attributes and relationships that do not match `schema` are dropped and their faults
 * returned, so that domain rules can add theirs before the request fails. Throws `invalid` if the rest does not match either.
 */
export function salvageDocument<T>(
  body: unknown,
  schema: z.ZodType<T>,
  options: DocumentTypes,
): { readonly value: T; readonly faults: readonly Fault[] } {
  const { data, faults } = readData(body, options)
  const parsed = schema.safeParse(data, { reportInput: true })
  if (parsed.success) return { value: parsed.data, faults }
  const { issues } = parsed.error
  faults.push(...issues.flatMap((issue) => faultsOf(issue, "/data")))
  const invalidMembers = new Set(issues.map(({ path }) => path.slice(0, 2).join("/")))
  const validGroups = Object.entries(data).flatMap(([group, members]): [string, unknown][] => {
    if (invalidMembers.has(group)) return []
    if (!isObject(members)) return [[group, members]]
    return [
      [group, Object.fromEntries(Object.entries(members).filter(([name]) => !invalidMembers.has(`${group}/${name}`)))],
    ]
  })
  const salvaged = schema.safeParse(Object.fromEntries(validGroups), { reportInput: true })
  if (!salvaged.success) throw invalid(faults)
  return { value: salvaged.data, faults }
}

interface DocumentTypes {
  readonly types: readonly string[]
  readonly typeOptional?: boolean
}

function readData(body: unknown, { types, typeOptional }: DocumentTypes) {
  if (!isObject(body) || !isObject(body["data"]))
    throw badRequest("data must be an object", [{ detail: "data must be an object", pointer: "/data" }])
  const { data } = body
  const faults: Fault[] = []
  const { type } = data
  const typeMissing = type === undefined || type === ""
  if (!(typeMissing && typeOptional === true) && !(typeof type === "string" && types.includes(type)))
    faults.push({
      detail: `type must be ${types.map((name) => `"${name}"`).join(" or ")}`,
      pointer: "/data/type",
    })
  return { data, faults }
}

/** Decodes `{ data: [ … ] }`. Throws `bad-request`, or `invalid` with the faults of all elements. */
export function decodeList<T>(
  body: unknown,
  schema: z.ZodType<T>,
  options: { readonly types: readonly string[]; readonly maximum?: number },
): T[] {
  const data = isObject(body) ? body["data"] : undefined
  if (!Array.isArray(data))
    throw badRequest("data must be an array", [{ detail: "data must be an array", pointer: "/data" }])
  const maximum = options.maximum ?? maxList
  if (data.length > maximum)
    throw invalid([{ detail: `data has too many entries (maximum is ${maximum})`, pointer: "/data" }])
  const faults: Fault[] = []
  const elements: T[] = []
  data.forEach((element: unknown, index) => {
    const at = `/data/${index}`
    const type = isObject(element) ? element["type"] : undefined
    if (typeof type !== "string" || !options.types.includes(type))
      faults.push({
        detail: `type must be ${options.types.map((name) => `"${name}"`).join(" or ")}`,
        pointer: `${at}/type`,
      })
    const parsed = parse(schema, element, at)
    if (parsed.success) elements.push(parsed.value)
    else faults.push(...parsed.faults)
  })
  if (faults.length > 0) throw invalid(faults)
  return elements
}

/** Decodes a body with a schema of its own. Pointers of faults begin at the root. Throws `invalid`. */
export function decodeBody<T>(body: unknown, schema: z.ZodType<T>): T {
  const parsed = parse(schema, body, "")
  if (!parsed.success) throw invalid(parsed.faults)
  return parsed.value
}

/** Maximum number of values searched for unstorable text if the document is invalid anyway. */
const maxRefusedValues = 10_000

type Parsed<T> =
  | { readonly success: true; readonly value: T; readonly faults: readonly [] }
  | { readonly success: false; readonly faults: readonly Fault[] }

function parse<T>(schema: z.ZodType<T>, value: unknown, base: string): Parsed<T> {
  const parsed = schema.safeParse(value, { reportInput: true })
  const faults = parsed.success ? [] : parsed.error.issues.flatMap((issue) => faultsOf(issue, base))
  // Only decoded members of a valid document are checked, because unknown members are ignored.
  const unstorable = parsed.success
    ? unstorableFaults(encode(schema, parsed.data), base)
    : unstorableFaults(value, base, maxRefusedValues)
  const unnamed = unstorable.filter(({ pointer }) => faults.every((fault) => fault.pointer !== pointer))
  if (parsed.success && unnamed.length === 0) return { success: true, value: parsed.data, faults: [] }
  return { success: false, faults: [...faults, ...unnamed] }
}

const maxList = 10_000

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

function faultsOf(issue: z.core.$ZodIssue, base: string): Fault[] {
  const path = issue.path.map(String)
  const last = issue.path.at(-1)
  const name = typeof last === "number" ? `item ${last} of ${path.at(-2) ?? "data"}` : (path.at(-1) ?? "data")
  return [{ detail: describe(name, issue), pointer: [base, ...path].join("/") }]
}

function describe(name: string, issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? `${name} can't be blank` : `${name} must be ${article(issue.expected)}`
    case "invalid_value":
      return `${name} must be one of ${issue.values.map((value) => JSON.stringify(value)).join(", ")}`
    case "too_small":
      return isNumeric(issue.origin)
        ? `${name} is too small (minimum is ${issue.minimum})`
        : `${name} is too short (minimum is ${issue.minimum})`
    case "too_big":
      if (isNumeric(issue.origin)) return `${name} is too large (maximum is ${issue.maximum})`
      return `${name} is too long (maximum is ${issue.maximum})`
    case "custom":
      return issue.params === wholeSentence ? issue.message : `${name} ${issue.message}`
    default:
      return `${name}: ${issue.message}`
  }
}

const isNumeric = (origin: string): boolean => origin === "number" || origin === "int"

const articles: Record<string, string> = {
  string: "a string",
  boolean: "a boolean",
  number: "a number",
  int: "an integer",
  array: "an array",
  object: "an object",
}
const article = (expected: string): string => articles[expected] ?? expected

/** Returns a phrase for the type that an answer should have at the path of an issue. */
export const expectedType = (issue: z.core.$ZodIssue): string => {
  if (issue.code === "invalid_value") return `one of ${issue.values.join(", ")}`
  return issue.code === "invalid_type" ? article(issue.expected) : issue.message
}

export interface RequestDocument {
  readonly data: {
    readonly type: string
    readonly attributes: Readonly<Record<string, unknown>>
    readonly relationships?: Readonly<Record<string, unknown>>
  }
}

/** Encodes a document, the inverse of `decodeDocument`. Relationships that are undefined are omitted. */
export function encodeDocument(
  type: string,
  attributes: Readonly<Record<string, unknown>>,
  relationships: Readonly<Record<string, unknown>> = {},
): RequestDocument {
  const defined = Object.entries(relationships).filter(([, value]) => value !== undefined)
  return {
    data: { type, attributes, ...(defined.length === 0 ? {} : { relationships: Object.fromEntries(defined) }) },
  }
}

/** Encodes a list of resource identifiers. */
export const encodeIdentifiers = (type: string, ids: readonly string[]) => toMany(type, ids)
