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

/** The bytes of a finalized version's document. Where it is taken away meanwhile, they end with `not-found`. */
export async function openStateDocument(
  storage: Storage<UsedRepositories>,
  archive: StateArchive,
  id: StateVersionId,
  document: StateDocument,
): Promise<DocumentContent> {
  const { stored, chunk } = await findStateDocument(storage, id, document)
  return Object.assign(archive.open(stored, chunk), { sizeBytes: stored.size ?? undefined })
}

/** A chunk is read whenever there is need of one, in a look at the store of its own. */
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

/** Whatever there is of a version's content: its documents, and its outputs, which say the same again. */
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
