import { createHash, hash } from "node:crypto"
import { nextTurn } from "../core/timers.ts"

/** Returns the digest in hex. */
export const sha256 = (data: Uint8Array): string => hash("sha256", data, "hex")

/** Hashing this much takes a millisecond or less. */
const sliceOctets = 512 * 1_024

/** Like `sha256`, for long data. Yields to the event loop between slices. */
export async function sha256InTurns(data: Uint8Array): Promise<string> {
  const hashing = createHash("sha256")
  for (let at = 0; at < data.length; at += sliceOctets) {
    if (at > 0) await nextTurn()
    hashing.update(data.subarray(at, at + sliceOctets))
  }
  return hashing.digest("hex")
}
