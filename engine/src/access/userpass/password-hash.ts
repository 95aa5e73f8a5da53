// Hashes of passwords as they are stored. New ones are of scrypt (RFC 7914), in the PHC string format. Hashes of bcrypt come from other
// systems: administrators set them as `password_hash`.
import type { Fault } from "../../core/errors.ts"
import { textProblem } from "../../core/text.ts"

export interface ScryptHash {
  readonly kind: "scrypt"
  /** N as a power of two. */
  readonly costBits: number
  readonly blockSize: number
  readonly parallelism: number
  readonly salt: Uint8Array
  readonly key: Uint8Array
}

export type PasswordHash = ScryptHash | { readonly kind: "bcrypt"; readonly text: string }

/**
 * Parameters of new hashes: one of the equivalent settings of OWASP's Password Storage Cheat Sheet, the one with the least memory (16 MiB),
 * because several verifications run at once.
 */
export const scryptParameters = { costBits: 14, blockSize: 8, parallelism: 5 } as const
export const saltBytes = 16
export const scryptKeyBytes = 32

/** Bounds what a client makes the server hash. */
export const maxPasswordBytes = 1_024
/** bcrypt ignores the bytes of a password behind these. */
export const maxBcryptBytes = 72

const bcryptForm = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/
const scryptForm = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{22,86})\$([A-Za-z0-9+/]{43})$/
const minBcryptCost = 4
/** Verification takes half a second at 13, and twice that with each step more. */
const maxBcryptCost = 13

/** Returns undefined for text that is no hash, or whose verification takes too long. */
export function parsePasswordHash(text: string): PasswordHash | undefined {
  const bcryptCost = bcryptCostOf(text)
  if (bcryptCost !== undefined)
    return bcryptCost < minBcryptCost || bcryptCost > maxBcryptCost ? undefined : { kind: "bcrypt", text }
  const [, costBits, blockSize, parallelism, salt = "", key = ""] = scryptForm.exec(text) ?? []
  if (costBits === undefined) return undefined
  return {
    kind: "scrypt",
    costBits: Number(costBits),
    blockSize: Number(blockSize),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, "base64"),
    key: Buffer.from(key, "base64"),
  }
}

export const formatScryptHash = ({ costBits, blockSize, parallelism, salt, key }: Omit<ScryptHash, "kind">): string =>
  `$scrypt$ln=${costBits},r=${blockSize},p=${parallelism}$${unpadded(salt)}$${unpadded(key)}`

const unpadded = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64").replaceAll("=", "")

function bcryptCostOf(text: string): number | undefined {
  const cost = bcryptForm.exec(text)?.[1]
  return cost === undefined ? undefined : Number(cost)
}

/** Hash that no password has. An unknown user is verified against it if the method has no users at all. */
export const unmatchedHash = formatScryptHash({
  ...scryptParameters,
  salt: new Uint8Array(saltBytes),
  key: new Uint8Array(scryptKeyBytes),
})

/** Returns the faults of a password. Details never contain it. */
export function passwordFaults(password: string): Fault[] {
  const fault = (problem: string): Fault[] => [{ field: ["password"], detail: `"password" ${problem}` }]
  if (password === "") return fault("must not be empty")
  if (password.length > maxPasswordBytes || Buffer.byteLength(password) > maxPasswordBytes)
    return fault(`must not be longer than ${maxPasswordBytes} bytes`)
  const problem = textProblem(password)
  return problem === undefined ? [] : fault(problem)
}

/** Returns the faults of a hash that an administrator sets. */
export function bcryptHashFaults(text: string): Fault[] {
  const fault = (problem: string): Fault[] => [{ field: ["passwordHash"], detail: `"password_hash" ${problem}` }]
  const cost = bcryptCostOf(text)
  if (cost === undefined) return fault('must be a hash of bcrypt, which begins with "$2a$", "$2b$" or "$2y$"')
  return cost < minBcryptCost || cost > maxBcryptCost
    ? fault(`must have a cost from ${minBcryptCost} to ${maxBcryptCost}`)
    : []
}
