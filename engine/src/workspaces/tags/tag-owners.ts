// Ownership of tags: several tools tag one resource without changing each other's tags (docs/tag-owners.md). A binding has a set of owners,
// which can be empty. A writer without an owner ignores owners. A writer with an owner:
//
//                                 no owner        owner alone  owner and others  others only
//   add, bind, replace; same      owned           unchanged    unchanged         owner added
//   bind, replace; another value  owned, changed  changed      refused           refused
//   remove                        removed         removed      owner removed     unchanged
//   replace without the key       unchanged       removed      owner removed     unchanged
//
// A binding is the key with its spelling and its value. A flat tag and a binding without a value of one key share their owners. Adding a
// flat tag ignores the spelling of the key.
import { conflict, type Fault, type FieldPath, rejectFaults } from "../../core/errors.ts"
import { foldTag } from "./tag.ts"
import {
  addAndChange,
  addFlat,
  type Binding,
  hasValue,
  type PlannedBindings,
  removeFlat,
  replaceBindings,
  type TagEntry,
  withoutBinding,
  withoutTag,
} from "./tag-binding.ts"

/** Binding with its owners, sorted. */
export type OwnedBinding = TagEntry & { readonly owners: readonly string[] }

export interface OwnershipPlan extends PlannedBindings {
  readonly bindings: readonly OwnedBinding[]
  /** Changes that other owners' bindings prevent. Like faults, all are reported at once. */
  readonly conflicts: readonly Fault[]
}

/** Limit of owners per binding. */
export const maxOwners = 32

type Owner = string | undefined

/** Throws if a plan has faults or conflicts, faults first. */
export function rejectPlan({ faults, conflicts }: Pick<OwnershipPlan, "faults" | "conflicts">): void {
  rejectFaults(faults)
  if (conflicts.length > 0) throw conflict(conflicts.map(({ detail }) => detail).join("; "), { faults: conflicts })
}

/** Adds and changes bindings. */
export function bindAs(
  owner: Owner,
  present: readonly OwnedBinding[],
  given: readonly Binding[],
  prefix: FieldPath,
): OwnershipPlan {
  const { bindings, faults } = addAndChange(present, given, prefix)
  if (owner === undefined) return withSameOwners(present, { bindings, faults })
  const before = byKey(present)
  const indexes = new Map(given.map(({ key }, index) => [foldTag(key), index]))
  const conflicts: Fault[] = []
  const after = bindings.map((entry): OwnedBinding => {
    const { key, value } = entry
    const found = before.get(foldTag(key))
    const index = indexes.get(foldTag(key))
    const owners = found?.owners ?? []
    if (index === undefined) return { ...entry, owners }
    const others = owners.filter((one) => one !== owner)
    const same = found === undefined || (found.key === key && found.value === value)
    const refusal = same || others.length === 0 ? roomFor(owner, found) : clash(owner, others, found, { key, value })
    if (refusal !== undefined) conflicts.push({ detail: refusal, field: [...prefix, index, "value"] })
    return { ...entry, owners: joined(owner, owners) }
  })
  return { bindings: after, faults, conflicts }
}

/** Replaces all bindings, or with an owner only those of this owner. */
export function replaceAs(
  owner: Owner,
  present: readonly OwnedBinding[],
  wanted: readonly Binding[],
  prefix: FieldPath,
): OwnershipPlan {
  if (owner === undefined) return withSameOwners(present, replaceBindings(present, wanted, prefix))
  return bindAs(owner, withoutMine(owner, present, wanted), wanted, prefix)
}

/** Replaces the bindings of a project, as `replaceAs` does for a workspace. A project has no flat tags. */
export function replaceAllAs(
  owner: Owner,
  present: readonly OwnedBinding[],
  wanted: readonly Binding[],
  prefix: FieldPath,
): OwnershipPlan {
  const before = owner === undefined ? [] : withoutMine(owner, present, wanted)
  const plan = bindAs(owner, before, wanted, prefix)
  return owner === undefined ? withSameOwners(present, plan) : plan
}

export function addFlatAs(
  owner: Owner,
  present: readonly OwnedBinding[],
  names: readonly string[],
  prefix: FieldPath,
): OwnershipPlan {
  const planned = withSameOwners(present, addFlat(present, names, prefix))
  if (owner === undefined) return planned
  const indexes = new Map(names.map((name, index) => [foldTag(name), index]))
  const conflicts: Fault[] = []
  const bindings = planned.bindings.map((binding) => {
    const index = indexes.get(foldTag(binding.key))
    if (index === undefined || hasValue(binding)) return binding
    const refusal = roomFor(owner, binding)
    if (refusal !== undefined) conflicts.push({ detail: refusal, field: [...prefix, index, "name"] })
    return { ...binding, owners: joined(owner, binding.owners) }
  })
  return { bindings, faults: planned.faults, conflicts }
}

export function removeFlatAs(owner: Owner, present: readonly OwnedBinding[], names: readonly string[]): OwnershipPlan {
  const nothing = { faults: [], conflicts: [] }
  if (owner === undefined) return { bindings: removeFlat(present, names), ...nothing }
  const meant = new Set(names.map(foldTag))
  const bindings = present.flatMap((binding) => {
    if (!binding.isTag || !meant.has(foldTag(binding.key))) return [binding]
    const owners = binding.owners.filter((one) => one !== owner)
    // Other owners may hold the entry as a tag. An entry that remains as a binding keeps its owner.
    return owners.length === 0 ? withoutTag(binding) : [{ ...binding, owners }]
  })
  return { bindings, ...nothing }
}

/** Removes the owner from bindings that it no longer lists. Flat tags are kept. */
const withoutMine = (
  owner: string,
  present: readonly OwnedBinding[],
  wanted: readonly Binding[],
): readonly OwnedBinding[] => {
  const named = new Set(wanted.map(({ key }) => foldTag(key)))
  return present.flatMap((binding) => {
    if (!binding.isBinding || named.has(foldTag(binding.key)) || !binding.owners.includes(owner)) return [binding]
    const owners = binding.owners.filter((one) => one !== owner)
    return owners.length === 0 ? withoutBinding(binding) : [{ ...binding, owners }]
  })
}

const byKey = (bindings: readonly OwnedBinding[]): ReadonlyMap<string, OwnedBinding> =>
  new Map(bindings.map((binding) => [foldTag(binding.key), binding]))

/** Keeps the owners of every binding. */
function withSameOwners(present: readonly OwnedBinding[], { bindings, faults }: PlannedBindings): OwnershipPlan {
  const before = byKey(present)
  return {
    bindings: bindings.map((entry) => ({ ...entry, owners: before.get(foldTag(entry.key))?.owners ?? [] })),
    faults,
    conflicts: [],
  }
}

const joined = (owner: string, owners: readonly string[]): readonly string[] =>
  owners.includes(owner) ? owners : [...owners, owner].toSorted()

const written = ({ key, value }: Binding): string => (value === "" ? key : `${key}=${value}`)

const roomFor = (owner: string, found: OwnedBinding | undefined): string | undefined =>
  found === undefined || found.owners.includes(owner) || found.owners.length < maxOwners
    ? undefined
    : `Tag ${written(found)} has ${maxOwners} owners, which is the maximum`

const clash = (owner: string, others: readonly string[], found: Binding, wanted: Binding): string =>
  `Tag ${written(found)} is owned by ${others.join(", ")}; ${owner} cannot change it to ${written(wanted)}`
