// Runs the tests that take minutes. `--short` sets CHANCERY_SHORT=1, which limits them to a sample; all other arguments are passed to
// vitest. The commit seeds the sample unless CHANCERY_SEED is set, so that a run that passed once passes elsewhere too; full runs use a new
// seed each time.
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const args = process.argv.slice(2)
const vitest = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url))
const config = fileURLToPath(new URL("vitest.config.ts", import.meta.url))

const { status } = spawnSync(
  process.execPath,
  [vitest, "run", "--config", config, ...args.filter((argument) => argument !== "--short")],
  {
    stdio: "inherit",
    env: args.includes("--short") ? { ...seedOfCommit(), ...process.env, CHANCERY_SHORT: "1" } : process.env,
  },
)
process.exitCode = status ?? 1

/** Returns a seed below 2²⁰, or nothing if the sources are no git clone. */
function seedOfCommit(): NodeJS.ProcessEnv {
  const { stdout, status: found } = spawnSync("git", ["rev-parse", "HEAD"], {
    encoding: "utf8",
    cwd: import.meta.dirname,
  })
  return found === 0 ? { CHANCERY_SEED: String(Number.parseInt(stdout.slice(0, 5), 16)) } : {}
}
