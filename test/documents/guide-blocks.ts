// Parses the fenced blocks of a document into commands.
import { readFileSync } from "node:fs"

export interface GuideBlock {
  /** The nearest heading above, of any level. */
  readonly heading: string
  /** Empty if the fence names none. */
  readonly language: string
  /** Commands of a shell, each with all its lines; for any other language, the whole block. Blocks with only comments have none. */
  readonly commands: readonly string[]
}

export const root = new URL("../../", import.meta.url)

const shells = ["sh", "bash", "shell", "console"]

export const blocksOf = (document: string): readonly GuideBlock[] =>
  blocksIn(readFileSync(new URL(document, root), "utf8"))

export function blocksIn(text: string): readonly GuideBlock[] {
  const blocks: GuideBlock[] = []
  let heading = ""
  let fence: { readonly mark: string; readonly language: string; readonly lines: string[] } | undefined
  for (const line of text.split("\n")) {
    const [, mark, language = ""] = /^ *(```+|~~~+) *([^`]*?) *$/.exec(line) ?? []
    if (fence !== undefined) {
      if (mark !== undefined && mark.startsWith(fence.mark) && language === "") {
        const { lines, language: fenceLanguage } = fence
        const commands = shells.includes(fenceLanguage) ? commandsIn(lines) : [lines.join("\n")]
        blocks.push({ heading, language: fenceLanguage, commands })
        fence = undefined
      } else fence.lines.push(line)
    } else if (mark !== undefined) fence = { mark, language, lines: [] }
    else heading = /^#+ +(.*?) *$/.exec(line)?.[1] ?? heading
  }
  if (fence !== undefined) throw new Error(`a block below "${heading}" has no end`)
  return blocks
}

/** Splits lines into commands. A line that ends in a backslash, a pipe or an operator continues the command. */
function commandsIn(lines: readonly string[]): readonly string[] {
  const commands: string[] = []
  let open = false
  for (const line of lines) {
    if (open) commands.push(`${commands.pop()}\n${line}`)
    else if (!/^\s*(#|$)/.test(line)) commands.push(line)
    open = (open || !/^\s*(#|$)/.test(line)) && /(\\|\||&&)$/.test(line)
  }
  return commands
}
