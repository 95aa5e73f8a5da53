// Answers → values. The server is ours, but what stands between may not be, so every member is looked at before it counts.
import { type EngineError, unavailable } from "../../core/errors.ts"
import type { Page } from "../../core/page.ts"
import { type Instant, parseInstant } from "../../core/time.ts"
import { dashed } from "./member-name.ts"

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const unreadable = (what: string): EngineError => unavailable(`The server's answer cannot be read: ${what}.`)

/** Reads members by their names in the domain: `createdAt` stands as `created-at`. */
export class MembersReader {
  readonly #members: Members
  readonly #where: string

  constructor(members: unknown, where: string) {
    if (!isObject(members)) throw unreadable(`${where} is not an object`)
    this.#members = members
    this.#where = where
  }

  has(name: string): boolean {
    return this.#members[dashed(name)] !== undefined
  }

  isNull(name: string): boolean {
    return this.#members[dashed(name)] === null
  }

  text(name: string): string {
    return this.#read(name, isText, "a string")
  }

  flag(name: string): boolean {
    return this.#read(name, isFlag, "a boolean")
  }

  number(name: string): number {
    return this.#read(name, isNumber, "a number")
  }

  instant(name: string): Instant {
    const instant = parseInstant(this.text(name))
    if (instant === undefined) throw this.#misread(name, "a timestamp")
    return instant
  }

  texts(name: string): string[] {
    return this.#read(name, isTexts, "a list of strings")
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T {
    return this.#read(name, (value): value is T => values.includes(value as T), `one of ${values.join(", ")}`)
  }

  /** Every name with its boolean. */
  flags<Name extends string>(names: readonly Name[]): { readonly [name in Name]: boolean } {
    return Object.fromEntries(names.map((name) => [name, this.flag(name)])) as { [name in Name]: boolean }
  }

  members(name: string): MembersReader {
    return new MembersReader(this.#members[dashed(name)], `${this.#where}.${dashed(name)}`)
  }

  list(name: string): unknown[] {
    return this.#read(name, Array.isArray, "a list")
  }

  /** Whatever stands there. */
  value(name: string): unknown {
    return this.#members[dashed(name)]
  }

  textOrNull(name: string): string | null {
    return this.isNull(name) ? null : this.text(name)
  }

  numberOrNull(name: string): number | null {
    return this.isNull(name) ? null : this.number(name)
  }

  instantOrNull(name: string): Instant | null {
    return this.isNull(name) ? null : this.instant(name)
  }

  membersOrNull(name: string): MembersReader | null {
    return this.isNull(name) ? null : this.members(name)
  }

  #read<T>(name: string, is: (value: unknown) => value is T, expected: string): T {
    const value = this.#members[dashed(name)]
    if (!is(value)) throw this.#misread(name, expected)
    return value
  }

  #misread(name: string, expected: string): EngineError {
    return unreadable(`${this.#where}.${dashed(name)} is not ${expected}`)
  }
}

const isText = (value: unknown): value is string => typeof value === "string"
const isFlag = (value: unknown): value is boolean => typeof value === "boolean"
const isNumber = (value: unknown): value is number => typeof value === "number"
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText)

export interface ResourceReader {
  readonly id: string
  readonly type: string
  readonly attributes: MembersReader
  /** The id of a to-one relationship. */
  one(relationship: string): string
  oneOrNull(relationship: string): string | null
  /** With its type, where that varies. */
  identifierOrNull(relationship: string): { readonly type: string; readonly id: string } | null
  /** The ids of a to-many relationship. */
  many(relationship: string): string[]
  hasRelationship(relationship: string): boolean
  readonly links: MembersReader
}

/** A resource of one of these types; its members are read on demand. */
export function readResource(resource: unknown, ...types: readonly string[]): ResourceReader {
  if (!isObject(resource)) throw unreadable("a resource is not an object")
  const { id, type, attributes = {}, relationships = {}, links = {} } = resource
  if (!isText(type) || !types.includes(type)) throw unreadable(`its type is not ${types.join(" or ")}`)
  const dataOf = (relationship: string): unknown => {
    const member = isObject(relationships) ? relationships[dashed(relationship)] : undefined
    return isObject(member) ? member["data"] : undefined
  }
  const identifierOf = (relationship: string, data: unknown): { type: string; id: string } => {
    if (!isObject(data) || !isText(data["id"]) || !isText(data["type"]))
      throw unreadable(`${type}.${dashed(relationship)} is not a resource identifier`)
    return { type: data["type"], id: data["id"] }
  }
  const identifierOrNull = (relationship: string) => {
    const data = dataOf(relationship)
    return data === null ? null : identifierOf(relationship, data)
  }
  return {
    get id() {
      if (!isText(id)) throw unreadable(`${type} has no id`)
      return id
    },
    type,
    attributes: new MembersReader(attributes, type),
    links: new MembersReader(links, `${type}.links`),
    one: (relationship) => identifierOf(relationship, dataOf(relationship)).id,
    oneOrNull: (relationship) => identifierOrNull(relationship)?.id ?? null,
    identifierOrNull,
    many: (relationship) => {
      const data = dataOf(relationship)
      if (!Array.isArray(data)) throw unreadable(`${type}.${dashed(relationship)} is not a list`)
      return data.map((item: unknown) => identifierOf(relationship, item).id)
    },
    hasRelationship: (relationship) => dataOf(relationship) !== undefined,
  }
}

/** Makes a value of a resource; `included` holds what stands beside the data, by type and id: `users/user-1`. */
export type Decode<T> = (resource: unknown, included: ReadonlyMap<string, unknown>) => T

/** `{ data: { … } }` */
export function decodeOne<T>(document: unknown, decode: Decode<T>): T {
  if (!isObject(document)) throw unreadable("it is no JSON:API document")
  return decode(document["data"], includedIn(document))
}

/** `{ data: [ … ] }` without pages. */
export function decodeAll<T>(document: unknown, decode: Decode<T>): T[] {
  const data = isObject(document) ? document["data"] : undefined
  if (!isObject(document) || !Array.isArray(data)) throw unreadable("its data is not a list")
  const included = includedIn(document)
  return data.map((resource: unknown) => decode(resource, included))
}

/** Decodes a page and its `meta.pagination`. */
export function decodePageOf<T>(document: unknown, decode: Decode<T>): Page<T> {
  const items = decodeAll(document, decode)
  const pagination = new MembersReader((document as Members)["meta"], "meta").members("pagination")
  return {
    items,
    number: pagination.number("currentPage"),
    size: pagination.number("pageSize"),
    totalCount: pagination.number("totalCount"),
  }
}

function includedIn({ included }: Members): ReadonlyMap<string, unknown> {
  const resources = Array.isArray(included) ? included.filter(isObject) : []
  return new Map(resources.map((resource) => [`${String(resource["type"])}/${String(resource["id"])}`, resource]))
}
