// A JSON:API document as one definition: from it come the encoder and the decoder of answers, the parsers of requests with the
// pointers of their faults, the client's requests, and the reference.
import { z } from "zod"
import { readResource, type ResourceReader, unreadable } from "../../wire/jsonapi/answer.ts"
import {
  decodeDocument,
  encodeDocument,
  encodeIdentifiers,
  expectedType,
  type Resource,
  toMany as encodeMany,
  toOne as encodeOne,
} from "../../wire/jsonapi/document.ts"
import { attributePointers, listPointers, type Pointers, renamedPointers } from "../../wire/jsonapi/errors.ts"
import { camelCased, dashed } from "../../wire/jsonapi/member-name.ts"
import { decodeIdentifiers, relatedId, toManySchema, toOneSchema } from "../../wire/jsonapi/relationship.ts"
import { definedMembers, encode, type Words } from "../codec.ts"

export interface Attribute extends Words {
  readonly schema: z.ZodType
  /** Of requests; absent if they cannot set it. */
  readonly input?: z.ZodType
  /** At creation. */
  readonly required?: boolean
  /** Name on the wire, if it is not the domain's with dashes. */
  readonly wireName?: string
  /** Computed for answers, and not read back. */
  readonly from?: (view: never) => unknown
  /** Attribute that requests mean by this one, unless they have both. */
  readonly alias?: string
}
export interface WritableAttribute<T, Input, Required extends boolean> extends Attribute {
  readonly schema: z.ZodType<T>
  readonly input: z.ZodType<Input>
  readonly required: Required
}

interface WritableWords<Required extends boolean> extends Words {
  readonly wireName?: string
  readonly required?: Required
}

/** Set by requests. `input` is their schema if it is not the one of answers. */
export function writable<T, Input, const Required extends boolean = false>(
  schema: z.ZodType<T>,
  options: WritableWords<Required> & { readonly input: z.ZodType<Input> },
): WritableAttribute<T, Input, Required>
export function writable<T, const Required extends boolean = false>(
  schema: z.ZodType<T>,
  options: WritableWords<Required>,
): WritableAttribute<T, T, Required>
export function writable(schema: z.ZodType, options: WritableWords<boolean> & { readonly input?: z.ZodType }) {
  return { input: schema, schema, ...options }
}
export const readOnly = <T>(schema: z.ZodType<T>, words: Words & { wireName?: string }) => ({ schema, ...words })
export const computed = <View>(schema: z.ZodType, from: (view: View) => unknown, words: Words) => ({
  schema,
  from,
  ...words,
})
/** A second name of a writable attribute. */
export const alias = (of: string, schema: z.ZodType, words: Words & { input: z.ZodType }) => ({
  schema,
  alias: of,
  from: (view: Readonly<Record<string, unknown>>) => view[of],
  ...words,
})

export interface Relationship {
  readonly kind: "one" | "one or null" | "many" | "link"
  /** Of the related resources. */
  readonly type?: string
  readonly rule: string
  readonly wireName?: string
  /** Left out of answers that do not have it. */
  readonly optional?: boolean
  readonly writable?: boolean
  readonly path?: (id: string) => string
}
export interface RelationshipTo<T> extends Relationship {
  /** For its type alone. */
  readonly value?: T
}
type RelationshipWords = Pick<Relationship, "rule" | "wireName">

export const toOne = <Id extends string>(type: string, words: RelationshipWords): RelationshipTo<Id> => ({
  kind: "one",
  type,
  ...words,
})
export const toOneOrNull = <Id extends string>(type: string, words: RelationshipWords): RelationshipTo<Id | null> => ({
  kind: "one or null",
  type,
  ...words,
})
export const toMany = <Id extends string>(type: string, words: RelationshipWords): RelationshipTo<readonly Id[]> => ({
  kind: "many",
  type,
  ...words,
})
export const optional = <R extends Relationship>(relationship: R) => ({ ...relationship, optional: true as const })
export const settable = <R extends Relationship>(relationship: R) => ({ ...relationship, writable: true as const })
export const link = (path: (id: string) => string, rule: string) => ({ kind: "link" as const, path, rule })

type Attributes = Readonly<Record<string, Attribute>>
type Relationships = Readonly<Record<string, Relationship>>
type ValueOf<R> = R extends RelationshipTo<infer T> ? Exclude<T, undefined> : never

