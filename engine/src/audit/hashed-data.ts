/** Prefix of hashed text in the log. The HMAC in hex follows. */
export const hashPrefix = "hmac-sha256:"

/**
 * Returns a request's data with every text hashed. Numbers, booleans and names of members are unchanged. A name that no program would use
 * is hashed too, because it may be a secret in the wrong place. Top-level members in `plainNames` are unchanged.
 */
export function hashedData(
  data: Readonly<Record<string, unknown>>,
  hash: (text: string) => string,
  plainNames: readonly string[] = [],
): unknown {
  const hashing: Hashing = { hash, left: maxValue }
  return hashedMembers(data, hashing, (name, value) => (plainNames.includes(name) ? value : hashed(value, hashing, 1)))
}

interface Hashing {
  readonly hash: (text: string) => string
  /** Number of values that may still be hashed one by one. */
  left: number
}

/** Values beyond these bounds are hashed as one text, so that hashing costs no more than parsing the request. */
const maxValue = 1_000
const maxDepth = 16

function hashed(value: unknown, hashing: Hashing, depth: number): unknown {
  if (typeof value === "string") return hashPrefix + hashing.hash(value)
  if (typeof value !== "object" || value === null) return value
  if (depth >= maxDepth) return hashedWhole(value, hashing)
  if (!Array.isArray(value)) return hashedMembers(value, hashing, (_, member) => hashed(member, hashing, depth + 1))
  hashing.left -= value.length
  return hashing.left < 0 ? hashedWhole(value, hashing) : value.map((item) => hashed(item, hashing, depth + 1))
}

function hashedMembers(value: object, hashing: Hashing, member: (name: string, value: unknown) => unknown): unknown {
  const entries = Object.entries(value)
  hashing.left -= entries.length
  if (hashing.left < 0) return hashedWhole(value, hashing)
  return Object.fromEntries(
    entries.map(([name, value]) => [
      memberName.test(name) ? name : hashPrefix + hashing.hash(name),
      member(name, value),
    ]),
  )
}

const memberName = /^[\w.:/ -]{1,64}$/

const hashedWhole = (value: object, { hash }: Hashing): string => hashPrefix + hash(JSON.stringify(value))
