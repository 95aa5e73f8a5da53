// The types of a spec's members, before any rule looks at them. Of our own making: whatever declares loads this in a process that
// somebody waits for, and a library for it would be most of what that process loads.
import type { Fault } from "../core/errors.ts"
import type { Values } from "./declared-resource.ts"

type Field = readonly (string | number)[]

/** What is wrong with the value of that field. */
type Judge = (value: unknown, field: Field) => readonly Fault[]

/** Values of one type; `told` is never there, and says which. */
export interface Shape<T> {
  readonly told?: T
  readonly judge: Judge
  /** It may be left out. */
  optional(): Shape<T | undefined>
  nullable(): Shape<T | null>
}

/** The type of what passes. */
export type Of<S> = S extends Shape<infer T> ? T : never

/** What has a length. */
export interface Extent<T> extends Shape<T> {
  /** Not empty. */
  filled(): Extent<T>
  /** In characters. */
  max(length: number): Extent<T>
}

const shapeBy = <T>(judge: Judge): Shape<T> => ({
  judge,
  optional: () => shapeBy((value, field) => (value === undefined ? [] : judge(value, field))),
  nullable: () => shapeBy((value, field) => (value === null ? [] : judge(value, field))),
})

function extentBy<T extends { readonly length: number }>(judge: Judge): Extent<T> {
  const also = (holds: (value: T) => boolean, must: string): Extent<T> =>
    extentBy((value, field) => {
      const faults = judge(value, field)
      return faults.length > 0 || holds(value as T) ? faults : [refused(field, must)]
    })
  return {
    ...shapeBy<T>(judge),
    filled: () => also(({ length }) => length > 0, "not be empty"),
    max: (most) => also(({ length }) => length <= most, `have at most ${most} characters`),
  }
}

type Shapes = Readonly<Record<string, Shape<unknown>>>

/** Those that may be left out are members that may be missing. */
type Members<S extends Shapes> = {
  [Name in keyof S as undefined extends Of<S[Name]> ? never : Name]: Of<S[Name]>
} & { [Name in keyof S as undefined extends Of<S[Name]> ? Name : never]?: Of<S[Name]> }

export interface MembersShape<S extends Shapes> extends Shape<{ [Name in keyof Members<S>]: Members<S>[Name] }> {
  readonly members: S
}

export type SpecShape = Shape<unknown> & { readonly members: Shapes }

const simple =
  (holds: (value: unknown) => boolean, must: string): Judge =>
  (value, field) =>
    holds(value) ? [] : [refusal(value, field, must)]

export const text = (): Extent<string> => extentBy(simple((value) => typeof value === "string", "be text"))

export const flag = (): Shape<boolean> => shapeBy(simple((value) => typeof value === "boolean", "be true or false"))

export const number = (): Shape<number> => shapeBy(simple(Number.isFinite, "be a number"))

export const integer = (): Shape<number> => shapeBy(simple(Number.isSafeInteger, "be a whole number"))

export const oneOf = <const T extends string>(choices: readonly T[]): Shape<T> =>
  shapeBy(simple((value) => (choices as readonly unknown[]).includes(value), `be ${inWords(choices)}`))

export const list = <T>(item: Shape<T>): Extent<T[]> =>
  extentBy((value, field) =>
    Array.isArray(value)
      ? value.flatMap((one, index) => item.judge(one, [...field, index]))
      : [refusal(value, field, "be a list")],
  )

/** Texts by names that anybody gives. */
export const texts = (): Shape<Record<string, string>> =>
  shapeBy((value, field) =>
    isObject(value)
      ? Object.entries(value).flatMap(([name, one]) => text().judge(one, [...field, name]))
      : [refusal(value, field, "be an object of texts")],
  )

/** These members and no others. */
export const members = <const S extends Shapes>(shapes: S): MembersShape<S> => ({
  members: shapes,
  ...shapeBy((value, field) =>
    isObject(value)
      ? [
          ...Object.entries(shapes).flatMap(([name, one]) => one.judge(ownOf(value, name), [...field, name])),
          ...Object.keys(value)
            .filter((name) => !Object.hasOwn(shapes, name))
            .map((name) => ({ field: [...field, name], detail: unknownMember(name, Object.keys(shapes)) })),
        ]
      : [refusal(value, field, "be an object")],
  ),
})

export const textOr = <T>(other: Shape<T>): Shape<string | T> =>
  shapeBy((value, field) => {
    if (typeof value === "string") return []
    return isObject(value) ? other.judge(value, field) : [refusal(value, field, "be text or an object")]
  })

/** Faults of the members' types. Members in `open` are not known yet, so that they are not missed. */
export const faultsOf = (shape: SpecShape, spec: Values, open: ReadonlySet<string>): readonly Fault[] =>
  shape.judge(spec, []).filter(({ field }) => !open.has(String(field?.[0])))

const isObject = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const ownOf = (values: Values, name: string): unknown => (Object.hasOwn(values, name) ? values[name] : undefined)

const refusal = (value: unknown, field: Field, must: string): Fault =>
  value === undefined ? { field, detail: `${field.join(".")} is required` } : refused(field, must)

const refused = (field: Field, must: string): Fault => ({ field, detail: `${field.join(".")} must ${must}` })

/** `"a", "b" or "c"`. */
function inWords(choices: readonly string[]): string {
  const quoted = choices.map((choice) => `"${choice}"`)
  return [quoted.slice(0, -1).join(", "), quoted.at(-1)].filter(Boolean).join(" or ")
}

function unknownMember(key: string, known: readonly string[]): string {
  const meant = known.find((name) => name.toLowerCase() === key.toLowerCase().replaceAll(/[-_]/g, ""))
  return meant === undefined
    ? `${key} is not known; known are ${known.join(", ")}`
    : `${key} is not known; say ${meant}`
}
