// Thread that reads the contents of states. It receives a compressed state in chunks, acknowledges each, and replies to the end with the
// contents.
import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import { createZstdDecompress } from "node:zlib"
import { releaseMemory } from "../../../core/chunks.ts"
import { stateContentsReader } from "../../../workspaces/state/state-parser.ts"
import type { ContentsAnswer, ContentsPiece } from "./state-contents.ts"

/** All other work of the server has priority. */
const niceness = 10
/** Bytes of one decompressed chunk. Each chunk costs a turn of the event loop and its length in memory. */
const openedPieceBytes = 128 * 1024

// On Linux, process id 0 means the calling thread. On other systems it means the whole process.
if (process.platform === "linux") {
  try {
    setPriority(0, niceness)
  } catch {
    // A sandbox may forbid it. States are read all the same, but other work waits a little longer.
  }
}

const answer = (message: ContentsAnswer): void => parentPort?.postMessage(message)

/** Starts the decompression of the next state. Any failure ends the thread. */
function beginState() {
  const reader = stateContentsReader()
  const decompress = createZstdDecompress({ chunkSize: openedPieceBytes })
  decompress.on("data", (piece: Uint8Array) => {
    reader.write(piece)
    releaseMemory(piece)
  })
  decompress.on("end", () => answer(reader.end()))
  return decompress
}

let reading: ReturnType<typeof beginState> | undefined
parentPort?.on("message", (piece: ContentsPiece) => {
  reading ??= beginState()
  if (piece !== "end") {
    reading.write(piece, () => {
      releaseMemory(piece)
      answer("taken")
    })
    return
  }
  reading.end()
  reading = undefined
})
