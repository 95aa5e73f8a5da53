import type { Id, StateVersionId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { StateDocument } from "./state-version.ts"

export type StateDocumentId = Id<"sdoc">

/** One attempt to upload a document of a state version. */
export interface SentDocument {
  readonly id: StateDocumentId
  readonly versionId: StateVersionId
  readonly document: StateDocument
  readonly startedAt: Instant
}

export interface StoredDocument {
  /** Null for documents that an earlier release stored. */
  readonly id: StateDocumentId | null
  readonly versionId: StateVersionId
  readonly document: StateDocument
  readonly chunkCount: number
  /** Size of the plain document in bytes. Null if it is unknown. */
  readonly size: number | null
}

/** Sealed documents of state versions, stored in chunks. */
export interface StateDocumentRepository {
  /** Begins an upload. Chunks can be added after it. */
  begin(sent: SentDocument): Promise<void>
  addChunk(id: StateDocumentId, chunk: number, sealed: Uint8Array): Promise<void>
  /** Marks an upload as complete. It replaces the stored document. `begin` is optional. */
  keep(sent: SentDocument, whole: { readonly chunkCount: number; readonly size: number }): Promise<void>
  /** Marks an upload as abandoned. The next sweep deletes it. */
  abandon(id: StateDocumentId): Promise<void>
  /** Abandons all documents of a version. */
  abandonAll(versionId: StateVersionId): Promise<void>
  find(versionId: StateVersionId, document: StateDocument): Promise<StoredDocument | undefined>
  /** Returns undefined if the document was deleted. */
  chunk(stored: StoredDocument, chunk: number): Promise<Uint8Array | undefined>
  /** Deletes a part of what was abandoned, or began before this instant and was never completed. Returns 0 if nothing is left. */
  sweep(begunBefore: Instant): Promise<number>
}
