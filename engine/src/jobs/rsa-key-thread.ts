// Worker thread that generates RSA keys. It receives sizes and sends keys.
import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import { generateRsaKey } from "../x509/key-generation.ts"

/** Lets all other work of the machine go first. */
const niceness = 10

// On Linux, priorities are per thread and 0 is the calling thread; elsewhere it is the whole process.
if (process.platform === "linux") {
  try {
    setPriority(0, niceness)
  } catch {
    // A sandbox may forbid it. Keys are generated anyway, and other work waits a little longer.
  }
}

parentPort?.on("message", (bits: number) => parentPort?.postMessage(generateRsaKey(bits)))
