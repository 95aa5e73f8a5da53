// A stack whose provider's process ends again and again, and runs until one of them comes to its end.
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect } from "vitest"
import type { Ran, TestStack } from "./stack.ts"

/** Runs until it is done, while the provider's process dies at each of these deeds (`KIND METHOD`) once. */
type Dying = (deeds: readonly string[], run: () => Promise<Ran>) => Promise<void>

export function dyingAt(stack: TestStack): Dying {
  const note = join(stack.folder, "dies-at")
  stack.setEnvironment({
    NODE_OPTIONS: `--import=${fileURLToPath(new URL("dying-provider.ts", import.meta.url))}`,
    CHANCERY_TEST_DIES_AT: note,
  })
  return async (deeds, run) => {
    await writeFile(note, deeds.join("\n"))
    await untilDone(run)
    // It died at each of them.
    expect(await readFile(note, "utf8")).toBe("")
  }
}

const runsMaximum = 15

/** A run that fails says so, and the next one goes on. */
export async function untilDone(run: () => Promise<Ran>): Promise<void> {
  for (let runs = 1; ; runs += 1) {
    try {
      await run()
      return
    } catch (error) {
      if (runs === runsMaximum) throw error
    }
  }
}
