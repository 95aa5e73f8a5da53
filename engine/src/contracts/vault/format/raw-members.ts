// The members of a JSON object as texts, untouched: numbers too long for this language, and every space, go on as they came.

/** By name; of a name that comes twice the last counts, as with `JSON.parse`. Undefined unless the text is one JSON object. */
export function rawMembers(text: string): ReadonlyMap<string, string> | undefined {
  const pairs = rawPairs(text)
  return pairs && new Map(pairs)
}

/** In their order, each as often as it comes. */
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

/** The parser knows all of the grammar; what follows may take it for granted. */
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

/** After the closing quotation mark of the string that begins here. */
function endOfString(text: string, from: number): number {
  let at = from + 1
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1
  return at + 1
}

/** Where the comma or brace stands that ends the value. */
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
