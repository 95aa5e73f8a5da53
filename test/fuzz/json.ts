export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** Deeper documents are not mutated, because walking them would overflow the stack. */
const maxWalkedDepth = 1_000

/** Returns undefined for invalid or too deep JSON. */
export function parseJson(input: Uint8Array): Json | undefined {
  let depth = 0
  for (const byte of input) {
    if (byte === 0x5b || byte === 0x7b) depth += 1
    else if (byte === 0x5d || byte === 0x7d) depth -= 1
    if (depth > maxWalkedDepth) return undefined
  }
  try {
    return JSON.parse(Buffer.from(input).toString()) as Json
  } catch {
    return undefined
  }
}

export function countValues(value: Json): number {
  if (typeof value !== "object" || value === null) return 1
  return Object.values(value).reduce<number>((count, member) => count + countValues(member), 1)
}

export function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === "string") return change(value)
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map((member) => mapTexts(member, change))
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mapTexts(member, change)]))
}

/** Returns the strings that contain PEM, in order. */
export function pemTexts(value: Json): string[] {
  const texts: string[] = []
  mapTexts(value, (text) => {
    if (text.includes("-----BEGIN")) texts.push(text)
    return text
  })
  return texts
}
