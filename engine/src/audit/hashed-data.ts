/** How a hashed text begins in the log; the HMAC in hex follows. */
export const hashPrefix = "hmac-sha256:"

/**
 * A request's data with every text hashed. Numbers and truth values stand as they are, as do the names of members, unless a
 * name is nothing that a program would call a member: it may be a key that was pasted into the wrong place. Members that
 * `plainNames` holds, at the top, are kept whole.
 */
export function hashedData(
  data: Readonly<Record<string, unknown>>,
  hash: (text: string) => string,
  plainNames: readonly string[] = [],
): unknown {
  const hashing: Hashing = { hash, left: valueMaximum }
  return hashedMembers(data, hashing, (name, value) => (plainNames.includes(name) ? value : hashed(value, hashing, 1)))
}

interface Hashing {
  readonly hash: (text: string) => string
  /** How many more values are looked at one by one. */
  left: number
}

/** What is beyond these is hashed as one text, so that no request costs more here than where it is parsed. */
const valueMaximum = 1_000
const depthMaximum = 16

function hashed(value: unknown, hashing: Hashing, depth: number): unknown {
  if (typeof value === "string") return hashPrefix + hashing.hash(value)
  if (typeof value !== "object" || value === null) return value
  if (depth >= depthMaximum) return hashedWhole(value, hashing)
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
