/** Key sizes in common use. Larger ones cannot be stocked: a key of 8192 bits takes a core minutes. */
const stockedBits = ["2048", "3072", "4096"]
const maxCount = 10_000

/** Parses `2048:200,3072:20` or `none` into counts by key size in bits. Returns undefined for anything else. */
export function parseRsaKeyStock(text: string): ReadonlyMap<number, number> | undefined {
  if (text === "none") return new Map()
  const stock = new Map<number, number>()
  for (const part of text.split(",")) {
    const [, bits = "", digits] = /^ *(\d{4}):(\d{1,5}) *$/.exec(part) ?? []
    const count = Number(digits)
    if (!stockedBits.includes(bits) || stock.has(Number(bits)) || count < 1 || count > maxCount) return undefined
    stock.set(Number(bits), count)
  }
  return stock
}
