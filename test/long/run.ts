// Runs the tests that take minutes. `--short` tells them, by CHANCERY_SHORT=1, to make do with a sample; every other
// argument is vitest's. What a sample tries is drawn by the commit unless CHANCERY_SEED is set, so that what passed once
// passes elsewhere too; whole runs try something new each time.
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const given = process.argv.slice(2)
const vitest = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url))
const config = fileURLToPath(new URL("vitest.config.ts", import.meta.url))

const { status } = spawnSync(
  process.execPath,
  [vitest, "run", "--config", config, ...given.filter((argument) => argument !== "--short")],
  {
    stdio: "inherit",
    env: given.includes("--short") ? { ...seedOfCommit(), ...process.env, CHANCERY_SHORT: "1" } : process.env,
  },
)
process.exitCode = status ?? 1

/** Below 2²⁰. None where the sources are no clone. */
function seedOfCommit(): NodeJS.ProcessEnv {
  const { stdout, status: found } = spawnSync("git", ["rev-parse", "HEAD"], {
    encoding: "utf8",
    cwd: import.meta.dirname,
  })
  return found === 0 ? { CHANCERY_SEED: String(Number.parseInt(stdout.slice(0, 5), 16)) } : {}
}
