// Request documents → typed input, with every fault of the document at once, and the pieces that answers are made of.
import { z } from "zod"
import { badRequest, type Fault, invalid } from "../../../core/errors.ts"
import { encode } from "../../codec.ts"
import { unstorableFaults } from "./storable-text.ts"

/** Text that a rule of the domain judges while the document is read, so that its faults come with those of wrong types. */
export const ruled = (rule: (text: string) => readonly Fault[]) => z.string().check(judging(rule))

/** The same for a number. */
export const ruledNumber = (rule: (number: number) => readonly Fault[]) => z.number().check(judging(rule))

function judging<T>(rule: (value: T) => readonly Fault[]): z.core.CheckFn<T> {
  return (context) => {
    for (const { detail } of rule(context.value))
      context.issues.push({ code: "custom", message: detail, input: context.value, params: wholeSentence })
  }
}

/** Marks a message that names its subject itself. */
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
/** A to-one relationship; null where there is none. */
export const toOne = (type: string, id: string | null) => ({ data: id === null ? null : identifier(type, id) })
export const toMany = (type: string, ids: readonly string[]) => ({ data: ids.map((id) => identifier(type, id)) })

/**
 * Reads `{ data: { type, attributes, relationships } }`. Unknown members are ignored, as clients expect.
 * `schema` describes `data`; its faults carry pointers. An empty or missing `type` is accepted where `types` says so,
 * because public clients send one (docs/compatibility.md, "Locking").
 */
export function decodeDocument<T>(body: unknown, schema: z.ZodType<T>, options: DocumentTypes): T {
  const { data, faults } = readData(body, options)
  const parsed = parse(schema, data, "/data")
  if (faults.length > 0 || !parsed.success) throw invalid([...faults, ...parsed.faults])
  return parsed.value
}

/**
 * The same for a document whose every member is optional: an attribute or relationship that `schema` refuses is left out and
 * its faults are handed back, so that rules can add theirs before the document is refused.
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
  const refused = new Set(issues.map(({ path }) => path.slice(0, 2).join("/")))
  const kept = Object.entries(data).flatMap(([group, members]): [string, unknown][] => {
    if (refused.has(group)) return []
    if (!isObject(members)) return [[group, members]]
    return [[group, Object.fromEntries(Object.entries(members).filter(([name]) => !refused.has(`${group}/${name}`)))]]
  })
  const salvaged = schema.safeParse(Object.fromEntries(kept), { reportInput: true })
  if (!salvaged.success) throw invalid(faults)
  return { value: salvaged.data, faults }
}

interface DocumentTypes {
  readonly types: readonly string[]
  readonly typeOptional?: boolean
}

function readData(body: unknown, { types, typeOptional }: DocumentTypes) {
  if (!isObject(body) || !isObject(body["data"]))
    throw badRequest("The document has no data object.", [{ detail: "data must be an object", pointer: "/data" }])
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

/** Reads `{ data: [ … ] }`; every element's faults at once. */
export function decodeList<T>(
  body: unknown,
  schema: z.ZodType<T>,
  options: { readonly types: readonly string[]; readonly maximum?: number },
): T[] {
  const data = isObject(body) ? body["data"] : undefined
  if (!Array.isArray(data))
    throw badRequest("The document has no data list.", [{ detail: "data must be a list", pointer: "/data" }])
  const maximum = options.maximum ?? listMaximum
  if (data.length > maximum) throw invalid([{ detail: `data has more than ${maximum} elements`, pointer: "/data" }])
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

/** Reads any body with a schema of its own; faults point from the root. */
export function decodeBody<T>(body: unknown, schema: z.ZodType<T>): T {
  const parsed = parse(schema, body, "")
  if (!parsed.success) throw invalid(parsed.faults)
  return parsed.value
}

/** What is refused anyway is not searched for ever. */
const refusedValuesMaximum = 10_000

type Parsed<T> =
  | { readonly success: true; readonly value: T; readonly faults: readonly [] }
  | { readonly success: false; readonly faults: readonly Fault[] }

function parse<T>(schema: z.ZodType<T>, value: unknown, base: string): Parsed<T> {
  const parsed = schema.safeParse(value, { reportInput: true })
  const faults = parsed.success ? [] : parsed.error.issues.flatMap((issue) => faultsOf(issue, base))
  // Of a document that is well formed only what is kept: members nobody knows are ignored, whatever they hold.
  const unstorable = parsed.success
    ? unstorableFaults(encode(schema, parsed.data), base)
    : unstorableFaults(value, base, refusedValuesMaximum)
  const unnamed = unstorable.filter(({ pointer }) => faults.every((fault) => fault.pointer !== pointer))
  if (parsed.success && unnamed.length === 0) return { success: true, value: parsed.data, faults: [] }
  return { success: false, faults: [...faults, ...unnamed] }
}

const listMaximum = 10_000

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
      return issue.params === wholeSentence ? issue.message : `${name}: ${issue.message}`
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
  array: "a list",
  object: "an object",
}
const article = (expected: string): string => articles[expected] ?? expected

/** Returns the type that an answer should have at the place of an issue. */
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

/** The other direction of `decodeDocument`; relationships that are undefined are left out. */
export function encodeDocument(
  type: string,
  attributes: Readonly<Record<string, unknown>>,
  relationships: Readonly<Record<string, unknown>> = {},
): RequestDocument {
  const given = Object.entries(relationships).filter(([, value]) => value !== undefined)
  return {
    data: { type, attributes, ...(given.length === 0 ? {} : { relationships: Object.fromEntries(given) }) },
  }
}

/** The other direction of `decodeList` for resources that are only named. */
export const encodeIdentifiers = (type: string, ids: readonly string[]) => toMany(type, ids)
