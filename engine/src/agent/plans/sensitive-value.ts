// Values of a plan beside their sensitive marks and their types. Marks have the structure of their value, with `true` in the place of a
// sensitive part (https://developer.hashicorp.com/terraform/internals/json-format#change-representation).

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [member: string]: Json
}

/** Type of a value. Null if the type is not known before the value. */
export type Shape =
  | { readonly kind: "primitive" }
  | { readonly kind: "list" | "map"; readonly element: Shape | null }
  | { readonly kind: "object"; readonly attributes: Members; readonly blocks: Members }
type Members = ReadonlyMap<string, { readonly shape: Shape | null; readonly isSensitive: boolean }>

/** Place of a value: its type, and whether it or its parts are sensitive. */
export interface Place {
  readonly shape: Shape | null
  readonly marks: Json
  /** The schema marks the attribute. */
  readonly isSensitive: boolean
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const isArray = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)

const isHidden = ({ marks, isSensitive }: Place): boolean => isSensitive || marks === true

/** Returns the place of an element or a member. */
function placeIn({ shape, marks }: Place, step: number | string): Place {
  const mark = markIn(marks, step)
  if (shape === null || shape.kind === "primitive") return { shape: null, marks: mark, isSensitive: false }
  if (shape.kind !== "object") return { shape: shape.element, marks: mark, isSensitive: false }
  const member = shape.attributes.get(String(step)) ?? shape.blocks.get(String(step))
  return { shape: member?.shape ?? null, marks: mark, isSensitive: member?.isSensitive ?? false }
}

function markIn(marks: Json, step: number | string): Json {
  if (isArray(marks) && typeof step === "number") return marks[step] ?? false
  return isObject(marks) && Object.hasOwn(marks, step) ? (marks[step] ?? false) : false
}

const mapMembers = (value: JsonObject, names: Iterable<string>, map: (name: string) => Json): JsonObject =>
  Object.fromEntries([...names].map((name) => [name, map(name)]))

/** Replaces the sensitive parts of a value. Equal parts get equal texts, so that readers see which of them change. */
export function redactValue(value: Json, place: Place, textFor: (secret: Json) => string): Json {
  if (value === null) return null
  if (isHidden(place)) return substitute(value, place.shape, textFor(value))
  if (isArray(value)) return value.map((element, index) => redactValue(element, placeIn(place, index), textFor))
  if (!isObject(value)) return value
  return mapMembers(value, Object.keys(value), (name) =>
    redactValue(value[name] ?? null, placeIn(place, name), textFor),
  )
}

/**
 * Returns a value of the same type that contains only `text`. Terraform compares values by their type: it takes a string in the place of a
 * list for an empty list, and would not show that the list changes.
 */
function substitute(value: Json, shape: Shape | null, text: string): Json {
  if (shape === null) {
    if (isArray(value)) return [text]
    return isObject(value) ? Object.fromEntries([[text, text]]) : text
  }
  switch (shape.kind) {
    case "primitive":
      return text
    case "list":
      return [substitute(text, shape.element, text)]
    case "map":
      return Object.fromEntries([[text, substitute(text, shape.element, text)]])
    case "object":
      // Attributes suffice to show a change. Schemas with many levels of blocks would make the substitute large.
      return Object.fromEntries(
        Array.from(shape.attributes, ([name, member]) => [name, substitute(text, member.shape, text)]),
      )
    default:
      return shape satisfies never
  }
}

/** Adds the marks of the schema to those of the plan. */
export function completeMarks(value: Json, marks: Json, place: Place): Json {
  if (marks === true || (place.isSensitive && value !== null)) return true
  if (isArray(value))
    return value.map((element, index) => completeMarks(element, markIn(marks, index), placeIn(place, index)))
  if (!isObject(value)) return marks
  const names = new Set([...Object.keys(value), ...(isObject(marks) ? Object.keys(marks) : [])])
  return withoutFalse(
    mapMembers(value, names, (name) =>
      completeMarks(
        Object.hasOwn(value, name) ? (value[name] ?? null) : null,
        markIn(marks, name),
        placeIn(place, name),
      ),
    ),
  )
}

/** Returns the unknown parts. Those within a sensitive value would disclose its keys. */
export function redactUnknown(unknown: Json, place: Place): Json {
  if (unknown === true) return true
  if (isHidden(place)) return false
  if (isArray(unknown)) return unknown.map((element, index) => redactUnknown(element, placeIn(place, index)))
  if (!isObject(unknown)) return unknown
  return withoutFalse(
    mapMembers(unknown, Object.keys(unknown), (name) => redactUnknown(unknown[name] ?? false, placeIn(place, name))),
  )
}

/** Returns the path up to the first sensitive value. Its keys are sensitive as well. */
export function redactPath(path: readonly Json[], place: Place): readonly Json[] {
  const visible: Json[] = []
  let at = place
  for (const step of path) {
    if (isHidden(at) || (typeof step !== "string" && typeof step !== "number")) break
    visible.push(step)
    at = placeIn(at, step)
  }
  return visible
}

const withoutFalse = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, mark]) => mark !== false))

/** Returns the marks of both sides of a change. */
export function uniteMarks(one: Json, other: Json): Json {
  if (one === true || other === true) return true
  if (isArray(one) && isArray(other))
    return Array.from({ length: Math.max(one.length, other.length) }, (_, index) =>
      uniteMarks(one[index] ?? false, other[index] ?? false),
    )
  if (isObject(one) && isObject(other)) {
    const names = new Set([...Object.keys(one), ...Object.keys(other)])
    return mapMembers(one, names, (name) => uniteMarks(markIn(one, name), markIn(other, name)))
  }
  if (!isObject(one) && !isArray(one)) return other
  if (!isObject(other) && !isArray(other)) return one
  // A value of no fixed type changes from a list to an object, or back.
  return hasMark(one) || hasMark(other)
}

const hasMark = (marks: Json): boolean =>
  marks === true || (typeof marks === "object" && marks !== null && Object.values(marks).some(hasMark))
