import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { run } from "../src/cli/program.ts"

/** Returns a function that runs commands in this process, on one database that is removed after the test. */
export async function commandsWithStore() {
  const data = await mkdtemp(join(tmpdir(), "chancery-"))
  onTestFinished(() => rm(data, { recursive: true, force: true }))
  const chancery = async (...words: readonly string[]) => {
    let out = ""
    let stderr = ""
    const code = await run(words, {
      out: (text) => void (out += `${text}\n`),
      say: (text) => void (stderr += `${text}\n`),
      input: async () => "",
      environment: { CHANCERY_DATA: data, CHANCERY_LOG_LEVEL: "silent" },
    })
    return { code, out, stderr }
  }
  return { chancery, data }
}
