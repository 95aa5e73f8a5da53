import { createHash } from "node:crypto"
import type { TransformOptions } from "node:stream"
import { pipeline } from "node:stream/promises"
import {
  createZstdCompress,
  createZstdDecompress,
  zstdCompressSync,
  zstdDecompressSync,
  type ZstdOptions,
} from "node:zlib"
import type { Sealer } from "../core/sealing.ts"
import { type DocumentPlace, smallDocumentBytes, type StateArchive } from "../workspaces/state-archive.ts"
import type { StoredDocument } from "../workspaces/state-document-store.ts"
import { chunkBytes, chunkPath, streamChunkPath } from "./key-sealing.ts"
import { sealPaths } from "./seal-paths.ts"

export const sealedStateArchive = (sealer: Sealer): StateArchive => ({
  seal: (place, plain) => sealStream(sealer, place, plain),
  sealWhole: (place, plain) => sealer.seal(pathOf(place, 0, true), zstdCompressSync(plain)),
  open: (stored, chunk) => openStream(sealer, stored, chunk),
  md5() {
    const hash = createHash("md5")
    return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest("hex") }
  },
})

const pathOf = ({ id, versionId, document }: DocumentPlace, index: number, isLast: boolean): string =>
  streamChunkPath(sealPaths.sentDocument(versionId, document, id), index, isLast)

/** So much may wait for the compressing thread while this one goes on with what else there is to do with the bytes. */
const waitingBytes = 512 * 1024

/** Each piece costs as much on its way as the bytes in it. */
const openedPieceBytes = 128 * 1024

async function* sealStream(
  sealer: Sealer,
  place: DocumentPlace,
  plain: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const options: ZstdOptions & TransformOptions = { highWaterMark: waitingBytes }
  const compress = createZstdCompress(options)
  const fed = pipeline(plain, compress)
  // Whatever ends it ends the loop below, which throws it.
  fed.catch(() => {})
  let [pieces, length, index] = [[] as Uint8Array[], 0, 0]
  for await (const piece of compress as AsyncIterable<Uint8Array>) {
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
  await fed
  yield sealer.seal(pathOf(place, index, true), Buffer.concat(pieces))
}

async function* openStream(
  sealer: Sealer,
  stored: StoredDocument,
  chunk: (index: number) => Promise<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  async function* opened(): AsyncGenerator<Uint8Array> {
    for (let index = 0; index < stored.chunkCount; index += 1)
      yield sealer.open(storedPath(stored, index), await chunk(index))
  }
  if (stored.size !== null && stored.size <= smallDocumentBytes && stored.chunkCount === 1) {
    for await (const compressed of opened()) yield zstdDecompressSync(compressed)
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
