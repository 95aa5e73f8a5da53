// Worker thread that moves committed pages from the write-ahead log into the database file, once per message.
import { DatabaseSync } from "node:sqlite"
import { parentPort, workerData } from "node:worker_threads"
import type { CheckpointAnswer } from "./checkpointer.ts"

const database = new DatabaseSync(workerData as string, { timeout: 0 })
// With `synchronous = off`, pages could reach the file before the log is on disk.
database.exec("pragma synchronous = normal")
const checkpoint = database.prepare("pragma wal_checkpoint(passive)")

parentPort?.on("message", (message: "checkpoint" | "close") => {
  if (message === "checkpoint") {
    const row = checkpoint.get()
    parentPort?.postMessage({
      logged: Number(row?.["log"]),
      moved: Number(row?.["checkpointed"]),
    } satisfies CheckpointAnswer)
    return
  }
  database.close()
  parentPort?.close()
})
