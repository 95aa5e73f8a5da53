import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { openLocalExecutor } from "./local-executor.ts"

const state = (serial: number): string => JSON.stringify({ version: 4, serial, lineage: "one", resources: [] })

/** Opens an executor in a folder with a run that an earlier agent left. */
async function startAfterCrash(left: Readonly<Record<string, string>>) {
  const dataFolder = await mkdtemp(join(tmpdir(), "chancery-agent-"))
  onTestFinished(() => rm(dataFolder, { recursive: true, force: true }))
  const run = join(dataFolder, "runs", "run-1-AbCdEf")
  await mkdir(join(run, "state", "web"), { recursive: true })
  for (const [name, text] of Object.entries(left)) await writeFile(join(run, name), text)
  const printed: string[] = []
  const executor = await openLocalExecutor({
    claims: undefined as never,
    tools: undefined as never,
    isolation: undefined as never,
    dataFolder,
    toolKind: "terraform",
    passed: {},
    leaseMs: 60_000,
    snapshotEveryMs: 20_000,
    maxLogBytes: 1_000_000,
    print: (text) => void printed.push(text),
  })
  await executor[Symbol.asyncDispose]()
  const folder = join(dataFolder, "unsaved-states")
  const names = await readdir(folder).catch(() => [])
  const kept = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")))
  return { kept, printed, runs: await readdir(join(dataFolder, "runs")) }
}

const stateFile = "state/web/terraform.tfstate"

test.each([
  { left: { [stateFile]: state(1) }, kept: [state(1)], name: "the workspace had no state before" },
  { left: { [stateFile]: state(2), "state-before": state(1) }, kept: [state(2)], name: "the apply changed the state" },
  { left: { [stateFile]: state(1), "state-before": state(1) }, kept: [], name: "the apply changed nothing" },
  { left: {}, kept: [], name: "there is no state" },
  // Terraform makes the file before it has a state.
  { left: { [stateFile]: "" }, kept: [], name: "the state is empty" },
])("openLocalExecutor keeps $kept.length states of an earlier agent when $name", async ({ left, kept }) => {
  const started = await startAfterCrash(left)
  expect(started).toMatchObject({ kept, runs: [] })
  expect(started.printed).toHaveLength(kept.length)
})
