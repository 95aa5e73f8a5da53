#!/usr/bin/env node
// The command of the package. It stands here, before anything is built, because npm links only commands that exist.
import { existsSync } from "node:fs"

const [major = 0] = process.versions.node.split(".").map(Number)
const built = new URL("../dist/cli/main.js", import.meta.url)

if (major < 24) fail(`Chancery needs Node 24 or newer, and this is ${process.version}; in a clone, type npx chancery.`)
else if (!existsSync(built)) fail("Chancery is not built yet; type npm run build.")
else await import(built.href)

function fail(sentence) {
  process.stderr.write(`chancery: ${sentence}\n`)
  process.exitCode = 78
}
