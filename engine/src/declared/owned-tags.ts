// Tags that concern a declaration with an owner: tags that it names, tags that it owns, and tags without an owner. Tags of other owners do
// not concern it.
import type { Writer } from "../core/owner.ts"
import type { Engine } from "../engine.ts"
import { foldTag } from "../workspaces/tags/tag.ts"
import { type Binding, hasValue, type ShownEntry } from "../workspaces/tags/tag-binding.ts"
import type { Declarant } from "./declared-resource.ts"

/** Binding as the engine returns it, with its owners on request. */
export type ShownBinding = Binding & ShownEntry & { readonly owners?: readonly string[] }

export const foldedKeys = (keys: Iterable<string>): ReadonlySet<string> => new Set([...keys].map(foldTag))

/** Returns the bindings that concern a writer. `named` are folded keys. A writer without an owner is concerned with all bindings. */
export const concerning = <B extends ShownBinding>(
  bindings: readonly B[],
  named: ReadonlySet<string>,
  { owner }: Writer,
): readonly B[] =>
  bindings.filter(
    ({ key, owners = [] }) =>
      owner === undefined || owners.length === 0 || owners.includes(owner) || named.has(foldTag(key)),
  )

/** Returns keys and values, without flat tags. */
export const valuesOf = (bindings: readonly Binding[]): Readonly<Record<string, string>> =>
  Object.fromEntries(bindings.filter(hasValue).map(({ key, value }) => [key, value]))

export const shownOn = (engine: Engine, workspaceId: string): Promise<readonly ShownBinding[]> =>
  engine.tags.bindings(workspaceId, { owners: true, tags: true })

export interface Replacement {
  /** Bindings without an owner that are to be removed. */
  readonly taken: readonly Binding[]
  readonly bindings: Readonly<Record<string, string>>
}

/**
 * Returns the requests by which an owner replaces its key-value bindings with `wanted`. The engine removes only bindings that the owner
 * holds. The owner therefore first binds `taken`: bindings without an owner, written before it wrote with one or by another client.
 * `before` are the bindings wanted until now. With `leavesOthers`, only bindings in `before` are removed.
 */
export function replacement(
  present: readonly ShownBinding[],
  wanted: Readonly<Record<string, string>>,
  before: Readonly<Record<string, string>>,
  { owner, leavesOthers = false }: Declarant,
): Replacement {
  const [stays, known] = [wanted, before].map((bindings) => foldedKeys(Object.keys(bindings)))
  const others = present.filter((binding) => hasValue(binding) && stays?.has(foldTag(binding.key)) === false)
  const goes = ({ key }: Binding) => !leavesOthers || known?.has(foldTag(key)) === true
  return {
    taken: others
      .filter((binding) => (binding.owners ?? []).length === 0 && goes(binding))
      .map(({ key, value }) => ({ key, value })),
    bindings: {
      ...valuesOf(others.filter((binding) => binding.owners?.includes(owner ?? "") && !goes(binding))),
      ...wanted,
    },
  }
}

/** Prepares the replacement on one workspace and returns the bindings to send. A writer without an owner needs no preparation. */
export async function replacementOn(
  engine: Engine,
  workspaceId: string,
  wanted: Readonly<Record<string, string>>,
  before: Readonly<Record<string, string>>,
  declarant: Declarant,
): Promise<Replacement["bindings"]> {
  const { owner } = declarant
  if (owner === undefined) return wanted
  const { taken, bindings } = replacement(await shownOn(engine, workspaceId), wanted, before, declarant)
  if (taken.length > 0) await engine.tags.bind(workspaceId, taken, { owner })
  return bindings
}
