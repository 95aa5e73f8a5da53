// Reads and writes the generated tables of docs/permissions.md, one for each of the two APIs.
import { readFile, writeFile } from "node:fs/promises"

const file = new URL("../../../docs/permissions.md", import.meta.url)
/** API that the table is about. */
export type TableName = "workspaces" | "certificates"

const begins: Readonly<Record<TableName, string>> = {
  workspaces: "<!-- table: written by `npm run permissions` -->",
  certificates: "<!-- table of the certificate API: written by `npm run permissions` -->",
}
const end = "<!-- end of table -->"

/** Returns the lines between the marks. */
export async function readTable(name: TableName = "workspaces"): Promise<readonly string[]> {
  const { table } = split(await readFile(file, "utf8"), name)
  return table.split("\n").filter((line) => line !== "")
}

export async function writeTable(lines: readonly string[], name: TableName = "workspaces"): Promise<void> {
  const { before, after } = split(await readFile(file, "utf8"), name)
  await writeFile(file, [before, "", ...lines, "", after].join("\n"))
}

function split(text: string, name: TableName) {
  const begin = begins[name]
  const from = text.indexOf(begin)
  const to = text.indexOf(end, from)
  if (from === -1 || to < from) throw new Error("docs/permissions.md has lost the marks around its tables")
  return {
    before: text.slice(0, from + begin.length),
    table: text.slice(from + begin.length, to),
    after: text.slice(to),
  }
}
