// Flat tags and key-value bindings of one resource form one list with one entry per key, compared case-insensitively. An entry with a value
// is a binding. An entry without one is a flat tag, a binding that was made through a binding endpoint, or both.
// Each view lists its own entries, as HCP Terraform does (https://github.com/hashicorp/terraform-provider-tfe/pull/1767). Every change
// below is planned on the whole list, as a function from the present list to the wanted one.
import type { Fault, FieldPath } from "../../core/errors.ts"
import type { ProjectId, TagId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import { foldTag, isFlatTagName, isReserved } from "./tag.ts"

export interface Binding {
  readonly key: string
  readonly value: string
}

/** Entry with the views that list it. At least one view does; an entry with a value is a binding only. */
export interface TagEntry extends Binding {
  readonly isTag: boolean
  readonly isBinding: boolean
}

/** Stored entry. */
export interface TagBinding extends TagEntry {
  readonly id: string
  /** For a flat tag: its tag in the organization's pool. */
  readonly tagId: TagId | null
  readonly createdAt: Instant
  /** Owners, sorted. Empty if the binding has no owner (`tag-owners.ts`). */
  readonly owners: readonly string[]
}

/** Binding of the workspace or of its project. The workspace's own takes precedence. */
export interface EffectiveTagBinding extends Binding, ShownEntry {
  readonly inheritedFrom: ProjectId | null
  /** Present only if requested. */
  readonly owners?: readonly string[]
}

/** Views that list an entry. Present only if flat tags are listed together with bindings. */
export type ShownEntry = Partial<Pick<TagEntry, "isTag" | "isBinding">>

/** Planned bindings with their faults. Apply them only if there are no faults. */
export interface PlannedBindings {
  readonly bindings: readonly TagEntry[]
  readonly faults: readonly Fault[]
}

/** Difference between two lists. */
export interface BindingChange {
  readonly put: readonly (TagEntry & { readonly owners?: readonly string[]; readonly present?: TagBinding })[]
  readonly remove: readonly TagBinding[]
}

/** Limit of bindings with a value per resource. */
export const maxBindings = 10
export const maxBindingKey = 128
export const maxBindingValue = 256

export const hasValue = (binding: Binding): boolean => binding.value !== ""

/** Returns faults of a list of bindings. `prefix` is the path of the list in the document: `["tagBindings"]`, `["data"]`. */
export function bindingFaults(bindings: readonly Binding[], prefix: FieldPath): Fault[] {
  const seen = new Set<string>()
  const faults = bindings.flatMap((binding, index): Fault[] => {
    const field = (name: string) => [...prefix, index, name]
    const folded = foldTag(binding.key)
    const repeated = seen.has(folded)
    seen.add(folded)
    return [
      ...keyFaults(binding, field("key")),
      ...(repeated ? [{ field: field("key"), detail: `Key "${binding.key}" appears more than once` }] : []),
      ...valueFaults(binding.value, field("value")),
    ]
  })
  return [...faults, ...countFaults(bindings, prefix)]
}

/** Replaces the bindings. Flat tags that are not listed stay. */
export function replaceBindings(
  present: readonly TagEntry[],
  wanted: readonly Binding[],
  prefix: FieldPath,
): PlannedBindings {
  return addAndChange(present.flatMap(withoutBinding), wanted, prefix)
}

/** Returns the entry as a flat tag only, or nothing if it is not a flat tag. */
export const withoutBinding = <E extends TagEntry>(entry: E): readonly E[] =>
  entry.isTag ? [{ ...entry, isBinding: false }] : []

/**
 * Adds and changes bindings. A value for a flat tag's key turns it into a binding. Without a value, the key is both a flat tag and a
 * binding.
 */
export function addAndChange(
  present: readonly TagEntry[],
  given: readonly Binding[],
  prefix: FieldPath,
): PlannedBindings {
  const bindings = new Map(present.map((binding) => [foldTag(binding.key), binding]))
  for (const { key, value } of given) {
    const isTag = value === "" && bindings.get(foldTag(key))?.isTag === true
    bindings.set(foldTag(key), { key, value, isTag, isBinding: true })
  }
  const faults = bindingFaults(given, prefix)
  const ownCount = faults.some(({ detail }) => detail === tooMany)
  const all = [...bindings.values()]
  return { bindings: all, faults: [...faults, ...(ownCount ? [] : countFaults(all, prefix))] }
}

/** Adds flat tags. Rejects a name whose key has a value, because the flat tag would hide the value. */
export function addFlat(present: readonly TagEntry[], names: readonly string[], prefix: FieldPath): PlannedBindings {
  const bindings = new Map(present.map((binding) => [foldTag(binding.key), binding]))
  const faults = flatTagFaults(names, bindings, prefix)
  for (const name of names) {
    const folded = foldTag(name)
    const found = bindings.get(folded)
    if (found === undefined) bindings.set(folded, { key: name, value: "", isTag: true, isBinding: false })
    else if (!hasValue(found)) bindings.set(folded, { ...found, isTag: true })
  }
  return { bindings: [...bindings.values()], faults }
}

/** Removes flat tags by key, case-insensitively. Bindings stay. */
export function removeFlat<E extends TagEntry>(present: readonly E[], names: readonly string[]): E[] {
  const removed = new Set(names.map(foldTag))
  return present.flatMap((entry) => (entry.isTag && removed.has(foldTag(entry.key)) ? withoutTag(entry) : [entry]))
}

/** Returns the entry as a binding only, or nothing if it is not a binding. */
export const withoutTag = <E extends TagEntry>(entry: E): readonly E[] =>
  entry.isBinding ? [{ ...entry, isTag: false }] : []

/** Returns the change from `before` to `after`. Owners that `after` omits are kept. */
export function changesBetween(
  before: readonly TagBinding[],
  after: readonly (TagEntry & { readonly owners?: readonly string[] })[],
): BindingChange {
  const present = new Map(before.map((binding) => [foldTag(binding.key), binding]))
  const wanted = new Set(after.map(({ key }) => foldTag(key)))
  return {
    put: after.flatMap((binding) => {
      const { key, owners } = binding
      const found = present.get(foldTag(key))
      if (found === undefined) return [binding]
      const hasSameOwners = owners === undefined || sameOwners(owners, found.owners)
      return isSameEntry(found, binding) && hasSameOwners ? [] : [{ ...binding, present: found }]
    }),
    remove: before.filter(({ key }) => !wanted.has(foldTag(key))),
  }
}

export const isSameEntry = (one: TagEntry, other: TagEntry): boolean =>
  one.key === other.key && one.value === other.value && one.isTag === other.isTag && one.isBinding === other.isBinding

const sameOwners = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((owner, index) => owner === others[index])

/** Returns the workspace's own bindings, and those of the project whose key the workspace does not bind itself. */
export function effectiveBindings<E extends TagEntry>(
  entries: readonly E[],
  project: { readonly id: ProjectId; readonly bindings: readonly E[] },
): (E & EffectiveTagBinding)[] {
  const own = entries.filter(({ isBinding }) => isBinding)
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
    if (found === undefined || !hasValue(found)) return []
    return [
      {
        field: [...prefix, index, "name"],
        detail: `Tag "${name}" cannot be added: the key "${found.key}" is bound with a value`,
      },
    ]
  })
}

