// JSON:API document as one definition. It provides the encoder and decoder of answers, the parsers of requests with the pointers of their
// faults, the client's requests, and the reference.
import { z } from "zod"
import { readAnswer, readResource } from "./json-api/answer.ts"
import {
  decodeBody,
  decodeDocument,
  decodeList,
  encodeDocument,
  encodeIdentifiers,
  type Resource,
  salvageDocument,
  toMany as linkageOfMany,
  toOne as linkageOfOne,
} from "./json-api/document.ts"
import { attributePointers, listPointers, type Pointers, renamedPointers } from "./json-api/errors.ts"
import { camelCased, dashed } from "./json-api/member-name.ts"
import { decodeIdentifiers, relatedId, toManySchema, toOneSchema } from "./json-api/relationship.ts"
import { definedMembers, type Documentation, encode, orDefault } from "../codec.ts"

/** Attribute or relationship. */
export interface Member extends Documentation {
  readonly schema: z.ZodType
  /** Schema in requests; absent if they cannot set the member. */
  readonly input?: z.ZodType
  /** Requests that create the resource must set the member. If it has a default, `input` fills it in. */
  readonly required?: boolean
  /** Set only at creation: requests that change the resource ignore it. */
  readonly immutable?: true
  /** Name on the wire, if it is not the dashed domain name. */
  readonly wireName?: string
  /** Omitted from answers whose view does not have it. */
  readonly optional?: boolean
  /** Never returned. */
  readonly writeOnly?: boolean
  /** Computes the value in answers. The client does not decode it. */
  readonly compute?: (view: never) => unknown
  /** Writable member that this one sets, unless the request has both. */
  readonly alias?: string
  /** Returns the URL of the related resources, which answers contain next to their ids. */
  readonly related?: (view: never) => string | null
}
type Members = Readonly<Record<string, Member>>
type Named = Documentation & Pick<Member, "wireName" | "related">

/** Member that requests set. */
export interface Writable<T, Input, Required extends boolean> extends Member {
  readonly schema: z.ZodType<T>
  readonly input: z.ZodType<Input>
  readonly required: Required
}
/** Returns a writable member. `input` is the schema of requests, if it differs from that of answers. */
export function writable<T, Input, const Required extends boolean = false>(
  schema: z.ZodType<T>,
  options: Named & { readonly input: z.ZodType<Input>; readonly required?: Required },
): Writable<T, Input, Required>
export function writable<T, const Required extends boolean = false>(
  schema: z.ZodType<T>,
  options: Named & { readonly required?: Required },
): Writable<T, T, Required>
export function writable(schema: z.ZodType, options: Named): Member {
  return { input: schema, schema, ...options }
}

/** Returns a member that is writable at creation. Null or absent becomes `value`. */
export function withDefault<T, const D, Input>(
  schema: z.ZodType<T>,
  value: D,
  options: Named & { readonly input: z.ZodType<Input> },
): Writable<T, Input | D, true>
export function withDefault<T, const D>(schema: z.ZodType<T>, value: D, options: Named): Writable<T, T | D, true>
export function withDefault(
  schema: z.ZodType,
  value: unknown,
  options: Named & { readonly input?: z.ZodType },
): Member {
  return { required: true, default: value, ...options, schema, input: orDefault(options.input ?? schema, value) }
}

/** Returns a member that is writable only at creation. */
export const immutable = <T, Input>(
  schema: z.ZodType<T>,
  documentation: Named & { readonly input: z.ZodType<Input> },
) => ({ schema, required: true as const, immutable: true as const, ...documentation })

export const readOnly = <T>(schema: z.ZodType<T>, documentation: Named) => ({ schema, ...documentation })
export const optional = <T>(schema: z.ZodType<T>, documentation: Named) => ({
  schema,
  optional: true as const,
  ...documentation,
})
/** Returns a member that requests set and no answer has. */
export const secret = <T>(schema: z.ZodType<T>, documentation: Named) => ({
  schema,
  input: schema,
  writeOnly: true as const,
  ...documentation,
})
export const computed = <View>(schema: z.ZodType, compute: (view: View) => unknown, documentation: Named) => ({
  schema,
  compute,
  ...documentation,
})
/** Returns a member with one value in all answers, for clients that read it. */
export const constant = (value: string | boolean | number | null, documentation: Named) =>
  computed(z.literal(value), () => value, documentation)
