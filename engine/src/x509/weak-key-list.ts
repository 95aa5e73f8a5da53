// RSA keys of Debian's OpenSSL from 2006 to 2008, which had 32,768 keys for each size and architecture (CVE-2008-0166). They cannot be
// computed without that release, so they come from a list of fingerprints.
import { hash } from "node:crypto"
import { type PublicKey, rsaPublicNumbers } from "./public-key.ts"

export interface WeakKeyList {
  readonly size: number
  has(key: PublicKey): boolean
}

export const noWeakKeys: WeakKeyList = { size: 0, has: () => false }

/** 32 MB of memory. Debian's lists have about a million entries. */
const maxEntries = 4_000_000

/**
 * Reads the files of Debian's openssl-blacklist package: a line has the last 20 hexadecimal digits of the SHA-1 digest of `Modulus=<HEX>`
 * and a line feed, as `openssl rsa -modulus` prints it. Empty lines and lines that begin with # are skipped. Throws `RangeError` with the
 * line number for any other line.
 */
export function parseWeakKeys(texts: readonly string[]): WeakKeyList {
  const entries: bigint[] = []
  for (const text of texts)
    for (const [index, line] of text.split("\n").entries()) {
      const entry = line.trim()
      if (entry === "" || entry.startsWith("#")) continue
      if (!/^[0-9a-f]{20}$/i.test(entry)) throw new RangeError(`line ${index + 1} must be 20 hexadecimal digits`)
      entries.push(shortened(entry))
    }
  if (entries.length > maxEntries) throw new RangeError(`there must not be more than ${maxEntries} lines`)
  const sorted = BigUint64Array.from(entries).toSorted()
  return {
    size: sorted.length,
    has: (key) => key.algorithm.type === "rsa" && contains(sorted, shortened(fingerprintOf(key))),
  }
}

/** Returns eight octets: another key matches one of a million entries with a probability of 2^-44. */
const shortened = (digits: string): bigint => BigInt(`0x${digits.slice(-16)}`)

function fingerprintOf(key: PublicKey): string {
  const modulus = Buffer.from(rsaPublicNumbers(key).modulus).toString("hex").toUpperCase()
  return hash("sha1", `Modulus=${modulus}\n`, "hex").slice(-20)
}

function contains(sorted: BigUint64Array, wanted: bigint): boolean {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const found = sorted[middle] ?? 0n
    if (found === wanted) return true
    if (found < wanted) low = middle + 1
    else high = middle
  }
  return false
}
