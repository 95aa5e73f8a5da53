// Prints the tables of docs/scale.md; with --write, writes them to it; with --check, fails if it has others.
import { readFileSync, writeFileSync } from "node:fs"
import { documentFile, measuredCosts, tablesOf, withTables } from "./tables.ts"

const tables = tablesOf(measuredCosts())
const args = process.argv.slice(2)
if (args.includes("--write") || args.includes("--check")) {
  const document = readFileSync(documentFile, "utf8")
  const written = withTables(document, tables)
  if (args.includes("--write")) writeFileSync(documentFile, written)
  else if (written !== document) {
    process.stderr.write("docs/scale.md is stale; run npm run simulate -- --write\n")
    process.exitCode = 1
  }
} else process.stdout.write(`${Object.values(tables).join("\n\n")}\n`)
