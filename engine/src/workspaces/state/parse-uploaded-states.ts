// Reads what stands in large states after they were taken: their resources and outputs. A row says that it is still to be done,
// so that whichever server comes by does it, after whatever has interrupted another.
import { logFailure } from "../../core/failure-log.ts"
import type { Held } from "../../core/leases.ts"
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

/** The name of the job. */
export const readStatesJob = { name: "states", everyMs: 30 * secondMs, timeoutMs: 30 * minuteMs } as const

/** In one run of the job; the rest waits for the next. */
const statesMaximum = 1_000
/** In one transaction. */
const outputsPerWrite = 100

export async function readStates(context: ReadingContext, { signal }: Pick<Held, "signal">): Promise<void> {
  const { storage, runtime } = context
  for (let count = 0; count < statesMaximum; count += 1) {
    signal.throwIfAborted()
    const version = await storage.transact(({ stateVersions }) => stateVersions.beginReading())
    if (version === undefined) return
    try {
      await readState(context, version, signal)
    } catch (error) {
      signal.throwIfAborted()
      // Another may be well, and must not wait for it.
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
