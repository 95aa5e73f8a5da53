import { newId, newOrderedId, type TagId } from "../../core/ids.ts"
import type { RandomSource } from "../../core/random.ts"
import type { Instant } from "../../core/time.ts"
import { foldTag, type Tag } from "./tag.ts"
import type { BindingChange } from "./tag-binding.ts"
import type { Taggable, TagRepository } from "./tag-repository.ts"

export interface TaggableChange {
  readonly taggable: Taggable
  readonly change: BindingChange
}

/**
 * Applies changes in the caller's transaction. A flat tag is added to the pool with its first workspace and removed with its last. All
 * resources must belong to one organization.
 */
export async function bind(
  store: TagRepository,
  changes: readonly TaggableChange[],
  made: { readonly now: Instant; readonly random: RandomSource },
): Promise<void> {
  const tagIds = await ensureTags(store, changes, made)
  const tagIdOf = (taggable: Taggable, key: string, isTag: boolean) =>
    taggable.kind === "workspace" && isTag ? (tagIds.get(foldTag(key)) ?? null) : null
  const left = new Set<TagId>()
  for (const { taggable, change } of changes) {
    await store.removeBindings(
      taggable.kind,
      change.remove.map(({ id }) => id),
    )
    for (const { tagId } of change.remove) if (tagId !== null) left.add(tagId)
    for (const { present, owners = present?.owners, ...entry } of change.put) {
      if (present === undefined) continue
      const tagId = tagIdOf(taggable, entry.key, entry.isTag)
      await store.updateBinding(taggable, { ...present, ...entry, tagId, owners: owners ?? [] })
      if (present.tagId !== null && present.tagId !== tagId) left.add(present.tagId)
    }
  }
  await store.insertBindings(
    changes.flatMap(({ taggable, change }) =>
      change.put.flatMap(({ present, owners = [], ...entry }) =>
        present === undefined
          ? [
              {
                taggable,
                id: newOrderedId("tb", made.random, made.now),
                ...entry,
                tagId: tagIdOf(taggable, entry.key, entry.isTag),
                createdAt: made.now,
                owners,
              },
            ]
          : [],
      ),
    ),
  )
  await store.removeUnused([...left])
}

async function ensureTags(
  store: TagRepository,
  changes: readonly TaggableChange[],
  { now, random }: { readonly now: Instant; readonly random: RandomSource },
): Promise<ReadonlyMap<string, TagId>> {
  const drafts = new Map<string, Tag>()
  for (const { taggable, change } of changes) {
    if (taggable.kind !== "workspace") continue
    for (const { key } of change.put.filter(({ isTag }) => isTag)) {
      const folded = foldTag(key)
      if (drafts.has(folded)) continue
      drafts.set(folded, {
        id: newId("tag", random),
        organizationId: taggable.organizationId,
        name: key,
        createdAt: now,
      })
    }
  }
  const tags = await store.ensure([...drafts.values()])
  return new Map(tags.map((tag) => [foldTag(tag.name), tag.id]))
}
