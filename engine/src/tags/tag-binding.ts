// Key-value tags and flat tags of one resource are one list (architecture 0.16): a flat tag is a binding with an empty value,
// and is seen in both views. Every change below is planned on the whole list, as a function from what is there to what shall be.
import type { Fault, FieldPath } from "../core/errors.ts"
import type { ProjectId, TagId } from "../core/ids.ts"
import type { Instant } from "../core/time.ts"
import { foldTag, isFlatTagName, isReserved } from "./tag.ts"

export interface Binding {
  readonly key: string
  /** Empty for a flat tag. */
  readonly value: string
}

/** A binding as it is kept. */
export interface TagBinding extends Binding {
  readonly id: string
  /** Of a flat tag on a workspace: its word in the organization's pool. */
  readonly tagId: TagId | null
  readonly createdAt: Instant
  /** Who holds it, in order; nobody in particular when there are none (`owners.ts`). */
  readonly owners: readonly string[]
}

/** A binding of the workspace or of its project; the workspace's own wins. */
export interface EffectiveTagBinding extends Binding {
  readonly inheritedFrom: ProjectId | null
  /** Where they were asked for. */
  readonly owners?: readonly string[]
}

/** What shall be, and everything that is wrong with it; it counts only when nothing is. */
export interface PlannedBindings {
  readonly bindings: readonly Binding[]
  readonly faults: readonly Fault[]
}

/** What turns one list into another. */
export interface BindingChange {
  readonly put: readonly (Binding & { readonly owners?: readonly string[]; readonly present?: TagBinding })[]
  readonly remove: readonly TagBinding[]
}

/** Of those with a value, on one resource. */
export const bindingsMaximum = 10
export const bindingKeyMaximum = 128
export const bindingValueMaximum = 256

export const isFlat = (binding: Binding): boolean => binding.value === ""

/** What is wrong with a list of bindings by itself. `prefix` names it in the document: `["tagBindings"]`, `["data"]`. */
export function bindingFaults(bindings: readonly Binding[], prefix: FieldPath): Fault[] {
  const seen = new Set<string>()
  const faults = bindings.flatMap((binding, index): Fault[] => {
    const field = (name: string) => [...prefix, index, name]
    const folded = foldTag(binding.key)
    const repeated = seen.has(folded)
    seen.add(folded)
    return [
      ...keyFaults(binding, field("key")),
      ...(repeated ? [{ field: field("key"), detail: `Key "${binding.key}" is given more than once` }] : []),
      ...valueFaults(binding.value, field("value")),
    ]
  })
  return [...faults, ...countFaults(bindings, prefix)]
}

/** Exactly these with a value; flat tags that are not named stay. */
export function replaceValued(
  present: readonly Binding[],
  wanted: readonly Binding[],
  prefix: FieldPath,
): PlannedBindings {
  return addAndChange(present.filter(isFlat), wanted, prefix)
}

/** A value given to a flat tag's key makes it a valued binding, an empty value makes it flat. */
export function addAndChange(
  present: readonly Binding[],
  given: readonly Binding[],
  prefix: FieldPath,
): PlannedBindings {
  const bindings = new Map(present.map((binding) => [foldTag(binding.key), binding]))
  for (const { key, value } of given) bindings.set(foldTag(key), { key, value })
  const faults = bindingFaults(given, prefix)
  const ownCount = faults.some(({ detail }) => detail === tooMany)
  const all = [...bindings.values()]
  return { bindings: all, faults: [...faults, ...(ownCount ? [] : countFaults(all, prefix))] }
}

/** A name whose key carries a value is refused: the flat tag would hide that value. */
export function addFlat(present: readonly Binding[], names: readonly string[], prefix: FieldPath): PlannedBindings {
  const bindings = new Map(present.map((binding) => [foldTag(binding.key), binding]))
  const faults = flatTagFaults(names, bindings, prefix)
  for (const name of names) {
    const folded = foldTag(name)
    if (!bindings.has(folded)) bindings.set(folded, { key: name, value: "" })
  }
  return { bindings: [...bindings.values()], faults }
}

