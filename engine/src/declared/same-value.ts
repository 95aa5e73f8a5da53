// Equality of values that have several notations. Members without such a rule are compared as JSON.
import { parseDuration, parseInstant } from "../core/time.ts"
import { foldTag } from "../workspaces/tags/tag.ts"
import type { Values } from "./values.ts"

export type SameValue = (a: unknown, b: unknown) => boolean

export const sameJson: SameValue = (a, b) =>
  isAlike(a, b) || JSON.stringify(sorted(a ?? null)) === JSON.stringify(sorted(b ?? null))

/** `336h` equals `14d`. */
export const sameDuration: SameValue = (a, b) => sameJson(a, b) || same(durationOf(a), durationOf(b))

export const sameInstant: SameValue = (a, b) => sameJson(a, b) || same(instantOf(a), instantOf(b))

/** Null and the empty string both mean none. */
export const sameText: SameValue = (a, b) => (a ?? "") === (b ?? "")

/** Compares sets, in any order. */
export const sameSet: SameValue = (a, b) => sameJson(asSet(a, String), asSet(b, String))

/** Compares flat tags, in any order and letter case. */
export const sameTags: SameValue = (a, b) => sameJson(asSet(a, foldTag), asSet(b, foldTag))

const same = (a: number | undefined, b: number | undefined): boolean => a !== undefined && a === b

const durationOf = (value: unknown) => (typeof value === "string" ? parseDuration(value) : undefined)

const instantOf = (value: unknown) => (typeof value === "string" ? parseInstant(value) : undefined)

const asSet = (value: unknown, key: (item: string) => string): string[] =>
  Array.isArray(value) ? [...new Set(value.map((item) => key(String(item))))].toSorted() : []

/** Compares without sorting or serializing, for the usual case of equal values. */
function isAlike(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return false
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && isAlike(a[name], b[name]))
  )
}

const isObject = (value: unknown): value is Values => typeof value === "object" && value !== null

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  )
}

/** Returns names of members whose values differ from those of `observed`. */
export const differing = <Spec extends object>(
  spec: Spec,
  observed: object,
  rules: Readonly<Partial<Record<keyof Spec, SameValue>>>,
): (keyof Spec & string)[] =>
  (Object.keys(spec) as (keyof Spec & string)[]).filter((name) => {
    const observedValue = (observed as Record<string, unknown>)[name]
    return spec[name] !== undefined && !(rules[name] ?? sameJson)(spec[name], observedValue)
  })