/** Returns a second name of a writable member. Answers have it as well, unless it is `writeOnly`. */
export const alias = (
  of: string,
  schema: z.ZodType,
  documentation: Named & { readonly input: z.ZodType; readonly writeOnly?: true },
) => ({
  schema,
  alias: of,
  compute: (view: Readonly<Record<string, unknown>>) => view[of],
  ...documentation,
})

const identifier = (type: string) => z.object({ type: z.literal(type), id: z.string() })

/** Codecs for ids of related resources in answers. */
export const one = <Id extends string>(type: string) =>
  z.codec(z.object({ data: identifier(type) }), z.custom<Id>(), {
    decode: ({ data }) => data.id as Id,
    encode: (id) => linkageOfOne(type, id) as { data: { type: string; id: string } },
  })
export const oneOrNull = <Id extends string>(type: string) =>
  z.codec(z.object({ data: identifier(type).nullable() }), z.custom<Id | null>(), {
    decode: ({ data }) => (data?.id ?? null) as Id | null,
    encode: (id) => linkageOfOne(type, id),
  })
export const many = <Id extends string>(type: string) =>
  z.codec(z.object({ data: z.array(identifier(type)) }), z.custom<readonly Id[]>(), {
    decode: ({ data }) => data.map(({ id }) => id as Id),
    encode: (ids) => linkageOfMany(type, ids),
  })
/** Codecs for ids of related resources in requests. Clients send any type, and an empty id for none. */
export const oneInput = <Id extends string>(type: string) =>
  z.codec(toOneSchema, z.custom<Id | null>(), {
    decode: (linkage) => relatedId(linkage) as Id | null,
    encode: (id) => linkageOfOne(type, id),
  })
/** Returns a codec for a relationship that requests must set. */
export const requiredOneInput = <Id extends string>(type: string) =>
  z.codec(z.object({ data: z.object({ id: z.string() }) }), z.custom<Id>(), {
    decode: ({ data }) => data.id as Id,
    encode: (id) => linkageOfOne(type, id) as { data: { type: string; id: string } },
  })
export const manyInput = <Id extends string>(type: string) =>
  z.codec(toManySchema(z.object({ id: z.string() })), z.custom<readonly Id[]>(), {
    decode: ({ data }) => data.map(({ id }) => id as Id),
    encode: (ids) => linkageOfMany(type, ids),
  })
export const link = (path: (id: string) => string, documentation: Named) =>
  computed(
    z.object({ links: z.object({ related: z.string() }) }),
    ({ id }: { readonly id: string }) => ({ links: { related: path(id) } }),
    documentation,
  )

type AnsweredOf<M extends Members> = {
  readonly [
    Name in keyof M as M[Name] extends { compute: unknown } | { optional: true } | { writeOnly: true } ? never : Name
  ]: z.output<M[Name]["schema"]>
} & { readonly [Name in keyof M as M[Name] extends { optional: true } ? Name : never]?: z.output<M[Name]["schema"]> }
type SetOf<M extends Members, Which> = {
  readonly [
    Name in keyof M as M[Name] extends { alias: string } ? never : M[Name] extends Which ? Name : never
  ]: Exclude<z.output<Extract<M[Name]["input"], z.ZodType>>, undefined>
}
type MutableOf<M extends Members> = {
  readonly [Name in keyof M as M[Name] extends { immutable: true } ? never : Name]: M[Name]
}
type PatchOf<M extends Members> = Partial<SetOf<MutableOf<M>, { input: z.ZodType }>>
type InputOf<M extends Members> = PatchOf<M> & SetOf<M, { required: true }>

/** Body of a request. The client encodes `Given`; handlers receive `T`. */
export interface Body<T, Given = T> {
  readonly decode: (body: unknown) => T
  readonly encode: (value: Given) => unknown
  readonly pointers: Pointers
  /** Wire names of members that do not follow from the domain name. */
  readonly names: Readonly<Record<string, string>>
  readonly optional?: true
  /** The body may be one element instead of a list. */
  readonly orOne?: true
  /** Content of the body: identifiers of one type, resources of one type with members of their own, a document, or any schema. */
  readonly describes:
    | { readonly identifiers: string }
    | { readonly elements: string; readonly schema: z.ZodType }
    | { readonly document: Definition; readonly creates: boolean }
    | { readonly schema: z.ZodType }
}

export interface Definition {
  readonly type: string
  readonly attributes: Members
  readonly relationships: Members
}

