// Lock of a workspace. Clients match parts of the error texts (docs/compatibility.md, "Matched texts"). A lock with a `ttl` expires
// (`lock-expiry.ts`).
import { conflict, type EngineErrorOptions, type Fault, invalid, pending } from "../../core/errors.ts"
import type { UserId } from "../../core/ids.ts"
import { dayMs, formatInstant, type Instant, secondMs } from "../../core/time.ts"
import type { TeamRepository } from "../../organizations/team.ts"
import type { UserRepository } from "../../organizations/user.ts"
import type { Actor, Lock, LockEnd, Workspace } from "../workspace/workspace.ts"

export interface LockChange {
  readonly lock: Lock
  readonly lockNumber: number
}

export interface LockExtension {
  /** Time from now until the lock expires. */
  readonly ttlMs?: number
}

export interface LockInput extends LockExtension {
  readonly reason: string
}

type HeldLock = Extract<Lock, { held: true }>

/** Every document of the workspace contains the reason, also in lists. */
const maxReason = 10_000
/** Error texts quote at most this many characters of the reason. */
const maxQuoted = 200
const shortestTtlMs = secondMs
const longestTtlMs = 30 * dayMs

export function lock(workspace: Workspace, by: Actor, { reason, ttlMs }: LockInput, now: Instant): LockChange {
  const faults = lockFaults({ reason, ttlMs })
  if (faults.length > 0) throw invalid(faults)
  const { lock: current } = workspace
  if (current.held)
    throw conflict(
      `Unable to lock workspace. The workspace is already locked by ${describe(current.by)} ${circumstances(current)}.`,
      lockFacts(workspace, current, now),
    )
  return {
    lock: { held: true, by, reason, since: now, ...(ttlMs === undefined ? {} : { end: endAfter(ttlMs, now) }) },
    lockNumber: workspace.lockNumber + 1,
  }
}

/** Moves the expiry to now + `ttlMs`. Without `ttlMs`, reuses the previous one. */
export function extendLock(workspace: Workspace, by: Actor, { ttlMs }: LockExtension, now: Instant): LockChange {
  const faults = ttlFaults(ttlMs)
  if (faults.length > 0) throw invalid(faults)
  const { lock: current } = workspace
  if (!current.held) throw conflict("Unable to extend lock. The workspace is not locked.", { subject: workspace.id })
  if (!isSame(current.by, by))
    throw conflict(
      `Unable to extend lock. The workspace is locked by ${describe(current.by)} ${circumstances(current)} and may not be extended except by them.`,
      lockFacts(workspace, current, now),
    )
  const given = ttlMs ?? current.end?.ttlMs
  if (given === undefined)
    throw invalid([{ field: ["ttl"], detail: "ttl is required; the lock was taken without one" }])
  return { lock: { ...current, end: endAfter(given, now) }, lockNumber: workspace.lockNumber }
}

/** Unlocks a workspace. `newestIsPending` is true if the newest state version made under this lock is not finalized yet. */
export function unlock(workspace: Workspace, by: Actor, newestIsPending: boolean, now: Instant): LockChange {
  const { lock: current } = workspace
  if (!current.held) throw alreadyUnlocked(workspace)
  if (!isSame(current.by, by))
    throw conflict(
      `Unable to unlock workspace. The workspace is locked by ${describe(current.by)} and may not be unlocked except by them.`,
      lockFacts(workspace, current, now),
    )
  if (newestIsPending)
    throw pending("Unable to unlock workspace. The latest state version is still pending; please try again shortly.")
  return { lock: { held: false }, lockNumber: workspace.lockNumber }
}

export function forceUnlock(workspace: Workspace): LockChange {
  if (!workspace.lock.held) throw alreadyUnlocked(workspace)
  return { lock: { held: false }, lockNumber: workspace.lockNumber }
}

const endAfter = (ttlMs: number, now: Instant): LockEnd => ({ at: now + ttlMs, ttlMs })

