import type { Id, StateVersionId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { StateDocument } from "./state-version.ts"

export type StateDocumentId = Id<"sdoc">

/** One attempt to send a document of a state version. */
export interface SentDocument {
  readonly id: StateDocumentId
  readonly versionId: StateVersionId
  readonly document: StateDocument
  readonly startedAt: Instant
}

export interface StoredDocument {
  /** Null for what an earlier release has stored. */
  readonly id: StateDocumentId | null
  readonly versionId: StateVersionId
  readonly document: StateDocument
  readonly chunkCount: number
  /** Of the document itself, in bytes; null where it is not known. */
  readonly size: number | null
}

/** Documents of state versions, sealed and in chunks. */
export interface StateDocumentRepository {
  /** Chunks may come for it. */
  begin(sent: SentDocument): Promise<void>
  addChunk(id: StateDocumentId, chunk: number, sealed: Uint8Array): Promise<void>
  /** It is whole, and takes the place of what was there; it need not have begun. */
  keep(sent: SentDocument, whole: { readonly chunkCount: number; readonly size: number }): Promise<void>
  /** Nothing more comes, or it is of no use any more; it goes with the next sweep. */
  abandon(id: StateDocumentId): Promise<void>
  /** Whatever there is of a version. */
  abandonAll(versionId: StateVersionId): Promise<void>
  find(versionId: StateVersionId, document: StateDocument): Promise<StoredDocument | undefined>
  /** Undefined once it is gone. */
  chunk(stored: StoredDocument, chunk: number): Promise<Uint8Array | undefined>
  /** Takes away some of what was abandoned, or began before this instant and never became whole; 0 when there is no more. */
  sweep(begunBefore: Instant): Promise<number>
}