interface Parts<Id extends string, A extends Members, R extends Members> {
  /** Used for its type only. */
  readonly id: z.ZodType<Id>
  readonly self?: (id: string, view: Readonly<Record<string, unknown>>) => string
  /** Requests may send null instead of attributes, or instead of optional relationships. */
  readonly nullableAttributes?: true
  /** Accepted types of requests, if they differ from the type of answers; `optional` if some clients send none. */
  readonly sentTypes?: { readonly names?: readonly string[]; readonly optional?: true }
  /** Drops invalid members of a request and returns them as `faults`, so that domain rules can report further faults. */
  readonly salvaged?: true
  readonly attributes: A
  readonly relationships: R
}

export function document<Id extends string, A extends Members, R extends Members>(
  type: string,
  { id: _, self, nullableAttributes, sentTypes = {}, salvaged, attributes, relationships }: Parts<Id, A, R>,
) {
  type View = { readonly id: Id } & AnsweredOf<A> & AnsweredOf<R>
  type Patch = PatchOf<A> & PatchOf<R>
  type Input = InputOf<A> & InputOf<R>
  const definition: Definition = { type, attributes, relationships }
  const answered = z.object({
    attributes: z.object(shapeOf(attributes, answerOf)).prefault({}),
    relationships: z.object(shapeOf(relationships, answerOf)).prefault({}),
  })
  const encodeAttributes = encoderOf(attributes)
  const encodeRelationships = encoderOf(relationships)
  const hasRelationships = Object.keys(relationships).length > 0
  const names = namesOf({ ...attributes, ...relationships })
  const types = { types: sentTypes.names ?? [type], typeOptional: sentTypes.optional === true }
  const linked = Object.entries(relationships).flatMap(([name, { input }]) =>
    input === undefined ? [] : [names[name] ?? name],
  )

  const body = <T extends Patch>(creates: boolean): Body<T> => {
    const inputOf = ({ input, required, immutable: isFixed }: Member) =>
      creates && required === true ? input : !creates && isFixed === true ? undefined : input?.optional()
    const own = z.object(shapeOf(attributes, inputOf))
    const related = z.object(shapeOf(relationships, inputOf))
    const requiresOne =
      creates && Object.values(relationships).some((one) => one.required === true && !("default" in one))
    const orNothing = (group: z.ZodObject) =>
      nullableAttributes === true ? nullAsNoMembers(group) : group.prefault({})
    const schema = z.object({
      attributes: orNothing(own),
      ...(Object.keys(related.shape).length > 0 && { relationships: requiresOne ? related : orNothing(related) }),
    }) as z.ZodType<Groups>
    return {
      decode(sent) {
        if (salvaged !== true) return domainOf(decodeDocument(sent, schema, types), definition) as T
        const { value, faults } = salvageDocument(sent, schema, types)
        return { ...domainOf(value, definition), ...(faults.length > 0 && { faults }) } as object as T
      },
      encode: (value) => encodeDocument(type, inputsOf(attributes, value), inputsOf(relationships, value)),
      pointers: renamedPointers(attributePointers(linked), names),
      names,
      describes: { document: definition, creates },
    }
  }

  return {
    ...definition,
    encode: (view: View): Resource => ({
      id: view.id,
      type,
      attributes: encodeAttributes(view),
      ...(hasRelationships && { relationships: encodeRelationships(view) }),
      ...(self === undefined ? {} : { links: { self: self(view.id, view) } }),
    }),
    decode(resource: unknown): View {
      const { id } = readResource(resource, type)
      return { id, ...domainOf(readAnswer(answered, resource, type), definition) } as View
    },
    input: body<Input>(true),
    patch: body<Patch>(false),
  }
}

export const wireNameOf = (name: string, { wireName }: Pick<Member, "wireName">): string => wireName ?? dashed(name)

/** Returns camelCased wire names of members that requests set, for the pointers of faults. */
const namesOf = (members: Members): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, { input, wireName, alias: of }]) =>
      input === undefined || wireName === undefined || of !== undefined ? [] : [[name, camelCased(wireName)]],
    ),
  )

const nullAsNoMembers = <T extends z.ZodObject>(schema: T) =>
  z.codec(z.unknown().optional(), schema, {
    decode: (value: unknown) => value ?? {},
    encode: (value: unknown) => value,
  } as never)

const answerOf = ({ schema, compute, writeOnly, optional: isOptional }: Member) =>
  compute !== undefined || writeOnly === true ? undefined : isOptional === true ? schema.optional() : schema

