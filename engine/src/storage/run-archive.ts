import type { Sealer } from "../core/sealing.ts"
import type { RunArchive } from "../workspaces/run-record-store.ts"
import { openDocument, sealDocument } from "./key-sealing.ts"
import { sealPaths } from "./seal-paths.ts"

export const sealedRunArchive = (sealer: Sealer): RunArchive => ({
  pack: (runId, document, bytes) => sealDocument(sealer, sealPaths.runDocument(runId, document), bytes),
  unpack: (runId, document, chunks) => openDocument(sealer, sealPaths.runDocument(runId, document), chunks),
})
