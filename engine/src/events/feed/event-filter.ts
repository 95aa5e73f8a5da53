// Which events a follower wants. Within one member any value counts, and every member that is given must fit.
import { type EventKind, eventKinds, type EventTag } from "./event.ts"

export interface EventFilter {
  /** Kinds, or all of what something happens to: `workspace.*`. */
  readonly kinds?: readonly string[]
  /** Ids or names. */
  readonly workspaces?: readonly string[]
  /** Flat tags, or keys of bindings with a value; in any case. */
  readonly tags?: readonly string[]
}

export interface Filterable {
  readonly kind: EventKind
  readonly workspace: { readonly id: string; readonly name: string } | null
  readonly tags: readonly EventTag[]
  readonly formerTags: readonly EventTag[]
}

const everyKindOf = (kind: string): string => `${kind.slice(0, kind.indexOf("."))}.*`
const known = new Set<string>([...eventKinds, ...eventKinds.map(everyKindOf)])
/** Also of `workspace.*` and the like. */
export const isKnownKind = (kind: string): boolean => known.has(kind)

const folded = (text: string): string => text.toLowerCase()

/** Under these a follower is found by the events it may want: one member of its filter, the one that lets through the fewest. */
export function wantedKeys({ kinds = [], workspaces = [], tags = [] }: EventFilter): readonly string[] {
  if (workspaces.length > 0) return workspaces.map((workspace) => `workspace ${workspace}`)
  if (tags.length > 0) return tags.map((tag) => `tag ${folded(tag)}`)
  return kinds.length > 0 ? kinds.map((kind) => `kind ${kind}`) : ["all"]
}

/** Under these an event finds those who may want it. */
export function keysOf({ kind, workspace, tags, formerTags }: Filterable): ReadonlySet<string> {
  const keys = new Set(["all", `kind ${kind}`, `kind ${everyKindOf(kind)}`])
  if (workspace !== null) keys.add(`workspace ${workspace.id}`).add(`workspace ${workspace.name}`)
  for (const { key } of tags) keys.add(`tag ${folded(key)}`)
  for (const { key } of formerTags) keys.add(`tag ${folded(key)}`)
  return keys
}

/** `keys` are those of the event. */
export function fits({ kinds = [], workspaces = [], tags = [] }: EventFilter, keys: ReadonlySet<string>): boolean {
  const any = (values: readonly string[], keyOf: (value: string) => string) =>
    values.length === 0 || values.some((value) => keys.has(keyOf(value)))
  return (
    any(kinds, (kind) => `kind ${kind}`) &&
    any(workspaces, (workspace) => `workspace ${workspace}`) &&
    any(tags, (tag) => `tag ${folded(tag)}`)
  )
}
