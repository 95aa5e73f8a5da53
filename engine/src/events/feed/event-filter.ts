// Filter of a follower or webhook. An event must match every member that is present, and any value of each.
import { type EventKind, eventKinds, type EventTag } from "./event.ts"

export interface EventFilter {
  /** Kinds, or patterns such as `workspace.*` for all kinds of one subject. */
  readonly kinds?: readonly string[]
  /** Workspace ids or names. */
  readonly workspaces?: readonly string[]
  /** Flat tags, or keys of bindings with a value. Case-insensitive. */
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
/** Returns true for kinds and for patterns such as `workspace.*`. */
export const isKnownKind = (kind: string): boolean => known.has(kind)

const folded = (text: string): string => text.toLowerCase()

/** Returns the index keys of a filter: the values of its most selective member. Events find the follower by them. */
export function wantedKeys({ kinds = [], workspaces = [], tags = [] }: EventFilter): readonly string[] {
  if (workspaces.length > 0) return workspaces.map((workspace) => `workspace ${workspace}`)
  if (tags.length > 0) return tags.map((tag) => `tag ${folded(tag)}`)
  return kinds.length > 0 ? kinds.map((kind) => `kind ${kind}`) : ["all"]
}

/** Returns the index keys of an event, by which it finds the filters that may match it. */
export function keysOf({ kind, workspace, tags, formerTags }: Filterable): ReadonlySet<string> {
  const keys = new Set(["all", `kind ${kind}`, `kind ${everyKindOf(kind)}`])
  if (workspace !== null) keys.add(`workspace ${workspace.id}`).add(`workspace ${workspace.name}`)
  for (const { key } of tags) keys.add(`tag ${folded(key)}`)
  for (const { key } of formerTags) keys.add(`tag ${folded(key)}`)
  return keys
}

/** Tests an event against a filter; `keys` are those of the event. */
export function fits({ kinds = [], workspaces = [], tags = [] }: EventFilter, keys: ReadonlySet<string>): boolean {
  const any = (values: readonly string[], keyOf: (value: string) => string) =>
    values.length === 0 || values.some((value) => keys.has(keyOf(value)))
  return (
    any(kinds, (kind) => `kind ${kind}`) &&
    any(workspaces, (workspace) => `workspace ${workspace}`) &&
    any(tags, (tag) => `tag ${folded(tag)}`)
  )
}