/** Returns schemas by wire name, of members that have one. */
const shapeOf = (members: Members, schemaOf: (member: Member) => z.ZodType | undefined) =>
  definedMembers(Object.entries(members).map(([name, one]) => [wireNameOf(name, one), schemaOf(one)])) as Record<
    string,
    z.ZodType
  >

interface Groups {
  readonly attributes: Readonly<Record<string, unknown>>
  readonly relationships?: Readonly<Record<string, unknown>> | undefined
}

function domainOf(groups: Groups, { attributes, relationships }: Definition) {
  const values: Record<string, unknown> = {}
  const sent = [
    ...Object.entries(attributes).map(([name, one]) => ({ name, one, from: groups.attributes })),
    ...Object.entries(relationships).map(([name, one]) => ({ name, one, from: groups.relationships ?? {} })),
  ]
  for (const { name, one, from } of sent) if (one.alias === undefined) values[name] = from[wireNameOf(name, one)]
  for (const { name, one, from } of sent)
    if (one.alias !== undefined && values[one.alias] === undefined) values[one.alias] = from[wireNameOf(name, one)]
  return definedMembers(Object.entries(values))
}

/** Encodes the attributes or the relationships of a view. */
function encoderOf(members: Members): (view: object) => Record<string, unknown> {
  const answered = Object.entries(members).filter(([, { writeOnly }]) => writeOnly !== true)
  const named = answered.map(([name, one]) => ({ name, one, wireName: wireNameOf(name, one) }))
  return (view) => {
    const group: Record<string, unknown> = {}
    for (const { name, one, wireName } of named) {
      const value = encode(one.schema, one.compute === undefined ? valueIn(view, name) : one.compute(view as never))
      if (value === undefined) continue
      group[wireName] = one.related === undefined ? value : { ...value, links: { related: one.related(view as never) } }
    }
    return group
  }
}

const inputsOf = (members: Members, value: object) =>
  definedMembers(
    Object.entries(members)
      .filter(([, one]) => one.alias === undefined)
      .map(([name, one]) => [wireNameOf(name, one), one.input && encode(one.input, valueIn(value, name))]),
  )

const valueIn = (values: object, name: string): unknown => (values as Readonly<Record<string, unknown>>)[name]

/** Returns a body that is not a JSON:API document, with its own schema. */
export const plainBody = <T>(schema: z.ZodType<T>, pointers: Pointers): Body<T> => ({
  decode: (body) => decodeBody(body, schema),
  encode: (value) => encode(schema, value),
  pointers,
  names: {},
  describes: { schema },
})

type Included = ReadonlyMap<string, unknown>
interface Coded<View> {
  readonly encode: (view: View) => Resource
  readonly decode: (resource: unknown) => View
}

/** Returns a document whose view has another structure. */
export const mapped = <Flat, View, C extends Definition>(
  codec: C & Coded<Flat>,
  { from, to }: { readonly from: (view: View) => Flat; readonly to: (flat: Flat, included: Included) => View },
) => ({
  ...(codec as Omit<C, "encode" | "decode">),
  encode: (view: View) => codec.encode(from(view)),
  decode: (resource: unknown, included: Included = new Map()) => to(codec.decode(resource), included),
})

/** Returns a body whose value has another structure. */
export const mappedBody = <Flat, T>(
  body: Body<Flat>,
  { from, to }: { readonly from: (value: T) => Flat; readonly to: (flat: Flat) => T },
): Body<T> => ({ ...body, decode: (sent) => to(body.decode(sent)), encode: (value) => body.encode(from(value)) })

/** Returns a body whose `data` lists resources of a type; `schema` describes one resource apart from its `type`. */
export const elements = <T>(type: string, schema: z.ZodType<T>): Body<readonly T[]> => ({
  decode: (body) => decodeList(body, schema, { types: [type] }),
  encode: (values) => ({ data: values.map((value) => ({ type, ...(encode(schema, value) as object) })) }),
  pointers: listPointers,
  names: {},
  describes: { elements: type, schema },
})

/** Returns a body with a list of resource identifiers. */
export const identifiers = (type: string): Body<readonly string[]> => ({
  decode: (body) => decodeIdentifiers(body, type),
  encode: (ids) => encodeIdentifiers(type, ids),
  pointers: listPointers,
  names: {},
  describes: { identifiers: type },
})
