import { notFound } from "../../core/errors.ts"
import type { StateVersionId } from "../../core/ids.ts"
import type { Storage } from "../../core/storage.ts"
import type { StateDocumentId, StateDocumentRepository, StoredDocument } from "./state-document-repository.ts"
import type { FoundContents } from "./state-parser.ts"
import type { DocumentContent } from "./state-version-api.ts"
import type { StateVersionRepository } from "./state-version-repository.ts"
import type { StateDocument } from "./state-version.ts"

interface UsedRepositories {
  readonly stateVersions: StateVersionRepository
  readonly stateDocuments: StateDocumentRepository
}

/** Returns the bytes of a finalized version's document. The stream fails with `not-found` if the document is deleted while it is read. */
export async function openStateDocument(
  storage: Storage<UsedRepositories>,
  archive: StateArchive,
  id: StateVersionId,
  document: StateDocument,
): Promise<DocumentContent> {
  const { stored, chunk } = await findStateDocument(storage, id, document)
  return Object.assign(archive.open(stored, chunk), { sizeBytes: stored.size ?? undefined })
}

/** Finds a document and a source of its chunks. Each chunk is read in its own transaction when it is needed. */
export async function findStateDocument(
  storage: Storage<UsedRepositories>,
  id: StateVersionId,
  document: StateDocument,
): Promise<{ readonly stored: StoredDocument; readonly chunk: ChunkSource }> {
  const stored = await storage.read(async ({ stateVersions, stateDocuments }) => {
    const version = await stateVersions.find(id)
    return version?.status === "finalized" ? stateDocuments.find(version.id, document) : undefined
  })
  if (stored === undefined) throw notFound(id)
  const chunk = async (index: number) => {
    const found = await storage.read(({ stateDocuments }) => stateDocuments.chunk(stored, index))
    if (found === undefined) throw notFound(id)
    return found
  }
  return { stored, chunk }
}

/** Deletes the content of a version: its documents, and its outputs, which are copies of it. */
export async function removeBackingData(
  { stateVersions, stateDocuments }: UsedRepositories,
  id: StateVersionId,
): Promise<void> {
  await stateDocuments.abandonAll(id)
  await stateVersions.removeOutputs(id)
}

export interface DocumentPlace {
  readonly id: StateDocumentId
  readonly versionId: StateVersionId
  readonly document: StateDocument
}

/**
 * Operations that compress, seal and open documents in chunks of at most 1 MiB. They are separate from the repository, so that this work is
 * done outside of transactions.
 */
export interface StateArchive {
  /** Returns the chunks in order, at least one. The last one is sealed as the last, so that missing chunks are detected. */
  seal(place: DocumentPlace, plain: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  /** Seals a small document as one chunk, which is cheaper. */
  sealWhole(place: DocumentPlace, plain: Uint8Array): Uint8Array
  /** Returns the plain bytes. Requests one chunk at a time, after the caller has consumed the previous one. */
  open(stored: StoredDocument, chunk: ChunkSource): AsyncIterable<Uint8Array>
  /** Reads the contents of a state in the background. Rejects when the signal aborts, with an unspecified reason. */
  contents(stored: StoredDocument, chunk: ChunkSource, signal: AbortSignal): Promise<FoundContents>
  md5(): Md5
}

/** Function that reads the sealed chunk with this index. */
export type ChunkSource = (index: number) => Promise<Uint8Array>

export interface Md5 {
  update(bytes: Uint8Array): void
  /** Returns the hash in lower-case hex, which clients announce and compare. Call it once, at the end. */
  digest(): string
}

/** A document up to this size is held in memory whole and read before the response. Few states are larger. */
export const smallDocumentBytes = 256 * 1024
