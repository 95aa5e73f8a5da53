// The name of a lock's holder, for refusals that name the holder. It is looked up only where another caller holds the lock: a lock
// that is taken or given back by its holder costs no query for it.
import type { UserId } from "../core/ids.ts"
import type { TeamRepository } from "../organizations/team-store.ts"
import type { UserRepository } from "../organizations/user-store.ts"
import type { Actor, Workspace } from "./workspace.ts"

export interface HolderStores {
  readonly teams: TeamRepository
  readonly users: UserRepository
}

/** Returns the workspace with the name of its lock's holder, unless that is `by` or has none. */
export async function nameHolder<W extends Workspace>(stores: HolderStores, workspace: W, by?: Actor): Promise<W> {
  const [named] = await nameHolders(stores, [workspace], by)
  return named ?? workspace
}

/** The same for several, each holder looked up once. */
export async function nameHolders<W extends Workspace>(
  stores: HolderStores,
  workspaces: readonly W[],
  by?: Actor,
): Promise<readonly W[]> {
  const names = new Map<string, string | undefined>()
  const found: W[] = []
  for (const workspace of workspaces) {
    const { lock } = workspace
    if (!lock.held || lock.by.id === by?.id) {
      found.push(workspace)
      continue
    }
    const { id } = lock.by
    if (!names.has(id)) names.set(id, await nameOf(stores, lock.by))
    const name = names.get(id)
    found.push(name === undefined ? workspace : { ...workspace, lock: { ...lock, by: { ...lock.by, name } } })
  }
  return found
}

async function nameOf({ teams, users }: HolderStores, { kind, id }: Actor): Promise<string | undefined> {
  switch (kind) {
    case "users":
      return (await users.find(id as UserId))?.username
    case "teams":
      return (await teams.find(id))?.name
    // A run has no name, and an organization holds no lock.
    case "runs":
    case "organizations":
      return undefined
    default:
      return kind satisfies never
  }
}
