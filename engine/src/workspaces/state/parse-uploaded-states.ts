// Reads the resources and outputs of large states after their upload. The row of the state version records that this is still to be done,
// so any server can do it, also after an interruption.
import { logFailure } from "../../core/failure-log.ts"
import type { HeldLease } from "../../core/leases.ts"
import { newId } from "../../core/ids.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Storage } from "../../core/storage.ts"
import { minuteMs, secondMs } from "../../core/time.ts"
import { findStateDocument, type StateArchive } from "./state-document.ts"
import type { StateDocumentRepository } from "./state-document-repository.ts"
import type { StateVersionRepository } from "./state-version-repository.ts"
import type { StateVersion } from "./state-version.ts"
import type { WorkspaceRepository } from "../workspace/workspace-repository.ts"

export interface ReadingContext {
  readonly storage: Storage<{
    readonly workspaces: WorkspaceRepository
    readonly stateVersions: StateVersionRepository
    readonly stateDocuments: StateDocumentRepository
  }>
  readonly runtime: Runtime
  readonly stateTools: { readonly archive: StateArchive }
}

export const readStatesJob = { name: "states", everyMs: 30 * secondMs, timeoutMs: 30 * minuteMs } as const

/** Limit of states per run of the job. The next run continues. */
const maxStates = 1_000
/** Limit of outputs per transaction. */
const outputsPerWrite = 100

export async function readStates(context: ReadingContext, { signal }: Pick<HeldLease, "signal">): Promise<void> {
  const { storage, runtime } = context
  for (let count = 0; count < maxStates; count += 1) {
    signal.throwIfAborted()
    const version = await storage.transact(({ stateVersions }) => stateVersions.beginReading())
    if (version === undefined) return
    try {
      await readState(context, version, signal)
    } catch (error) {
      signal.throwIfAborted()
      // A failure must not block the other states.
      logFailure(runtime.log, "error", "state-not-read", { stateVersionId: version.id, error })
    }
  }
}

async function readState(
  context: ReadingContext,
  { id, workspaceId }: StateVersion,
  signal: AbortSignal,
): Promise<void> {
  const { storage, runtime, stateTools } = context
  const { stored, chunk } = await findStateDocument(storage, id, "state")
  const { outputs, leftOutCount, ...contents } = await stateTools.archive.contents(stored, chunk, signal)
  await storage.transact(({ stateVersions }) => stateVersions.removeOutputs(id))
  const withIds = outputs.map((output) => ({ ...output, id: newId("wsout", runtime.random) }))
  for (let first = 0; first < withIds.length; first += outputsPerWrite) {
    signal.throwIfAborted()
    const some = withIds.slice(first, first + outputsPerWrite)
    await storage.transact(({ stateVersions }) => stateVersions.saveOutputs(id, some, first))
  }
  await storage.transact(async ({ stateVersions, workspaces }) => {
    if (!(await stateVersions.endReading(id, contents))) return
    const workspace = await workspaces.find({ id: workspaceId })
    if (workspace?.currentStateVersionId !== id) return
    await workspaces.save(workspace, { ...workspace, resourceCount: contents.resourceCount })
  })
  if (leftOutCount > 0) runtime.log.warn("state-partly-read", { stateVersionId: id, leftOutCount })
}
