// Members of a JSON object as their original text, so that numbers beyond double precision and white space are passed on unchanged.

/**
 * Returns texts by name. The last of several members with the same name counts, as with `JSON.parse`. Returns undefined unless the text is
 * one JSON object.
 */
export function rawMembers(text: string): ReadonlyMap<string, string> | undefined {
  const pairs = rawPairs(text)
  return pairs && new Map(pairs)
}

/** Returns all members in their order, with duplicates. */
function rawPairs(text: string): readonly (readonly [name: string, value: string])[] | undefined {
  if (!isObject(text)) return undefined
  const pairs: (readonly [string, string])[] = []
  let at = text.indexOf("{") + 1
  for (;;) {
    at = nextToken(text, at)
    if (text[at] === "}") return pairs
    if (text[at] === ",") at = nextToken(text, at + 1)
    const nameEnd = endOfString(text, at)
    const valueAt = text.indexOf(":", nameEnd) + 1
    const valueEnd = endOfValue(text, valueAt)
    pairs.push([JSON.parse(text.slice(at, nameEnd)) as string, text.slice(valueAt, valueEnd).trim()])
    at = valueEnd
  }
}

/** Returns whether the text is a valid JSON object. The scanners below rely on its validity. */
function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

const space = new Set([" ", "\t", "\n", "\r"])

function nextToken(text: string, from: number): number {
  let at = from
  while (space.has(text.charAt(at))) at += 1
  return at
}

/** Returns the position after the closing quotation mark of the string that begins here. */
function endOfString(text: string, from: number): number {
  let at = from + 1
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1
  return at + 1
}

/** Returns the position of the comma or brace that ends the value. */
function endOfValue(text: string, from: number): number {
  let depth = 0
  let at = from
  for (;;) {
    const character = text[at]
    if (depth === 0 && (character === "," || character === "}")) return at
    if (character === "{" || character === "[") depth += 1
    if (character === "}" || character === "]") depth -= 1
    at = character === '"' ? endOfString(text, at) : at + 1
  }
}
