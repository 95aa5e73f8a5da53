import { notFound } from "../core/errors.ts"
import type { StateVersionId } from "../core/ids.ts"
import type { Storage } from "../core/storage.ts"
import type { Stores } from "../stores.ts"
import type { StateArchive } from "./state-archive.ts"
import type { StateDocument } from "./state-version.ts"

/**
 * The bytes of a finalized version's document, a chunk of it read whenever there is need of one, in a look at the store of its
 * own. Where the document is taken away meanwhile, it ends with `not-found`.
 */
export async function openStateDocument(
  storage: Storage<Pick<Stores, "stateVersions" | "stateDocuments">>,
  archive: StateArchive,
  id: StateVersionId,
  document: StateDocument,
): Promise<AsyncIterable<Uint8Array>> {
  const stored = await storage.read(async ({ stateVersions, stateDocuments }) => {
    const version = await stateVersions.find(id)
    return version?.status === "finalized" ? stateDocuments.find(version.id, document) : undefined
  })
  if (stored === undefined) throw notFound(id)
  return archive.open(stored, async (index) => {
    const chunk = await storage.read(({ stateDocuments }) => stateDocuments.chunk(stored, index))
    if (chunk === undefined) throw notFound(id)
    return chunk
  })
}

/** Whatever there is of a version's content: its documents, and its outputs, which say the same again. */
export async function removeBackingData(
  { stateVersions, stateDocuments }: Pick<Stores, "stateVersions" | "stateDocuments">,
  id: StateVersionId,
): Promise<void> {
  await stateDocuments.abandonAll(id)
  await stateVersions.removeOutputs(id)
}
