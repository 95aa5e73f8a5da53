/**
 * Whether a text is one of the patterns, whose `*` stand for any run of characters. A pattern and a text are gone through
 * once: nothing backtracks.
 */
export function anyGlob(patterns: readonly string[]): (text: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !pattern.includes("*")))
  const globs = patterns.filter((pattern) => pattern.includes("*")).map((pattern) => pattern.split("*"))
  return (text) => exact.has(text) || globs.some((parts) => matches(parts, text))
}

/** Between each two parts there is a run. */
function matches(parts: readonly string[], text: string): boolean {
  const [first = "", last = ""] = [parts[0], parts.at(-1)]
  const end = text.length - last.length
  if (first.length > end || !text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (let index = 1; index < parts.length - 1; index += 1) {
    const part = parts[index] ?? ""
    // The leftmost place leaves most room for the parts that follow.
    const found = text.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