type AttributesOf<A extends Attributes> = {
  readonly [Name in keyof A as A[Name] extends { from: unknown } ? never : Name]: z.output<A[Name]["schema"]>
}
type LinkageOf<R extends Relationships> = {
  readonly [Name in keyof R as R[Name] extends { kind: "link" } | { optional: true } ? never : Name]: ValueOf<R[Name]>
} & { readonly [Name in keyof R as R[Name] extends { optional: true } ? Name : never]?: ValueOf<R[Name]> }
type GivenOf<A extends Attributes, Name extends keyof A> = Exclude<
  z.output<Extract<A[Name]["input"], z.ZodType>>,
  undefined
>
type RequiredOf<A extends Attributes> = {
  readonly [Name in keyof A as A[Name] extends { required: true } ? Name : never]: GivenOf<A, Name>
}
type OptionalOf<A extends Attributes, R extends Relationships> = {
  readonly [
    Name in keyof A as A[Name] extends { input: z.ZodType }
      ? A[Name] extends { from: unknown } | { required: true }
        ? never
        : Name
      : never
  ]?: GivenOf<A, Name>
} & { readonly [Name in keyof R as R[Name] extends { writable: true } ? Name : never]?: ValueOf<R[Name]> }

/** The body of a request; `Given` by a client is what a handler gets. */
export interface Body<T, Given = T> {
  readonly decode: (body: unknown) => T
  readonly encode: (value: Given) => unknown
  readonly pointers: Pointers
  /** Members whose wire names do not follow from the domain's. */
  readonly names: Readonly<Record<string, string>>
  readonly schema: z.ZodType
}

export interface Definition {
  readonly type: string
  readonly attributes: Attributes
  readonly relationships: Relationships
}

const wireNameOf = (name: string, { wireName }: { readonly wireName?: string }): string => wireName ?? dashed(name)

export function document<Id extends string, A extends Attributes, R extends Relationships>(
  type: string,
  { id: _, self, attributes, relationships }: Parts<Id, A, R>,
) {
  type View = { readonly id: Id } & AttributesOf<A> & LinkageOf<R>
  type Patch = Partial<RequiredOf<A>> & OptionalOf<A, R>
  type Input = RequiredOf<A> & OptionalOf<A, R>
  const names = definedMembers([
    ...Object.entries(attributes).map(([name, { wireName }]) => [name, wireName] as const),
    ...Object.entries(relationships).map(([name, { wireName }]) => [name, wireName] as const),
  ]) as Record<string, string>
  const own = Object.entries(attributes).filter(([, { from }]) => from === undefined)
  const answered = z.object(Object.fromEntries(own.map(([name, one]) => [wireNameOf(name, one), one.schema])))
  const linked = Object.entries(relationships).filter(([, { kind }]) => kind !== "link")
  const requested = {
    create: requestSchema(attributes, relationships, true),
    patch: requestSchema(attributes, relationships, false),
  }

  function encodeView(view: View): Resource {
    const values = view as Readonly<Record<string, unknown>> & View
    return {
      id: view.id,
      type,
      attributes: definedMembers(
        Object.entries(attributes).map(([name, one]) => [
          wireNameOf(name, one),
          encode(one.schema, one.from === undefined ? values[name] : one.from(values as never)),
        ]),
      ),
      relationships: definedMembers(
        Object.entries(relationships).map(([name, one]) => [
          wireNameOf(name, one),
          one.kind === "link" ? { links: { related: one.path?.(view.id) } } : linkage(one, values[name]),
        ]),
      ),
      ...(self === undefined ? {} : { links: { self: self(view.id) } }),
    }
  }

  function decodeView(resource: unknown): View {
    const reader = readResource(resource, type)
    const { id } = reader
    const parsed = answered.safeParse((resource as { attributes?: unknown }).attributes ?? {})
    if (!parsed.success) throw unreadableAnswer(type, parsed.error)
    const values = parsed.data as Readonly<Record<string, unknown>>
    const related = linked
      .filter(([name, one]) => one.optional !== true || reader.hasRelationship(camelCased(wireNameOf(name, one))))
      .map(([name, one]) => [name, readLinkage(one, reader, camelCased(wireNameOf(name, one)))])
    return {
      id,
      ...Object.fromEntries(own.map(([name, one]) => [name, values[wireNameOf(name, one)]])),
      ...Object.fromEntries(related),
    } as View
  }

  const body = <T extends Patch>(schema: z.ZodType<RequestData>): Body<T> => ({
    decode: (sent) => domainOf(decodeDocument(sent, schema, { types: [type] }), attributes, relationships) as T,
    encode: (value) => encodeRequest(type, value, attributes, relationships),
    pointers: renamedPointers(attributePointers(linked.map(([name]) => name)), names),
    names,
    schema,
  })
  return {
    type,
    attributes,
    relationships,
    encode: encodeView,
    decode: decodeView,
    input: body<Input>(requested.create),
    patch: body<Patch>(requested.patch),
  }
}

