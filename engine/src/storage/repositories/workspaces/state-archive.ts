import { createHash } from "node:crypto"
import {
  createZstdCompress,
  createZstdDecompress,
  type ZstdDecompress,
  zstdCompressSync,
  zstdDecompressSync,
} from "node:zlib"
import { releaseMemory, releaseWholeMemory } from "../../../core/chunks.ts"
import type { Sealer } from "../../../core/sealing.ts"
import {
  type ChunkSource,
  type DocumentPlace,
  smallDocumentBytes,
  type StateArchive,
} from "../../../workspaces/state/state-document.ts"
import type { StoredDocument } from "../../../workspaces/state/state-document-repository.ts"
import { chunkBytes, chunkPath, streamChunkPath } from "../../sealing/key-sealing.ts"
import { sealPaths } from "../../sealing/seal-paths.ts"
import type { StateContents } from "./state-contents.ts"

export const sealedStateArchive = (sealer: Sealer, contents: StateContents): StateArchive => ({
  seal: (place, plain) => sealStream(sealer, place, plain),
  sealWhole: (place, plain) => sealer.seal(pathOf(place, 0, true), zstdCompressSync(plain)),
  open: (stored, chunk) => openStream(sealer, stored, chunk),
  contents: (stored, chunk, signal) => contents.read(openedChunks(sealer, stored, chunk), signal),
  md5() {
    const hash = createHash("md5")
    return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest("hex") }
  },
})

const pathOf = ({ id, versionId, document }: DocumentPlace, index: number, isLast: boolean): string =>
  streamChunkPath(sealPaths.sentDocument(versionId, document, id), index, isLast)

/**
 * Bytes of one compressed block. A thread of the pool compresses it while the next one is filled. Each block becomes a frame of its own:
 * this takes half the time of one long frame and no more space.
 */
const blockBytes = 512 * 1024
/** Upper bound of a compressed block, which one buffer holds. Only its written part takes memory. */
const compressedBlockBytes = blockBytes + blockBytes / 256 + 64

/** Bytes of one decompressed chunk. Handling a chunk costs as much as copying its bytes. */
const openedPieceBytes = 128 * 1024

async function* sealStream(
  sealer: Sealer,
  place: DocumentPlace,
  plain: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const chunk = Buffer.allocUnsafeSlow(chunkBytes)
  let [length, index] = [0, 0]
  for await (const block of compressedBlocks(plain)) {
    for (const piece of block)
      for (let at = 0; at < piece.length;) {
        // Sealed only when more data follows, so that the last chunk is never empty.
        if (length === chunkBytes) {
          yield sealer.seal(pathOf(place, index, false), chunk)
          length = 0
          index += 1
        }
        const part = piece.subarray(at, at + chunkBytes - length)
        chunk.set(part, length)
        length += part.length
        at += part.length
      }
    for (const piece of block) releaseWholeMemory(piece)
  }
  yield sealer.seal(pathOf(place, index, true), chunk.subarray(0, length))
}

/** Compressed form of a block, in parts that may share memory. The memory is released after all of them have been copied. */
type CompressedBlock = readonly Uint8Array[]

/** Compresses a block. With the size pledged, neither compressor nor decompressor allocates more memory than it needs. */
async function compressBlock(block: Uint8Array): Promise<CompressedBlock> {
  const compress = createZstdCompress({ chunkSize: compressedBlockBytes, pledgedSrcSize: block.length })
  compress.end(block)
  return compress.toArray()
}

async function* compressedBlocks(plain: AsyncIterable<Uint8Array>): AsyncGenerator<CompressedBlock> {
  let [filling, other] = [Buffer.allocUnsafeSlow(blockBytes), Buffer.allocUnsafeSlow(blockBytes)]
  let length = 0
  let working: Promise<CompressedBlock> | undefined
  const begin = (block: Uint8Array) => {
    working = compressBlock(block)
    // The awaiting code gets the error. If the source has failed, no code awaits it, and the rejection must not be unhandled.
    working.catch(() => {})
  }
  for await (const piece of plain)
    for (let at = 0; at < piece.length;) {
      const part = piece.subarray(at, at + blockBytes - length)
      filling.set(part, length)
      length += part.length
      at += part.length
      if (length < blockBytes) continue
      const done = await working
      begin(filling)
      ;[filling, other] = [other, filling]
      length = 0
      if (done !== undefined) yield done
    }
  const done = await working
  if (done !== undefined) yield done
  if (length > 0) yield await compressBlock(filling.subarray(0, length))
}

/** Yields the opened chunks, still compressed. */
async function* openedChunks(sealer: Sealer, stored: StoredDocument, chunk: ChunkSource): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < stored.chunkCount; index += 1) {
    const sealed = await chunk(index)
    const opened = sealer.open(storedPath(stored, index), sealed)
    releaseMemory(sealed)
    yield opened
  }
}

async function* openStream(sealer: Sealer, stored: StoredDocument, chunk: ChunkSource): AsyncGenerator<Uint8Array> {
  const opened = openedChunks(sealer, stored, chunk)
  if (stored.size !== null && stored.size <= smallDocumentBytes && stored.chunkCount === 1) {
    for await (const compressed of opened) yield zstdDecompressSync(compressed)
    return
  }
  const decompress = createZstdDecompress({ chunkSize: openedPieceBytes })
  void feed(decompress, opened)
  yield* decompress as AsyncIterable<Uint8Array>
}

/** Writes the compressed chunks to the decompressor. Failures reach the reader as errors of the stream. */
async function feed(decompress: ZstdDecompress, opened: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const compressed of opened) {
      await taken(decompress, compressed)
      releaseMemory(compressed)
    }
    decompress.end()
  } catch (error) {
    decompress.destroy(error as Error)
  }
}

/** Resolves when a chunk is decompressed. Rejects if the reader closes the stream before that. */
const taken = (decompress: ZstdDecompress, compressed: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    const closed = () => reject(new Error("The reader closed the document."))
    decompress.once("close", closed)
    decompress.write(compressed, (error) => {
      decompress.off("close", closed)
      if (error) reject(error)
      else resolve()
    })
  })

function storedPath({ id, versionId, document, chunkCount }: StoredDocument, index: number): string {
  if (id === null) return chunkPath(sealPaths.stateDocument(versionId, document), index, chunkCount)
  return pathOf({ id, versionId, document }, index, index === chunkCount - 1)
}
