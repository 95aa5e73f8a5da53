// docs/permissions.md: written for people, with the generated table in its middle.
import { readFile, writeFile } from "node:fs/promises"

const file = new URL("../../docs/permissions.md", import.meta.url)
const begin = "<!-- table: written by `npm run permissions` -->"
const end = "<!-- end of table -->"

/** The lines between the marks. */
export async function readTable(): Promise<readonly string[]> {
  const { table } = split(await readFile(file, "utf8"))
  return table.split("\n").filter((line) => line !== "")
}

export async function writeTable(lines: readonly string[]): Promise<void> {
  const { before, after } = split(await readFile(file, "utf8"))
  await writeFile(file, [before, "", ...lines, "", after].join("\n"))
}

function split(text: string) {
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from === -1 || to < from) throw new Error("docs/permissions.md has lost the marks around its table")
  return {
    before: text.slice(0, from + begin.length),
    table: text.slice(from + begin.length, to),
    after: text.slice(to),
  }
}