interface Parts<Id extends string, A extends Attributes, R extends Relationships> {
  /** For its type alone. */
  readonly id: z.ZodType<Id>
  readonly self?: (id: string) => string
  readonly attributes: A
  readonly relationships: R
}

export type Document<View, Input, Patch> = Definition & {
  readonly encode: (view: View) => Resource
  readonly decode: (resource: unknown) => View
  readonly input: Body<Input>
  readonly patch: Body<Patch>
}

interface RequestData {
  readonly attributes: Readonly<Record<string, unknown>>
  readonly relationships?: Readonly<Record<string, unknown>> | undefined
}

function requestSchema(attributes: Attributes, relationships: Relationships, creates: boolean) {
  const members = Object.entries(attributes).flatMap(([name, one]): [string, z.ZodType][] =>
    one.input === undefined
      ? []
      : [[wireNameOf(name, one), creates && one.required === true ? one.input : one.input.optional()]],
  )
  const related = Object.entries(relationships).flatMap(([name, one]): [string, z.ZodType][] =>
    one.writable === true ? [[wireNameOf(name, one), linkageSchema(one).optional()]] : [],
  )
  return z.object({
    attributes: z.object(Object.fromEntries(members)).prefault({}),
    ...(related.length === 0 ? {} : { relationships: z.object(Object.fromEntries(related)).optional() }),
  }) as z.ZodType<RequestData>
}

const linkageSchema = ({ kind }: Relationship): z.ZodType =>
  kind === "many" ? toManySchema(z.object({ id: z.string() })) : toOneSchema

function domainOf(
  { attributes: sent, relationships: related = {} }: RequestData,
  attributes: Attributes,
  relationships: Relationships,
) {
  const given: [string, unknown][] = []
  for (const [name, one] of Object.entries(attributes)) {
    const value = sent[wireNameOf(name, one)]
    // An alias never replaces the attribute, which is declared before it.
    const target = one.alias ?? name
    if (value !== undefined && !given.some(([before]) => before === target)) given.push([target, value])
  }
  for (const [name, one] of Object.entries(relationships))
    given.push([name, relatedIds(one, related[wireNameOf(name, one)])])
  return definedMembers(given)
}

function relatedIds({ kind }: Relationship, linkage: unknown): unknown {
  if (linkage === undefined) return undefined
  if (kind !== "many") return relatedId(linkage as z.infer<typeof toOneSchema>)
  return (linkage as { data: readonly { id: string }[] }).data.map(({ id }) => id)
}

function encodeRequest(type: string, value: object, attributes: Attributes, relationships: Relationships) {
  const values = value as Readonly<Record<string, unknown>>
  const members = Object.entries(attributes).flatMap(([name, one]): [string, unknown][] =>
    one.input === undefined || one.from !== undefined ? [] : [[wireNameOf(name, one), encode(one.input, values[name])]],
  )
  const related = Object.entries(relationships).flatMap(([name, one]): [string, unknown][] =>
    one.writable === true ? [[wireNameOf(name, one), linkage(one, values[name])]] : [],
  )
  return encodeDocument(type, definedMembers(members), definedMembers(related))
}

function linkage({ kind, type = "" }: Relationship, value: unknown) {
  if (value === undefined) return undefined
  return kind === "many" ? encodeMany(type, value as readonly string[]) : encodeOne(type, value as string | null)
}

function readLinkage({ kind }: Relationship, reader: ResourceReader, name: string) {
  if (kind === "many") return reader.many(name)
  return kind === "one" ? reader.one(name) : reader.oneOrNull(name)
}

function unreadableAnswer(type: string, { issues }: z.ZodError) {
  const [issue] = issues
  return unreadable(
    `${[type, ...(issue?.path ?? [])].join(".")} is not ${issue === undefined ? "" : expectedType(issue)}`,
  )
}

/** A list of resources that are only named. */
export const identifiers = (type: string): Body<readonly string[]> => ({
  decode: (body) => decodeIdentifiers(body, type),
  encode: (ids) => encodeIdentifiers(type, ids),
  pointers: listPointers,
  names: {},
  schema: z.object({ data: z.array(z.object({ type: z.literal(type), id: z.string() })) }),
})