/** By key, any case; a key with a value is no flat tag and stays. */
export function removeFlat<B extends Binding>(present: readonly B[], names: readonly string[]): B[] {
  const gone = new Set(names.map(foldTag))
  return present.filter((binding) => !isFlat(binding) || !gone.has(foldTag(binding.key)))
}

/** Owners that `after` does not name are as before. */
export function changesBetween(
  before: readonly TagBinding[],
  after: readonly (Binding & { readonly owners?: readonly string[] })[],
): BindingChange {
  const present = new Map(before.map((binding) => [foldTag(binding.key), binding]))
  const wanted = new Set(after.map(({ key }) => foldTag(key)))
  return {
    put: after.flatMap((binding) => {
      const { key, value, owners } = binding
      const found = present.get(foldTag(key))
      if (found === undefined) return [binding]
      const isHeldTheSame = owners === undefined || sameOwners(owners, found.owners)
      return found.key === key && found.value === value && isHeldTheSame ? [] : [{ ...binding, present: found }]
    }),
    remove: before.filter(({ key }) => !wanted.has(foldTag(key))),
  }
}

const sameOwners = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((owner, index) => owner === others[index])

/** Direct bindings, and those of the project whose key the workspace does not bind itself. */
export function effectiveBindings<B extends Binding>(
  own: readonly B[],
  project: { readonly id: ProjectId; readonly bindings: readonly B[] },
): (B & EffectiveTagBinding)[] {
  const keys = new Set(own.map(({ key }) => foldTag(key)))
  return [
    ...own.map((binding) => ({ ...binding, inheritedFrom: null })),
    ...project.bindings
      .filter(({ key }) => !keys.has(foldTag(key)))
      .map((binding) => ({ ...binding, inheritedFrom: project.id })),
  ]
}

function flatTagFaults(names: readonly string[], bindings: ReadonlyMap<string, Binding>, prefix: FieldPath): Fault[] {
  return names.flatMap((name, index) => {
    const found = bindings.get(foldTag(name))
    if (found === undefined || isFlat(found)) return []
    return [
      {
        field: [...prefix, index, "name"],
        detail: `Tag "${name}" cannot be added: the key "${found.key}" is bound with a value`,
      },
    ]
  })
}

const tooMany = `Tag bindings cannot exceed ${bindingsMaximum} bindings per resource`
const text = /^[a-zA-Z0-9_.=+@:-]*$/
const characters = "letters, numbers, and _ . = + - @ :"

const countFaults = (bindings: readonly Binding[], prefix: FieldPath): Fault[] =>
  bindings.filter((binding) => !isFlat(binding)).length > bindingsMaximum ? [{ field: prefix, detail: tooMany }] : []

function keyFaults(binding: Binding, field: FieldPath): Fault[] {
  const { key } = binding
  if (key === "") return [{ field, detail: "Key can't be blank" }]
  // A flat tag is read as a binding and may be written back as one, with the longer name that flat tags may have.
  if (isFlat(binding) && isFlatTagName(key)) return []
  const faults: Fault[] = []
  if (key.length > bindingKeyMaximum)
    faults.push({ field, detail: `Key is too long (maximum is ${bindingKeyMaximum} characters)` })
  if (isReserved(key)) faults.push({ field, detail: `Key "${key}" begins with a reserved prefix (hc: or hcp:)` })
  if (!text.test(key)) faults.push({ field, detail: `Key can only include ${characters}` })
  return faults
}

function valueFaults(value: string, field: FieldPath): Fault[] {
  const faults: Fault[] = []
  if (value.length > bindingValueMaximum)
    faults.push({ field, detail: `Value is too long (maximum is ${bindingValueMaximum} characters)` })
  if (!text.test(value)) faults.push({ field, detail: `Value can only include ${characters}` })
  return faults
}
