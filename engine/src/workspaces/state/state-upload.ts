// Receives a document of a state version as a stream. It counts and hashes the bytes, parses as much as validation needs, compresses and
// seals.
// Small documents are held in memory whole; of larger ones, only a few chunks.
import { EngineError, invalid, isEngineError } from "../../core/errors.ts"
import { newId, type StateVersionId } from "../../core/ids.ts"
import { releaseMemory } from "../../core/chunks.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Storage } from "../../core/storage.ts"
import { type DocumentPlace, smallDocumentBytes, type StateArchive } from "./state-document.ts"
import type { SentDocument, StateDocumentRepository } from "./state-document-repository.ts"
import { parseStateFile, type StateContents, type StateHeader } from "./state-file.ts"
import { jsonDocumentReader, stateHeaderReader } from "./state-parser.ts"
import type { StateDocument } from "./state-version.ts"

interface UsedRepositories {
  readonly stateDocuments: StateDocumentRepository
}

/** Default size limit of a document. Larger ones are rejected. */
export const defaultStateLimitBytes = 1024 * 1024 * 1024

export interface ReceivingTools {
  readonly archive: StateArchive
  readonly limitBytes: number
}

export interface Reading<Found> {
  whole(bytes: Uint8Array): Found
  pieces(): { write(bytes: Uint8Array): void; end(): Found }
}

/** Parsed state. `contents` is undefined for large states, which are read after the response. */
export interface ReceivedState {
  readonly header: StateHeader
  readonly contents: StateContents | undefined
}

export const readingState: Reading<ReceivedState> = {
  whole(bytes) {
    const file = parseStateFile(bytes)
    return { header: file, contents: file }
  },
  pieces() {
    const reader = stateHeaderReader()
    return { write: (bytes) => reader.write(bytes), end: () => ({ header: reader.end(), contents: undefined }) }
  },
}

export const readingJson: Reading<void> = {
  whole(bytes) {
    const reader = readingJson.pieces()
    reader.write(bytes)
    reader.end()
  },
  pieces() {
    const reader = jsonDocumentReader()
    return { write: (bytes) => asJsonState(() => reader.write(bytes)), end: () => asJsonState(() => reader.end()) }
  },
}

/** Maps parse errors to the field `jsonState`: the same parser reads states, with other error texts. */
function asJsonState(step: () => void): void {
  try {
    step()
  } catch (error) {
    if (!isEngineError(error, "invalid")) throw error
    throw invalid([{ field: ["jsonState"], detail: "json-state is not valid JSON" }])
  }
}

export interface Received<Found> {
  readonly found: Found
  readonly md5: string
  readonly size: number
  /** Stores the document. Call it in the transaction that uses it. */
  keep(repositories: UsedRepositories): Promise<void>
  /** Discards the document. Call it instead of `keep`, outside of a transaction. */
  abandon(): Promise<void>
}

export interface Receiving<Found> {
  readonly versionId: StateVersionId
  readonly document: StateDocument
  readonly reading: Reading<Found>
  /**
   * Storage for chunks while others are still received. Each chunk has its own transaction, and the version must exist. Without a storage,
   * all chunks are held in memory.
   */
  readonly storage?: Storage<UsedRepositories>
}

/**
 * Receives a document. Each item of `content` is used only until the next one is requested. Throws `invalid` or `too-large`, and then
 * leaves no complete document.
 */
export async function receive<Found>(
  { archive, limitBytes }: ReceivingTools,
  { clock, random }: Pick<Runtime, "clock" | "random">,
  receiving: Receiving<Found>,
  content: AsyncIterable<Uint8Array>,
): Promise<Received<Found>> {
  const { versionId, document, reading, storage } = receiving
  const sent: SentDocument = { id: newId("sdoc", random), versionId, document, startedAt: clock.now() }
  const md5 = archive.md5()
  let size = 0
  const counted = (bytes: Uint8Array) => {
    size += bytes.length
    if (size > limitBytes) throw tooLarge(limitBytes)
    md5.update(bytes)
  }
  const saveChunks = (chunks: readonly Uint8Array[], first: number) => async (repositories: UsedRepositories) => {
    await repositories.stateDocuments.keep(sent, { chunkCount: first + chunks.length, size })
    for (const [index, sealed] of chunks.entries())
      await repositories.stateDocuments.addChunk(sent.id, first + index, sealed)
  }

  const source = content[Symbol.asyncIterator]()
  try {
    const small: Uint8Array[] = []
    let next = await source.next()
    while (next.done !== true) {
      counted(next.value)
      // Copy: the source may reuse the memory for its next item.
      small.push(new Uint8Array(next.value))
      if (size > smallDocumentBytes) break
      next = await source.next()
    }
    if (next.done === true) {
      const bytes = small.length === 1 && small[0] !== undefined ? small[0] : Buffer.concat(small)
      const found = reading.whole(bytes)
      return {
        found,
        md5: md5.digest(),
        size,
        keep: saveChunks([archive.sealWhole(sent, bytes)], 0),
        abandon: async () => {},
      }
    }

    const reader = reading.pieces()
    const everything = async function* () {
      for (const piece of small.splice(0)) {
        reader.write(piece)
        yield piece
      }
      for (let more = await source.next(); more.done !== true; more = await source.next()) {
        counted(more.value)
        reader.write(more.value)
        yield more.value
      }
    }
    const stored = await storeAsTheyCome(storage, sent, archive.seal(sent, everything()))
    const abandon = () => forget(storage, sent, stored.count)
    try {
      return { found: reader.end(), md5: md5.digest(), size, keep: saveChunks(stored.left, stored.count), abandon }
    } catch (error) {
      await abandon()
      throw error
    }
  } finally {
    await source.return?.()
  }
}

/** Stores all chunks but the last. The last one is stored in the transaction that uses the document. */
async function storeAsTheyCome(
  storage: Storage<UsedRepositories> | undefined,
  sent: SentDocument,
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ readonly count: number; readonly left: readonly Uint8Array[] }> {
  const left: Uint8Array[] = []
  let count = 0
  try {
    for await (const chunk of chunks) {
      left.push(chunk)
      if (storage === undefined || left.length === 1) continue
      const [sealed] = left.splice(0, 1)
      if (sealed === undefined) continue
      const index = count
      count += 1
      await storage.transact(async ({ stateDocuments }) => {
        if (index === 0) await stateDocuments.begin(sent)
        await stateDocuments.addChunk(sent.id, index, sealed)
      })
      releaseMemory(sealed)
    }
    return { count, left }
  } catch (error) {
    await forget(storage, sent, count)
    throw error
  }
}

/** Discards a partly stored document. If that fails, the sweep deletes it later by its age. */
async function forget(
  storage: Storage<UsedRepositories> | undefined,
  { id }: DocumentPlace,
  count: number,
): Promise<void> {
  if (storage === undefined || count === 0) return
  await storage.transact(({ stateDocuments }) => stateDocuments.abandon(id)).catch(() => {})
}

export const tooLarge = (limitBytes: number): EngineError =>
  new EngineError("too-large", `The state is larger than ${limitBytes} bytes.`)

/** Yields a document that is already in memory in parts, so that other requests run between them. */
export async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length || at === 0; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

const pieceBytes = 256 * 1024
