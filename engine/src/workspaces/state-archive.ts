import type { StateVersionId } from "../core/ids.ts"
import type { StateDocumentId, StoredDocument } from "./state-document-store.ts"
import type { FoundContents } from "./state-reader.ts"
import type { StateDocument } from "./state-version.ts"

export interface DocumentPlace {
  readonly id: StateDocumentId
  readonly versionId: StateVersionId
  readonly document: StateDocument
}

/**
 * Compresses and seals a document in chunks of at most 1 MiB, and back. Apart from the store, so that the work is done outside
 * the transaction, where nobody waits for it.
 */
export interface StateArchive {
  /** The chunks in their order; at least one. The last one is sealed as such, so that none can be missing behind it. */
  seal(place: DocumentPlace, plain: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  /** All of them of a small document, which costs less. */
  sealWhole(place: DocumentPlace, plain: Uint8Array): Uint8Array
  /** One chunk is asked for at a time, when what there was before has been taken. */
  open(stored: StoredDocument, chunk: ChunkSource): AsyncIterable<Uint8Array>
  /** What stands in a state, read in the background. When the signal is given it fails, with whatever reason. */
  contents(stored: StoredDocument, chunk: ChunkSource, signal: AbortSignal): Promise<FoundContents>
  md5(): Md5
}

/** The sealed chunk of this number. */
export type ChunkSource = (index: number) => Promise<Uint8Array>

export interface Md5 {
  update(bytes: Uint8Array): void
  /** Lower-case hex: what clients announce and check. Ends it. */
  digest(): string
}

/** What is no larger is held whole, and read before the answer: few states are larger. */
export const smallDocumentBytes = 256 * 1024
