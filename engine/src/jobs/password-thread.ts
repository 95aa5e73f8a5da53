// Worker thread that hashes and verifies passwords.
import { scryptSync, timingSafeEqual } from "node:crypto"
import { parentPort } from "node:worker_threads"
import {
  formatScryptHash,
  maxBcryptBytes,
  parsePasswordHash,
  type ScryptHash,
  scryptKeyBytes,
  scryptParameters,
} from "../access/userpass/password-hash.ts"
import type { PasswordWork } from "./password-hashing.ts"

type Parameters = Pick<ScryptHash, "costBits" | "blockSize" | "parallelism" | "salt">

function scryptKey(password: string, { costBits, blockSize, parallelism, salt }: Parameters): Uint8Array {
  const cost = 2 ** costBits
  // OpenSSL needs a little more than the table of 128 * N * r bytes.
  const maxmem = 128 * blockSize * (cost + parallelism + 32)
  return scryptSync(password, salt, scryptKeyBytes, { N: cost, r: blockSize, p: parallelism, maxmem })
}

async function verify(password: string, text: string): Promise<boolean> {
  const hash = parsePasswordHash(text)
  if (hash === undefined) return false
  if (hash.kind === "scrypt") return timingSafeEqual(scryptKey(password, hash), hash.key)
  const { compareSync } = await import("bcryptjs")
  // A password that only begins like the right one must not match.
  return compareSync(password, hash.text) && Buffer.byteLength(password) <= maxBcryptBytes
}

async function done(work: PasswordWork): Promise<string | boolean> {
  if (work.kind === "verify") return verify(work.password, work.hash)
  const parameters = { ...scryptParameters, salt: work.salt }
  return formatScryptHash({ ...parameters, key: scryptKey(work.password, parameters) })
}

parentPort?.on("message", (work: PasswordWork) => void done(work).then((result) => parentPort?.postMessage(result)))
