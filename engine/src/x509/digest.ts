import { createHash, hash } from "node:crypto"
import { nextTurn } from "../core/timers.ts"

/** Hex. */
export const sha256 = (data: Uint8Array): string => hash("sha256", data, "hex")

/** Hashed in a millisecond or less. */
const sliceOctets = 512 * 1_024

/** The same with turns for everybody else in between, for what is long. */
export async function sha256InTurns(data: Uint8Array): Promise<string> {
  const hashing = createHash("sha256")
  for (let at = 0; at < data.length; at += sliceOctets) {
    if (at > 0) await nextTurn()
    hashing.update(data.subarray(at, at + sliceOctets))
  }
  return hashing.digest("hex")
}
