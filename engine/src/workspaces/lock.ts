// The lock of a workspace (specification, section 3). The texts are contract: clients match on parts of them (workspace-facts 1.3).
import { conflict, invalid, pending } from "../core/errors.ts"
import type { Instant } from "../core/time.ts"
import type { Actor, Lock, Workspace } from "./workspace.ts"

export interface LockChange {
  readonly lock: Lock
  readonly lockNumber: number
}

/** It stands in every document of the workspace, in lists too. */
const reasonMaximum = 10_000

export function lock(workspace: Workspace, by: Actor, reason: string, now: Instant): LockChange {
  if (reason.length > reasonMaximum)
    throw invalid([{ field: ["reason"], detail: `Reason is too long (maximum is ${reasonMaximum} characters)` }])
  if (workspace.lock.held)
    throw conflict(`Unable to lock workspace. The workspace is already locked by ${describe(workspace.lock.by)}.`, {
      subject: workspace.id,
    })
  return { lock: { held: true, by, reason, since: now }, lockNumber: workspace.lockNumber + 1 }
}

/** `newestIsPending`: the newest state version made under this lock is not finalized yet. */
export function unlock(workspace: Workspace, by: Actor, newestIsPending: boolean): LockChange {
  if (!workspace.lock.held) throw alreadyUnlocked(workspace)
  const holder = workspace.lock.by
  if (holder.kind !== by.kind || holder.id !== by.id)
    throw conflict(
      `Unable to unlock workspace. The workspace is locked by ${describe(holder)} and may not be unlocked except by them.`,
      { subject: workspace.id },
    )
  if (newestIsPending)
    throw pending("Unable to unlock workspace. The latest state version is still pending; please try again shortly.")
  return { lock: { held: false }, lockNumber: workspace.lockNumber }
}

export function forceUnlock(workspace: Workspace): LockChange {
  if (!workspace.lock.held) throw alreadyUnlocked(workspace)
  return { lock: { held: false }, lockNumber: workspace.lockNumber }
}

const alreadyUnlocked = (workspace: Workspace) =>
  conflict("Unable to unlock workspace. The workspace is already unlocked.", { subject: workspace.id })

const nouns: Record<Actor["kind"], string> = {
  users: "User",
  teams: "Team",
  runs: "Run",
  organizations: "Organization",
}
/** "User user-…": the form that clients search the text for. */
export const describe = (actor: Actor): string => `${nouns[actor.kind]} ${actor.id}`
