import { isEngineError } from "../core/errors.ts"
import type { Engine } from "../engine.ts"
import type { Lock } from "../workspaces/workspace.ts"
import type { Changes, Created, DeclaredResource } from "./declared-resource.ts"
import { differing, sameText } from "./same-value.ts"
import * as shapes from "./spec-shape.ts"

const shape = shapes.members({
  workspaceId: shapes.text().filled(),
  reason: shapes.text().max(10_000).optional(),
  forceUnlock: shapes.flag().optional(),
})

/**
 * Lock of a workspace, held by the token's owner. `forceUnlock` ends it whoever holds it.
 */
export type WorkspaceLockSpec = Readonly<shapes.Of<typeof shape>>

export interface ObservedWorkspaceLock {
  readonly workspaceId: string
  readonly reason: string
  readonly forceUnlock: boolean
}

/** The id is that of the workspace. */
export const workspaceLockResource: DeclaredResource<WorkspaceLockSpec, ObservedWorkspaceLock> = {
  memberNames: Object.keys(shape.members),
  validate: (spec, open = new Set()) => shapes.faultsOf(shape, spec, open),
  diff: changes,
  observe,
  create,
  // Only how it ends can change.
  update: async (_engine, _id, spec, observed) => ({ ...observed, forceUnlock: spec.forceUnlock ?? false }),
  delete: async (engine, id, { forceUnlock = false }) => {
    if ((await lockOf(engine, id))?.held !== true) return
    await (forceUnlock ? engine.workspaces.forceUnlock({ id }) : engine.workspaces.unlock({ id }))
  },
}

function changes(spec: WorkspaceLockSpec, observed: ObservedWorkspaceLock): Changes {
  const { workspaceId, reason = "", forceUnlock = false } = spec
  const changed = differing({ workspaceId, reason, forceUnlock }, observed, { reason: sameText })
  const mustReplace = changed.filter((name) => name !== "forceUnlock")
  // There is one lock, which has to be opened before it is closed with another reason.
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
    // One of the same owner for the same reason may be what a lost answer left behind.
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
