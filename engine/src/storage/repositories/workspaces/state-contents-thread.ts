// One thread that reads what stands in states: it is sent a compressed state piece by piece, says when it is done with each, and
// answers to its end with the contents.
import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import { createZstdDecompress } from "node:zlib"
import { releaseMemory } from "../../../core/chunks.ts"
import { stateContentsReader } from "../../../workspaces/state/state-parser.ts"
import type { ContentsAnswer, ContentsPiece } from "./state-contents.ts"

/** Whoever waits for anything else goes first. */
const niceness = 10
/** Each costs a turn of the thread, and as much of its memory as it is long. */
const openedPieceBytes = 128 * 1024

// Linux knows priorities of single threads, by which 0 means the one that asks; elsewhere it means the whole process.
if (process.platform === "linux") {
  try {
    setPriority(0, niceness)
  } catch {
    // A sandbox that forbids it: states are read all the same, and others wait a little longer.
  }
}

const answer = (message: ContentsAnswer): void => parentPort?.postMessage(message)

/** The compressed side of a state that is being read. Whatever fails ends the thread. */
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
