// Rules of state versions (docs/state.md). Do not change the error texts of conflicts: clients show them, and users search for them.
import { conflict, type Fault, invalid, unprocessable } from "../../core/errors.ts"
import type { StateVersionId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import { describe } from "../lock/lock.ts"
import type { WorkspaceRepository } from "../workspace/workspace-repository.ts"
import type { Actor, Workspace } from "../workspace/workspace.ts"
import { summarize } from "./state-file.ts"
import type { ReceivedState } from "./state-upload.ts"
import type { StateVersionRepository } from "./state-version-repository.ts"
import type { StateSummary, StateVersion, StateVersionInput, StateVersionStatus } from "./state-version.ts"

/** Versions that a workspace has when another one is created. */
export interface EarlierVersions {
  readonly newest: StateVersion | undefined
  readonly newestFinalized: StateVersion | undefined
}

const maxLineage = 255

export type AnnouncedStateVersion = Omit<StateVersionInput, "state" | "jsonState">

export function stateVersionFaults({ serial, md5, lineage }: AnnouncedStateVersion): Fault[] {
  return [...serialFaults(serial), ...md5Faults(md5), ...(lineage === null ? [] : lineageFaults(lineage))]
}

export const serialFaults = (serial: number): Fault[] =>
  Number.isSafeInteger(serial) && serial >= 0
    ? []
    : [{ field: ["serial"], detail: "serial must be a non-negative integer" }]

export const md5Faults = (md5: string): Fault[] =>
  /^[0-9a-f]{32}$/.test(md5) ? [] : [{ field: ["md5"], detail: "md5 must be 32 lowercase hexadecimal digits" }]

export const lineageFaults = (lineage: string): Fault[] =>
  lineage.length <= maxLineage
    ? []
    : [{ field: ["lineage"], detail: `lineage is too long (maximum is ${maxLineage} characters)` }]

/** Returns a pending version. Throws `conflict` if the workspace does not accept it. */
export function admit(
  workspace: Workspace,
  input: AnnouncedStateVersion,
  { newest, newestFinalized }: EarlierVersions,
  { id, by, now }: { readonly id: StateVersionId; readonly by: Actor; readonly now: Instant },
): StateVersion {
  const { lock } = workspace
  if (!lock.held)
    throw conflict(
      "Unable to create state version. The workspace is not locked and will only accept state uploads when locked.",
      {
        subject: workspace.id,
      },
    )
  const holds =
    (lock.by.kind === by.kind && lock.by.id === by.id) || (lock.by.kind === "runs" && lock.by.id === input.runId)
  if (!holds)
    throw conflict(
      `Unable to create state version. The workspace is locked by ${describe(lock.by)} and will only accept state uploads from them.`,
      { subject: workspace.id },
    )
  if (newestFinalized !== undefined && !input.force) rejectDivergence(input, newestFinalized)
  return {
    id,
    workspaceId: workspace.id,
    organizationId: workspace.organizationId,
    serial: input.serial,
    lineage: input.lineage,
    md5: input.md5,
    status: "pending",
    intermediate: input.intermediate,
    lockNumber: workspace.lockNumber,
    createdAt: newest === undefined ? now : Math.max(now, newest.createdAt + 1),
    createdBy: by,
    runId: input.runId as StateVersion["runId"],
    summary: null,
    vcsCommitSha: null,
    vcsCommitUrl: null,
  }
}

/**
 * Throws if the new version conflicts with the last one. A lower serial of the same lineage is accepted from the holder of the lock:
 * `state push -force` sends one without `force` (docs/compatibility.md, "State versions"). The same bytes and serial are a retry.
 */
function rejectDivergence(next: Pick<StateVersion, "serial" | "lineage" | "md5">, last: StateVersion): void {
  const sameLineage = next.lineage === last.lineage
  if (!sameLineage && next.lineage !== null && last.lineage !== null)
    throw conflict(
      `Unable to create state version. The lineage "${next.lineage}" does not match the lineage "${last.lineage}" of the existing state.`,
    )
  if (next.serial === last.serial && next.md5 !== last.md5)
    throw conflict(
      `Unable to create state version. A state with the serial ${last.serial} already exists with a different MD5 hash.`,
    )
  if (next.serial < last.serial && !(sameLineage && next.lineage !== null))
    throw conflict(
      `Unable to create state version. The serial ${next.serial} is not greater than the serial ${last.serial} of the existing state.`,
    )
}

/**
 * Checks that the bytes have the announced MD5. Serial and lineage stay as announced if the file has others: migration tools renumber
 * states without rewriting them.
 */
export function finalize(
  version: StateVersion,
  { found, ...received }: { readonly found: ReceivedState; readonly md5: string; readonly size: number },
): StateVersion & { readonly summary: StateSummary } {
  requirePending(version)
  const { header, contents } = found
  if (received.md5 !== version.md5) throw invalid([{ field: ["md5"], detail: "md5 does not match the uploaded state" }])
  const { resourceCount, resources, modules, providers } = contents ?? summarize([])
  const { formatVersion, terraformVersion } = header
  return {
    ...version,
    lineage: version.lineage ?? header.lineage,
    status: "finalized",
    summary: {
      size: received.size,
      formatVersion,
      terraformVersion,
      resourcesProcessed: contents !== undefined,
      resourceCount,
      resources,
      modules,
      providers,
    },
  }
}

export function requirePending(version: Pick<StateVersion, "id" | "status">): void {
  if (version.status !== "pending") throw conflict(uploadProblems[version.status], { subject: version.id })
}

/** Allows finalized versions: clients send the state and its JSON rendering at once, so the rendering can arrive after the state. */
export function requireNotDiscarded(version: Pick<StateVersion, "id" | "status">): void {
  if (version.status === "discarded" || hasLostBackingData(version.status))
    throw conflict(uploadProblems[version.status], { subject: version.id })
}

const uploaded = "The state of this state version has already been uploaded."

export const uploadProblems: Record<Exclude<StateVersionStatus, "pending">, string> = {
  finalized: uploaded,
  discarded: "This state version was discarded and does not accept an upload.",
  backing_data_soft_deleted: uploaded,
  backing_data_permanently_deleted: uploaded,
}

type LostBackingData = Extract<StateVersionStatus, `backing_data_${string}`>

export const hasLostBackingData = (status: StateVersionStatus): status is LostBackingData =>
  status.startsWith("backing_data_")

export type BackingDataAction = "soft-delete" | "restore" | "permanently-delete"

const backingDataTransitions: Readonly<
  Record<BackingDataAction, { readonly from: StateVersionStatus; readonly to: StateVersionStatus }>
> = {
  "soft-delete": { from: "finalized", to: "backing_data_soft_deleted" },
  restore: { from: "backing_data_soft_deleted", to: "finalized" },
  "permanently-delete": { from: "backing_data_soft_deleted", to: "backing_data_permanently_deleted" },
}

/**
 * Changes the backing data of a version. The current version keeps it, and so does a version that may become current when the lock ends.
 */
export function changeBackingData(
  version: StateVersion,
  action: BackingDataAction,
  workspace: Workspace,
): StateVersion {
  const { from, to } = backingDataTransitions[action]
  const mayBecomeCurrent = version.intermediate && workspace.lock.held && version.lockNumber === workspace.lockNumber
  if (version.status !== from || version.id === workspace.currentStateVersionId || mayBecomeCurrent)
    // Clients match this text (docs/compatibility.md, "Matched texts").
    throw conflict("transition not allowed", { subject: version.id })
  return { ...version, status: to }
}

/** Returns the input of a new version, later than all others, with an earlier state. */
export function rollbackInput(
  target: StateVersion,
  { newest, newestFinalized }: EarlierVersions,
): AnnouncedStateVersion {
  if (target.status !== "finalized")
    throw unprocessable("The state version is not finalized.", [
      { field: ["rollbackStateVersion", "id"], detail: "rollback-state-version must be a finalized state version" },
    ])
  const serial = Math.max(target.serial, newest?.serial ?? 0, newestFinalized?.serial ?? 0) + 1
  return {
    serial,
    // Replaced by the MD5 of the new bytes after the serial in them is changed.
    md5: target.md5,
    lineage: target.lineage,
    force: true,
    intermediate: false,
    runId: null,
  }
}

/**
 * Returns the members of a workspace that describe its current state. Until the new resources are counted, the workspace keeps the previous
 * count.
 */
export const currentFacts = ({ id, summary }: StateVersion) => ({
  currentStateVersionId: id,
  ...(summary?.resourcesProcessed === true ? { resourceCount: summary.resourceCount } : {}),
})

/** Returns the error for a state version that refers to a run of another workspace. */
export const foreignRun = () =>
  unprocessable("The run does not belong to this workspace.", [
    { field: ["run", "id"], detail: "run must belong to this workspace" },
  ])

/**
 * Yields a state with another serial. The serial inside the file changes too; otherwise the next apply fails after it changed the
 * infrastructure (docs/compatibility.md, "State versions"). `places` are in ascending order.
 */
export async function* withSerial(
  pieces: AsyncIterable<Uint8Array>,
  places: readonly { readonly start: number; readonly end: number }[],
  serial: number,
): AsyncGenerator<Uint8Array> {
  const text = new TextEncoder().encode(String(serial))
  const left = places.values()
  let place = left.next().value
  let at = 0
  for await (const piece of pieces) {
    let from = 0
    while (place !== undefined && place.start < at + piece.length) {
      if (place.start >= at) {
        yield piece.subarray(from, place.start - at)
        yield text
      }
      from = Math.min(place.end - at, piece.length)
      // The number continues in the next chunk.
      if (place.end > at + piece.length) break
      place = left.next().value
    }
    yield piece.subarray(from)
    at += piece.length
  }
}

// Promotion of state versions when their lock ends (docs/decisions/state-at-unlock.md).

interface UsedRepositories {
  readonly workspaces: WorkspaceRepository
  readonly stateVersions: StateVersionRepository
}

/** Makes the newest version of the lock current if it is finalized. An intermediate version is not current until then. */
export async function promote<W extends Workspace>(
  { workspaces }: Pick<UsedRepositories, "workspaces">,
  workspace: W,
  newest: StateVersion | undefined,
): Promise<W> {
  if (newest?.status !== "finalized" || newest.id === workspace.currentStateVersionId) return workspace
  const promoted = { ...workspace, ...currentFacts(newest) }
  await workspaces.save(workspace, promoted)
  return promoted
}

/** Ends a lock without its holder: discards versions that are still pending, and promotes the newest one. */
export async function discardAndPromote<W extends Workspace>(repositories: UsedRepositories, workspace: W): Promise<W> {
  await repositories.stateVersions.discardPending(workspace.id)
  return promote(
    repositories,
    workspace,
    await repositories.stateVersions.newestUnderLock(workspace.id, workspace.lockNumber),
  )
}
