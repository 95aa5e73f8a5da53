// One thread that makes RSA keys: it is sent sizes and answers with keys.
import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import { generateRsaKey } from "../x509/key-generation.ts"

/** Whoever waits for anything else goes first. */
const niceness = 10

// Linux knows priorities of single threads, by which 0 means the one that asks; elsewhere it means the whole process.
if (process.platform === "linux") {
  try {
    setPriority(0, niceness)
  } catch {
    // A sandbox that forbids it: keys are made all the same, and others wait a little longer.
  }
}

parentPort?.on("message", (bits: number) => parentPort?.postMessage(generateRsaKey(bits)))
