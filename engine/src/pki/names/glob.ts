/** Whether the pattern, whose `*` stand for any run of characters, matches all of the text. Goes through either once: nothing backtracks. */
export function globMatches(pattern: string, text: string): boolean {
  const [first = "", ...middle] = pattern.split("*")
  const last = middle.pop()
  if (last === undefined) return pattern === text
  const end = text.length - last.length
  if (first.length > end || !text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (const part of middle) {
    // The leftmost place leaves most room for the parts that follow.
    const found = text.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
