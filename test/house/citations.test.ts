// Comments and pages cite only sources that readers can open: RFCs, public URLs, and files of this repository.
import { existsSync } from "node:fs"
import { glob, readFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import { citedPages, linkedFiles, outsideCitations } from "./citations.ts"

const root = join(import.meta.dirname, "../..")
const folders = ["node_modules", "dist", ".git"]
/** This test contains the texts that it searches for. */
const own = "test/house/citations"
const sources = "**/*.{ts,js,cjs,mjs,go,py,java,sh,yaml,md,rego,tf}"

interface SourceFile {
  readonly path: string
  readonly text: string
}

const isSearched = (path: string): boolean =>
  !path.startsWith(own) && !folders.some((folder) => path.split("/").includes(folder))
const files: SourceFile[] = []
for await (const path of glob(sources, { cwd: root, exclude: (name) => folders.includes(basename(name)) }))
  if (isSearched(path)) files.push({ path, text: await readFile(join(root, path), "utf8") })

test("no file cites a document that is not in the repository", () => {
  const found = files.flatMap(({ path, text }) => outsideCitations(text).map((citation) => `${path}: ${citation}`))
  expect(found).toEqual([])
})

test("every cited page exists and contains the cited heading", async () => {
  const missing: string[] = []
  for (const { path, text } of files) {
    for (const { page, heading } of citedPages(text)) {
      const headings = await headingsOf(page)
      if (headings === undefined) missing.push(`${path}: ${page}`)
      else if (heading !== undefined && !headings.has(heading)) missing.push(`${path}: ${page}, "${heading}"`)
    }
  }
  expect(missing).toEqual([])
})

test("every relative link of a page leads to a file", () => {
  const broken = files
    .filter(({ path }) => path.endsWith(".md"))
    .flatMap(({ path, text }) =>
      linkedFiles(text)
        .filter((file) => !existsSync(join(root, dirname(path), file)))
        .map((file) => `${path}: ${file}`),
    )
  expect(broken).toEqual([])
})

const known = new Map<string, ReadonlySet<string> | undefined>()

async function headingsOf(page: string): Promise<ReadonlySet<string> | undefined> {
  if (!known.has(page)) {
    const text = await readFile(join(root, page), "utf8").catch(() => undefined)
    known.set(
      page,
      text === undefined ? undefined : new Set([...text.matchAll(/^#+ +(.*?) *$/gm)].map(([, each = ""]) => each)),
    )
  }
  return known.get(page)
}

describe("citations of outside documents", () => {
  test.each([
    // The escapes keep this file out of a search for such citations.
    ["// Kept for a minute (architecture\u00200.23).", "architecture\u00200.23"],
    ["/** As Vault has it (pki-facts\u00202.7). */", "pki-facts"],
    ["// Locks (specification, section 3).", "specification, section 3"],
    ["/** Specification 4.11. */", "Specification 4.11."],
    ["// Section 5 of the specification, rule by rule.", "the specification"],
    ["// Reads come first (issue 3, line 4).", "issue 3"],
    ["/**\n * Who may read a state (workspace-facts\n * 1.9).\n */", "workspace-facts"],
  ])("are found in %j", (text, citation) => {
    expect(outsideCitations(text)).toContain(citation)
  })

  test.each([
    "// RFC 5280, section 4.2.1.3",
    "// https://github.com/hashicorp/vault/issues/9176",
    "// hashicorp/vault#9176",
    "/** A binary for one architecture. */",
    "// Object identifiers of a specification of 1988",
  ])("are not found in %j", (text) => {
    expect(outsideCitations(text)).toEqual([])
  })
})

test("cited pages are found with their headings, on one line and on two", () => {
  const text = [
    '// Clients match this (docs/compatibility.md, "Matched texts").',
    "/**",
    " * The heartbeat (docs/locks.md,",
    ' * "Extend a lock"), as `docs/decisions/lock-expiry.md` decides.',
    " */",
    'const page = "../../docs/scale.md"',
  ].join("\n")
  expect(citedPages(text)).toEqual([
    { page: "docs/compatibility.md", heading: "Matched texts" },
    { page: "docs/locks.md", heading: "Extend a lock" },
    { page: "docs/decisions/lock-expiry.md" },
  ])
})

test("relative links are found; addresses, anchors and code are not links", () => {
  const page =
    "[a](a.md), [b](../b.md#part), [c](https://example.com/c.md), [d](#d), `[e](e.md)`\n```\n[f](f.md)\n```\n"
  expect(linkedFiles(page)).toEqual(["a.md", "../b.md"])
})
