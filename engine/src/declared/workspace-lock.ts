import { isEngineError } from "../core/errors.ts"
import type { Engine } from "../engine.ts"
import type { Lock } from "../workspaces/workspace/workspace.ts"
import type { Changes, Created, DeclaredResource, Definition } from "./declared-resource.ts"
import { sameText } from "./same-value.ts"
import { diffMembers, type InForce, member, type SpecOf, validator } from "./members.ts"
import { flag, textUpTo } from "./types.ts"
import { workspaceMember } from "./organization-members.ts"

const members = {
  workspaceId: workspaceMember("Workspace to lock."),
  reason: member(textUpTo(10_000), "Reason shown to other users. A change unlocks the workspace and locks it again.", {
    default: "",
    same: sameText,
    forcesReplacement: true,
  }),
  forceUnlock: member(
    flag,
    "Unlock on destroy even if another user holds the lock; discards a pending state. Requires administrator rights.",
    { default: false },
  ),
}

/** The lock of a workspace. The token's owner holds it; `forceUnlock` ends it for any holder. */
export type WorkspaceLockSpec = SpecOf<typeof members>

export type ObservedWorkspaceLock = InForce<typeof members>

/** The id is that of the workspace. */
export const workspaceLockResource: DeclaredResource<WorkspaceLockSpec, ObservedWorkspaceLock> & Definition = {
  name: "workspaceLock",
  description: "Locks a workspace on behalf of the owner of the token. Its id is that of the workspace.",
  outputsDescription: "Outputs of a workspace lock.",
  members,
  outputs: {},
  memberNames: Object.keys(members),
  validate: validator(members),
  diff: changes,
  observe,
  create,
  // Only `forceUnlock` can change in place.
  update: async (_engine, _id, spec, observed) => ({ ...observed, forceUnlock: spec.forceUnlock ?? false }),
  delete: async (engine, id, { forceUnlock = false }) => {
    if ((await lockOf(engine, id))?.held !== true) return
    await (forceUnlock ? engine.workspaces.forceUnlock({ id }) : engine.workspaces.unlock({ id }))
  },
}

function changes(spec: WorkspaceLockSpec, observed: ObservedWorkspaceLock): Changes {
  const { workspaceId, reason = "", forceUnlock = false } = spec
  const { changed, mustReplace } = diffMembers(members, { workspaceId, reason, forceUnlock }, observed)
  // A workspace has one lock, which must end before another with a new reason begins.
  return { changed, mustReplace, removeFirst: mustReplace.length > 0 && !mustReplace.includes("workspaceId") }
}

async function observe(
  engine: Engine,
  id: string,
  { forceUnlock = false }: Partial<WorkspaceLockSpec>,
): Promise<ObservedWorkspaceLock | undefined> {
  const lock = await lockOf(engine, id)
  return lock?.held === true ? { workspaceId: id, reason: lock.reason, forceUnlock } : undefined
}

async function create(engine: Engine, spec: WorkspaceLockSpec): Promise<Created<ObservedWorkspaceLock>> {
  const { workspaceId, reason = "", forceUnlock = false } = spec
  try {
    await engine.workspaces.lock({ id: workspaceId }, { reason })
  } catch (error) {
    if (!isEngineError(error, "unavailable") && !isEngineError(error, "conflict")) throw error
    const lock = await lockOf(engine, workspaceId)
    // A lock of the same user with the same reason may come from a lost answer.
    if (lock?.held !== true || lock.reason !== reason || lock.by.id !== (await engine.users.account()).id) throw error
  }
  return { id: workspaceId, observed: { workspaceId, reason, forceUnlock }, adopted: false }
}

async function lockOf(engine: Engine, id: string): Promise<Lock | undefined> {
  try {
    return (await engine.workspaces.get({ id })).lock
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}
