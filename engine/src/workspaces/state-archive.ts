import type { StateVersionId } from "../core/ids.ts"
import type { StateDocument } from "./state-version.ts"

/**
 * Compresses and seals a document in chunks, and back. Apart from the store, so that the work is done outside the
 * transaction, where nobody waits for it.
 */
export interface StateArchive {
  pack(id: StateVersionId, document: StateDocument, bytes: Uint8Array): Promise<readonly Uint8Array[]>
  unpack(id: StateVersionId, document: StateDocument, chunks: readonly Uint8Array[]): Promise<Uint8Array>
  /** Of the raw state, lower-case hex: what clients announce and check. */
  md5(bytes: Uint8Array): string
}

/** Larger documents are refused; one is held in memory while it is read. */
export const stateBytesMaximum = 64 * 1024 * 1024
