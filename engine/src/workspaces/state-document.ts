import { notFound } from "../core/errors.ts"
import type { StateVersionId } from "../core/ids.ts"
import type { Storage } from "../core/storage.ts"
import type { ChunkSource, StateArchive } from "./state-archive.ts"
import type { StateDocumentRepository, StoredDocument } from "./state-document-store.ts"
import type { StateVersionRepository } from "./state-version-store.ts"
import type { DocumentContent } from "./state-versions.ts"
import type { StateDocument } from "./state-version.ts"

interface UsedStores {
  readonly stateVersions: StateVersionRepository
  readonly stateDocuments: StateDocumentRepository
}

/** The bytes of a finalized version's document. Where it is taken away meanwhile, they end with `not-found`. */
export async function openStateDocument(
  storage: Storage<UsedStores>,
  archive: StateArchive,
  id: StateVersionId,
  document: StateDocument,
): Promise<DocumentContent> {
  const { stored, chunk } = await findStateDocument(storage, id, document)
  return Object.assign(archive.open(stored, chunk), { sizeBytes: stored.size ?? undefined })
}

/** A chunk is read whenever there is need of one, in a look at the store of its own. */
export async function findStateDocument(
  storage: Storage<UsedStores>,
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
  { stateVersions, stateDocuments }: UsedStores,
  id: StateVersionId,
): Promise<void> {
  await stateDocuments.abandonAll(id)
  await stateVersions.removeOutputs(id)
}
