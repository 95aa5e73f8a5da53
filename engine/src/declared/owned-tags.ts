// What a declaration that writes as an owner is about: what it names, what it holds, and what nobody holds. What only others hold
// is none of its business.
import type { Writer } from "../core/owner.ts"
import type { Engine } from "../engine.ts"
import { foldTag } from "../workspaces/tags/tag.ts"
import { type Binding, hasValue, type ShownEntry } from "../workspaces/tags/tag-binding.ts"
import type { Declarant } from "./declared-resource.ts"

/** As engines show them with owners. */
export type ShownBinding = Binding & ShownEntry & { readonly owners?: readonly string[] }

export const foldedKeys = (keys: Iterable<string>): ReadonlySet<string> => new Set([...keys].map(foldTag))

/** `named` are folded keys. Without an owner everything is one's own business. */
export const concerning = <B extends ShownBinding>(
  bindings: readonly B[],
  named: ReadonlySet<string>,
  { owner }: Writer,
): readonly B[] =>
  bindings.filter(
    ({ key, owners = [] }) =>
      owner === undefined || owners.length === 0 || owners.includes(owner) || named.has(foldTag(key)),
  )

/** Keys and values, without flat tags. */
export const valuesOf = (bindings: readonly Binding[]): Readonly<Record<string, string>> =>
  Object.fromEntries(bindings.filter(hasValue).map(({ key, value }) => [key, value]))

export const shownOn = (engine: Engine, workspaceId: string): Promise<readonly ShownBinding[]> =>
  engine.tags.bindings(workspaceId, { owners: true, tags: true })

export interface Replacement {
  /** Those that are to go and nobody holds. */
  readonly taken: readonly Binding[]
  readonly bindings: Readonly<Record<string, string>>
}

/**
 * How an owner has those with a value be the wanted ones: it replaces what it holds by `bindings`. It lets go of what it holds and
 * of nothing else, so it has to bind `taken` first: they are from before it wrote as an owner, or somebody has put them beside
 * all that there shall be. `before` are those that were wanted till now; with `leavesOthers` nothing else goes.
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

/** Of one workspace; without an owner there is nothing to prepare. */
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