const isSame = (one: Actor, other: Actor): boolean => one.kind === other.kind && one.id === other.id

/** Returns the faults of a lock request. Does not depend on the current lock. */
export const lockFaults = ({
  reason,
  ttlMs,
}: {
  readonly reason: string
  readonly ttlMs?: number | undefined
}): Fault[] => [...reasonFaults(reason), ...ttlFaults(ttlMs)]

const reasonFaults = (reason: string): Fault[] =>
  reason.length > maxReason
    ? [{ field: ["reason"], detail: `reason is too long (maximum is ${maxReason} characters)` }]
    : []

const ttlFaults = (ttlMs: number | undefined): Fault[] =>
  ttlMs === undefined || (ttlMs >= shortestTtlMs && ttlMs <= longestTtlMs && ttlMs % secondMs === 0)
    ? []
    : [
        {
          field: ["ttl"],
          detail: `ttl must be a whole number of seconds from ${shortestTtlMs / secondMs} to ${longestTtlMs / secondMs}`,
        },
      ]

/** Describes since when, until when and why the workspace is locked, for error texts. */
function circumstances({ since, end, reason }: HeldLock): string {
  const until = end === undefined ? "" : ` until ${formatInstant(end.at)}`
  const quoted = reason.length > maxQuoted ? `${reason.slice(0, maxQuoted).toWellFormed()}…` : reason
  return `since ${formatInstant(since)}${until}${reason === "" ? "" : ` for the reason "${quoted}"`}`
}

/** Returns the same details as `circumstances` in machine-readable form. */
const lockFacts = ({ id }: Workspace, { by, reason, since, end }: HeldLock, now: Instant): EngineErrorOptions => ({
  subject: id,
  facts: {
    lockedBy: { type: by.kind, id: by.id, ...(by.name !== undefined && { name: by.name }) },
    lockedReason: reason,
    lockedAt: formatInstant(since),
    lockedUntil: end === undefined ? null : formatInstant(end.at),
  },
  ...(end === undefined ? {} : { retryAfterMs: Math.max(0, end.at - now) }),
})

const alreadyUnlocked = (workspace: Workspace) =>
  conflict("Unable to unlock workspace. The workspace is already unlocked.", { subject: workspace.id })

const nouns: Record<Actor["kind"], string> = {
  users: "User",
  teams: "Team",
  runs: "Run",
  organizations: "Organization",
}
/** Returns "User user-…", the form that clients search error texts for, followed by the name if it is known. */
export const describe = ({ kind, id, name }: Actor): string =>
  `${nouns[kind]} ${id}${name === undefined ? "" : ` (${name})`}`

// Names of lock holders, for error texts. A name is read only if another caller holds the lock, so that lock and unlock by one caller cost
// no query for it.

export interface HolderRepositories {
  readonly teams: TeamRepository
  readonly users: UserRepository
}

/** Returns the workspace with the name of its lock's holder. Omits the name if the holder is `by` or has no name. */
export async function nameHolder<W extends Workspace>(
  repositories: HolderRepositories,
  workspace: W,
  by?: Actor,
): Promise<W> {
  const [named] = await nameHolders(repositories, [workspace], by)
  return named ?? workspace
}

/** Does the same for several workspaces. Reads each holder once. */
export async function nameHolders<W extends Workspace>(
  repositories: HolderRepositories,
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
    if (!names.has(id)) names.set(id, await nameOf(repositories, lock.by))
    const name = names.get(id)
    found.push(name === undefined ? workspace : { ...workspace, lock: { ...lock, by: { ...lock.by, name } } })
  }
  return found
}

async function nameOf({ teams, users }: HolderRepositories, { kind, id }: Actor): Promise<string | undefined> {
  switch (kind) {
    case "users":
      return (await users.find(id as UserId))?.username
    case "teams":
      return (await teams.find(id))?.name
    // Runs have no name, and organizations cannot hold a lock.
    case "runs":
    case "organizations":
      return undefined
    default:
      return kind satisfies never
  }
}
