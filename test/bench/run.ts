// Runs every test/bench/*.bench.ts, or those whose names contain an argument, one after another. Each runs in a separate process, so that
// none measures another's heap. A bench prints its figures and fails by its exit status. `--operator` runs those in test/bench/operator
// instead, which need an API server and most of an hour. `--write FILE` saves the figures, and `--against FILE` prints those of an earlier
// run next to them.
import { spawnSync } from "node:child_process"
import { globSync, writeFileSync } from "node:fs"
import { basename, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { earlierFiguresVariable, writtenFiguresVariable } from "./figures.ts"

const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { operator: { type: "boolean" }, write: { type: "string" }, against: { type: "string" } },
})
const folder = fileURLToPath(new URL(options.operator === true ? "operator/" : ".", import.meta.url))
const benches = globSync("*.bench.ts", { cwd: folder })
  .toSorted()
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
const environment = { ...process.env }
if (options.write !== undefined) {
  writeFileSync(options.write, "")
  environment[writtenFiguresVariable] = resolve(options.write)
}
if (options.against !== undefined) environment[earlierFiguresVariable] = resolve(options.against)

if (benches.length === 0) {
  console.error(`No bench in ${folder} is called like ${wanted.join(", ") || "*.bench.ts"}.`)
  process.exitCode = 1
}
for (const file of benches) {
  console.log(`\n${basename(file, ".bench.ts")}`)
  const { status } = spawnSync(process.execPath, ["--expose-gc", file], {
    cwd: folder,
    env: environment,
    stdio: "inherit",
  })
  if (status !== 0) process.exitCode = status ?? 1
}
