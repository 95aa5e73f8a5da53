#!/usr/bin/env node
// The command of the package. It stands here, before anything is built, because npm links only commands that exist.
import { existsSync } from "node:fs"

const built = new URL("../dist/cli/index.js", import.meta.url)

if (!existsSync(built)) {
  process.stderr.write("chancery-pulumi is not built; run npm run build.\n")
  process.exitCode = 78
} else {
  const { run } = await import(built.href)
  process.exitCode = await run(process.argv.slice(2), {
    environment: process.env,
    say: (text) => void process.stdout.write(text),
    complain: (text) => void process.stderr.write(text),
  })
}
