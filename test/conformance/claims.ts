// Maps each item of docs/conformance.md to the tests that show it. A test claims an item by its id in the title, or in the row of a table
// that the title interpolates. The ids are read from the source text, so that no test has to run.
const ids = /\b[WP]-\d+(?:\.\d+)?-[rnbp]\d+\b/g
const skipped = /\.(skip|todo)\b|^\s*(\/\/|\*)/

export interface Claim {
  readonly id: string
  readonly title: string
}

interface Title {
  readonly text: string
  readonly ofGroup: boolean
  /** Indentation of the line that the call begins on. */
  readonly indentation: number
  readonly start: number
  readonly end: number
  /** True for a table test, whose title follows its rows. */
  readonly ofTable: boolean
}

export function claimsIn(source: string): readonly Claim[] {
  const titles = titlesIn(source)
  const claims: Claim[] = []
  let offset = 0
  for (const line of source.split("\n")) {
    if (!skipped.test(line))
      for (const match of line.matchAll(ids))
        claims.push({ id: match[0], title: titleAt(source, titles, offset + match.index) ?? withoutIds(line.trim()) })
    offset += line.length + 1
  }
  return claims
}

function titlesIn(source: string): readonly Title[] {
  const call = /(\b(?:test|it|describe)\s*\(|\)\s*\()\s*(["'`])((?:\\.|(?!\2)[^\\])*)\2\s*,/g
  return [...source.matchAll(call)].map((match) => ({
    text: match[3] ?? "",
    ofGroup: match[1]?.startsWith("describe") === true,
    ofTable: match[1]?.startsWith(")") === true,
    indentation: indentationAt(source, match.index),
    start: match.index,
    end: match.index + match[0].length,
  }))
}

function indentationAt(source: string, position: number): number {
  const line = source.slice(source.lastIndexOf("\n", position) + 1)
  return line.length - line.trimStart().length
}

function titleAt(source: string, titles: readonly Title[], position: number): string | undefined {
  const title = titleFor(titles, position)
  if (title === undefined) return undefined
  const row = title.start > position ? rowAt(source, position) : new Map<string, string>()
  const groups = groupsOf(titles, title).map(({ text }) => text)
  return withoutIds([...groups, interpolate(title.text, row)].join(": "))
}

/** Returns the title that contains the position, else that of the table whose row it is in, else the preceding one. */
function titleFor(titles: readonly Title[], position: number): Title | undefined {
  const around = titles.find(({ start, end }) => start <= position && position < end)
  const next = titles.find(({ start }) => start > position)
  return around ?? (next?.ofTable === true ? next : titles.findLast(({ end }) => end <= position))
}

/** Returns the groups around a title, outermost first. The formatter indents their contents. */
function groupsOf(titles: readonly Title[], inner: Title): readonly Title[] {
  const around = titles.findLast(
    ({ ofGroup, start, indentation }) => ofGroup && start < inner.start && indentation < inner.indentation,
  )
  return around === undefined ? [] : [...groupsOf(titles, around), around]
}

/** Returns the literal members of the table row around a position, by name. */
function rowAt(source: string, position: number): ReadonlyMap<string, string> {
  const row = source.slice(source.lastIndexOf("{", position) + 1, source.indexOf("}", position))
  const member = /(\w+):\s*(?:(["'`])((?:\\.|(?!\2)[^\\])*)\2|(-?\w+))/g
  return new Map([...row.matchAll(member)].map((match) => [match[1] ?? "", match[3] ?? match[4] ?? ""]))
}

const interpolate = (title: string, row: ReadonlyMap<string, string>) =>
  title.replace(/\$(\w+)/g, (whole, name: string) => row.get(name) ?? whole)

const withoutIds = (text: string) =>
  text
    .replace(ids, "")
    .replace(/\[[\s,]*\]/g, "")
    .replace(/\s+/g, " ")
    .trim()
