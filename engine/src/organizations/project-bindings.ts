// Key-value tags are the business of `tags`, which knows organizations and not the other way round; a project that is made or
// changed together with its bindings needs no more of them than this.
import type { Fault } from "../core/errors.ts"
import type { OrganizationId, ProjectId } from "../core/ids.ts"
import type { RandomSource } from "../core/random.ts"
import type { Instant } from "../core/time.ts"

export interface ProjectBinding {
  readonly key: string
  readonly value: string
}

export interface ProjectBindings<UsedStores> {
  /** Everything that is wrong with the list by itself. */
  faults(bindings: readonly ProjectBinding[]): readonly Fault[]
  /** Exactly these from now on, or of an owner those that it holds. */
  replace(
    stores: UsedStores,
    project: { readonly id: ProjectId; readonly organizationId: OrganizationId },
    bindings: readonly ProjectBinding[],
    made: { readonly now: Instant; readonly random: RandomSource; readonly owner: string | undefined },
  ): Promise<void>
}
