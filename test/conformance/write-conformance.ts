// Writes docs/conformance.md from the titles of the tests; with --check, fails if the file differs from the output.
import { globSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { claimsIn } from "./claims.ts"
import { wording } from "./wording.ts"

const target = new URL("../../docs/conformance.md", import.meta.url)
const root = new URL("../../", import.meta.url)

interface Showing {
  readonly title: string
  readonly file: string
}

const showings = await collect()
const unknown = [...showings.keys()].filter((id) => wordingOf(id) === undefined)
if (unknown.length > 0) fail(`No wording for ${unknown.join(", ")}: add it to test/conformance/wording.ts.`)

const page = render(showings)
if (!process.argv.includes("--check")) await writeFile(target, page)
else if ((await readFile(target, "utf8").catch(() => "")) !== page)
  fail("docs/conformance.md is stale: run `npm run conformance` and commit what it writes.")

async function collect(): Promise<Map<string, Showing[]>> {
  const found = new Map<string, Showing[]>()
  for (const file of files())
    for (const { id, title } of claimsIn(await readFile(new URL(file, root), "utf8"))) {
      const showing = found.get(id) ?? []
      if (!showing.some((known) => known.file === file && known.title === title)) showing.push({ title, file })
      found.set(id, showing)
    }
  return found
}

function files(): readonly string[] {
  const found = globSync(["{engine,provider,operator}/src/**/*.test.ts", "test/**/*.ts"], { cwd: root })
  return found.map((path) => path.replaceAll("\\", "/")).toSorted()
}

function render(showing: ReadonlyMap<string, readonly Showing[]>): string {
  const sections = Object.entries(wording).map(([section, items]) => {
    const rows = Object.entries(items).map(([item, words]) => {
      const id = `${section}-${item}`
      return `| ${id} | ${cell(words)} | ${(showing.get(id) ?? []).map(reference).join("<br>") || "no test yet"} |`
    })
    return [`## ${section}`, "", "| Item | Requirement | Tests |", "|---|---|---|", ...rows, ""].join("\n")
  })
  const total = Object.values(wording).flatMap((items) => Object.keys(items)).length
  return [
    "# Conformance",
    "",
    "Written by `npm run conformance` from the titles of the tests; do not edit. Each requirement has an id:",
    "section, then table row (r), numbered rule (n), bullet (b) or paragraph (p). The middle column is our own wording.",
    "",
    `${showing.size} of ${total} items are shown by a test.`,
    "",
    ...sections,
  ].join("\n")
}

function reference({ title, file }: Showing): string {
  return `${cell(title)} ([${file.split("/").at(-1)}](../${file}))`
}

/** Escapes characters of a title that would end a table cell or count as markup. */
function cell(text: string): string {
  return text.replace(/[\\|<>[\]`*_]/g, (character) => `\\${character}`)
}

function wordingOf(id: string): string | undefined {
  const end = id.lastIndexOf("-")
  return wording[id.slice(0, end)]?.[id.slice(end + 1)]
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
