// A stack whose provider process dies repeatedly; runs are repeated until one succeeds.
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect } from "vitest"
import type { Ran, TestStack } from "./stack.ts"

/** Repeats `run` until it succeeds. The provider's process dies once at each of these operations (`KIND METHOD`). */
type Dying = (operations: readonly string[], run: () => Promise<Ran>) => Promise<void>

export function dyingAt(stack: TestStack): Dying {
  const note = join(stack.folder, "dies-at")
  stack.setEnvironment({
    NODE_OPTIONS: `--import=${fileURLToPath(new URL("crashing-provider.ts", import.meta.url))}`,
    CHANCERY_TEST_DIES_AT: note,
  })
  return async (operations, run) => {
    await writeFile(note, operations.join("\n"))
    await untilDone(run)
    // The process died at each of them.
    expect(await readFile(note, "utf8")).toBe("")
  }
}

const maxRuns = 15

/** Repeats `run` until it succeeds; each run continues after a failed one. */
export async function untilDone(run: () => Promise<Ran>): Promise<void> {
  for (let runs = 1; ; runs += 1) {
    try {
      await run()
      return
    } catch (error) {
      if (runs === maxRuns) throw error
    }
  }
}
