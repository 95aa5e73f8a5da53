// Members of a declared resource whose API resource has a contract. Rule, default and example of a member are those of its parameter.
import type { Parameter } from "../contracts/vault/record.ts"
import * as parameterTypes from "../contracts/vault/types.ts"
import type { Values } from "./declared-resource.ts"
import { member, type Members } from "./members.ts"
import { withDeclaredNames } from "./pki-values.ts"
import { duration, flag, instant, integer, type MemberType, orNull, text, texts } from "./types.ts"

export type NameOf<Field, Renamed> = Field extends keyof Renamed ? Renamed[Field] : Field

/** Declared type of a field. Durations and instants are strings. */
export type DeclaredOf<Field, Value> = Field extends `${string}Ms`
  ? string
  : [null] extends [Value]
    ? string | null
    : [Value] extends [readonly (infer Item)[]]
      ? (Item extends { readonly oid: string } ? string | Item : Item)[]
      : [Extract<Value, number>] extends [never]
        ? Value
        : [Value] extends [number]
          ? number
          : string

/** Types of contracts that need no further bounds in a declaration. */
const memberTypes = new Map<unknown, MemberType<unknown>>([
  [parameterTypes.flag, flag],
  [parameterTypes.text, text],
  [parameterTypes.texts, texts()],
  [parameterTypes.integer, integer],
  [parameterTypes.duration, duration],
  [parameterTypes.instant, orNull(instant)],
])

interface Mapping {
  readonly renamed: Readonly<Record<string, string>>
  /** Types by parameter name. Other parameters have the type of the contract. */
  readonly types: Readonly<Record<string, MemberType<unknown>>>
  readonly defaults: object
}

const mapped = (convert: ((value: unknown) => unknown) | undefined, value: unknown): unknown =>
  value === null || convert === undefined ? value : convert(value)

export function contractMembers(parameters: object, { renamed, types, defaults }: Mapping) {
  const fields = Object.entries(parameters) as [string, Parameter<unknown>][]
  const nameOf = (field: string): string => renamed[field] ?? field
  const names = new Map(fields.map(([field]) => [field, nameOf(field)]))
  const fieldsByName = new Map(fields.map(([field]) => [nameOf(field), field]))
  const memberNames = new Map(fields.map(([field, { wireName }]) => [wireName ?? underscored(field), nameOf(field)]))
  /** Replaces names of API parameters in a rule by declared names. */
  const toDeclaredNames = (rule: string): string =>
    withDeclaredNames(rule.replaceAll(/[a-z]+(?:_[a-z]+)+/g, (word) => memberNames.get(word) ?? word))
  const read = (type: MemberType<unknown>, value: unknown): unknown =>
    Array.isArray(value) ? [...(value as unknown[])] : mapped(type.fromEngine, value)
  const members: Members = Object.fromEntries(
    fields.map(([field, { type, rule, example }]) => {
      const memberType = types[field] ?? memberTypes.get(type)
      if (memberType === undefined) throw new TypeError(`parameter ${field} needs a declared type`)
      const facts = { default: read(memberType, (defaults as Values)[field]), example }
      return [nameOf(field), member(memberType, toDeclaredNames(rule), facts)]
    }),
  )
  return {
    members,
    /** Returns the declared name of a field of the engine. */
    nameOf: (field: string): string | undefined => names.get(field),
    /** Returns the declared members as fields of the engine, without members that are undefined. */
    toEngine: (spec: object): Values =>
      Object.fromEntries(
        Object.entries(spec)
          .filter(([name, value]) => value !== undefined && fieldsByName.has(name))
          .map(([name, value]) => [fieldsByName.get(name), mapped(members[name]?.toEngine, value)]),
      ),
    fromEngine: (resource: object): Values =>
      Object.fromEntries(
        fields.map(([field]) => {
          const name = nameOf(field)
          return [name, read(members[name] as MemberType<unknown>, (resource as Values)[field])]
        }),
      ),
  }
}

const underscored = (field: string): string =>
  field.replace(/Ms$/, "").replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
