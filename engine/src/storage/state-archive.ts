import { createHash } from "node:crypto"
import { pipeline } from "node:stream/promises"
import { promisify } from "node:util"
import { createZstdDecompress, zstdCompress, zstdCompressSync, zstdDecompressSync } from "node:zlib"
import type { Sealer } from "../core/sealing.ts"
import {
  type ChunkSource,
  type DocumentPlace,
  smallDocumentBytes,
  type StateArchive,
} from "../workspaces/state-archive.ts"
import type { StoredDocument } from "../workspaces/state-document-store.ts"
import { chunkBytes, chunkPath, streamChunkPath } from "./key-sealing.ts"
import { sealPaths } from "./seal-paths.ts"
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
 * So much is compressed at once, by a thread of the pool, while as much more is gathered. Each becomes a frame of its own, which
 * takes half of the time that one long frame takes and no more room.
 */
const blockBytes = 512 * 1024
/** Most blocks need no more than one buffer for what becomes of them. */
const compressedPieceBytes = 128 * 1024

/** Each piece costs as much on its way as the bytes in it. */
const openedPieceBytes = 128 * 1024

async function* sealStream(
  sealer: Sealer,
  place: DocumentPlace,
  plain: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let [pieces, length, index] = [[] as Uint8Array[], 0, 0]
  for await (const piece of compressedBlocks(plain)) {
    pieces.push(piece)
    length += piece.length
    // What is left for the last chunk is never nothing.
    while (length > chunkBytes) {
      const whole = Buffer.concat(pieces)
      yield sealer.seal(pathOf(place, index, false), whole.subarray(0, chunkBytes))
      pieces = [whole.subarray(chunkBytes)]
      length -= chunkBytes
      index += 1
    }
  }
  yield sealer.seal(pathOf(place, index, true), Buffer.concat(pieces))
}

/** Told how much there is, it takes no more memory than that needs, and neither does whoever opens it. */
const compressBlock = (block: Uint8Array): Promise<Uint8Array> =>
  compress(block, { chunkSize: compressedPieceBytes, pledgedSrcSize: block.length })

const compress = promisify(zstdCompress)

async function* compressedBlocks(plain: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let [filling, other] = [Buffer.allocUnsafeSlow(blockBytes), Buffer.allocUnsafeSlow(blockBytes)]
  let length = 0
  let working: Promise<Uint8Array> | undefined
  const begin = (block: Uint8Array) => {
    working = compressBlock(block)
    // Whoever waits for it is told; where the source has failed, nobody waits.
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

/** Compressed. */
async function* openedChunks(sealer: Sealer, stored: StoredDocument, chunk: ChunkSource): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < stored.chunkCount; index += 1)
    yield sealer.open(storedPath(stored, index), await chunk(index))
}

async function* openStream(sealer: Sealer, stored: StoredDocument, chunk: ChunkSource): AsyncGenerator<Uint8Array> {
  const opened = openedChunks(sealer, stored, chunk)
  if (stored.size !== null && stored.size <= smallDocumentBytes && stored.chunkCount === 1) {
    for await (const compressed of opened) yield zstdDecompressSync(compressed)
    return
  }
  const decompress = createZstdDecompress({ chunkSize: openedPieceBytes })
  const fed = pipeline(opened, decompress)
  fed.catch(() => {})
  yield* decompress as AsyncIterable<Uint8Array>
  await fed
}

function storedPath({ id, versionId, document, chunkCount }: StoredDocument, index: number): string {
  if (id === null) return chunkPath(sealPaths.stateDocument(versionId, document), index, chunkCount)
  return pathOf({ id, versionId, document }, index, index === chunkCount - 1)
}
