// Runs the tests that take minutes. `--short` tells them, by CHANCERY_SHORT=1, to make do with a sample; every other
// argument is vitest's.
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const given = process.argv.slice(2)
const vitest = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url))
const config = fileURLToPath(new URL("vitest.config.ts", import.meta.url))

const { status } = spawnSync(
  process.execPath,
  [vitest, "run", "--config", config, ...given.filter((argument) => argument !== "--short")],
  { stdio: "inherit", env: { ...process.env, ...(given.includes("--short") ? { CHANCERY_SHORT: "1" } : {}) } },
)
process.exitCode = status ?? 1