const tooMany = `Tag bindings cannot exceed ${maxBindings} bindings per resource`
const text = /^[a-zA-Z0-9_.=+@:-]*$/
const characters = "letters, numbers, and _ . = + - @ :"

const countFaults = (bindings: readonly Binding[], prefix: FieldPath): Fault[] =>
  bindings.filter(hasValue).length > maxBindings ? [{ field: prefix, detail: tooMany }] : []

function keyFaults(binding: Binding, field: FieldPath): Fault[] {
  const { key } = binding
  if (key === "") return [{ field, detail: "Key can't be blank" }]
  // Terraform also writes each flat tag as a binding. Its key can then be as long as a flat tag's name.
  if (!hasValue(binding) && isFlatTagName(key)) return []
  const faults: Fault[] = []
  if (key.length > maxBindingKey)
    faults.push({ field, detail: `Key is too long (maximum is ${maxBindingKey} characters)` })
  if (isReserved(key)) faults.push({ field, detail: `Key "${key}" begins with a reserved prefix (hc: or hcp:)` })
  if (!text.test(key)) faults.push({ field, detail: `Key can only include ${characters}` })
  return faults
}

function valueFaults(value: string, field: FieldPath): Fault[] {
  const faults: Fault[] = []
  if (value.length > maxBindingValue)
    faults.push({ field, detail: `Value is too long (maximum is ${maxBindingValue} characters)` })
  if (!text.test(value)) faults.push({ field, detail: `Value can only include ${characters}` })
  return faults
}
