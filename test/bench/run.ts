// Runs every test/bench/*.bench.ts, or those whose names contain an argument, one after another and each in a process
// of its own, so that none measures another's heap. A bench prints its figures and fails by its exit status. `--operator` runs
// those in test/bench/operator instead, which take an apiserver and most of an hour.
import { spawnSync } from "node:child_process"
import { globSync } from "node:fs"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"

const ofOperator = process.argv.includes("--operator")
const folder = fileURLToPath(new URL(ofOperator ? "operator/" : ".", import.meta.url))
const wanted = process.argv.slice(2).filter((argument) => argument !== "--operator")
const benches = globSync("*.bench.ts", { cwd: folder })
  .toSorted()
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))

if (benches.length === 0) {
  console.error(`No bench in ${folder} is called like ${wanted.join(", ") || "*.bench.ts"}.`)
  process.exitCode = 1
}
for (const file of benches) {
  console.log(`\n${basename(file, ".bench.ts")}`)
  const { status } = spawnSync(process.execPath, ["--expose-gc", file], { cwd: folder, stdio: "inherit" })
  if (status !== 0) process.exitCode = status ?? 1
}
