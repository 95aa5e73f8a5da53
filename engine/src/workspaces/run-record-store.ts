import type { RunId } from "../core/ids.ts"

/** The halves of a run that say something while they are at work. */
export const runStages = ["plan", "apply"] as const
export type RunStage = (typeof runStages)[number]

/** What a plan leaves behind: itself, for whoever applies it, and the tool's rendering for people and programs. */
export const runDocuments = ["plan-file", "json-output"] as const
export type RunDocument = (typeof runDocuments)[number]

/** What executors hand in beside statuses and counts. */
export interface RunRecordRepository {
  /** In bytes. */
  logSize(runId: RunId, stage: RunStage): Promise<number>
  /** At most `size` bytes from `start`; fewer where the log ends. */
  readLog(runId: RunId, stage: RunStage, start: number, size: number): Promise<Uint8Array>
  /** Behind what is there. */
  appendLog(runId: RunId, stage: RunStage, bytes: Uint8Array): Promise<void>
  /** Sealed chunks in order; none where it was never handed in. */
  document(runId: RunId, document: RunDocument): Promise<readonly Uint8Array[]>
  /** In the place of what was there. */
  saveDocument(runId: RunId, document: RunDocument, chunks: readonly Uint8Array[]): Promise<void>
}

/** Compresses and seals a document in chunks, and back, outside of transactions. */
export interface RunArchive {
  pack(runId: RunId, document: RunDocument, bytes: Uint8Array): readonly Uint8Array[]
  unpack(runId: RunId, document: RunDocument, chunks: readonly Uint8Array[]): Uint8Array
}
