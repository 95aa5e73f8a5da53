// Polls a folder and reports its content after it stopped changing. Polling works everywhere: on network file systems, in containers, and
// with editors that replace files. File notifications, where available, shorten the wait.
import { stat } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { type OperatorRuntime, pause } from "../runtime.ts"
import { ChangeNotifier } from "./change-notifier.ts"
import { type ManifestFolder, manifestFiles, readManifests } from "./manifests.ts"

type FolderRuntime = Pick<OperatorRuntime, "log" | "stopwatch" | "timers">

const usualPollMs = 250
/** Maximum share of the time that polling takes, so that a large folder is polled less often. */
const pollShare = 0.05
/** Maximum share after notifications, while files keep changing. */
const wokenShare = 0.25
const wokenMs = 20
/** Time within which a partly written file is expected to change again. */
const settleMs = 100
/** Longer wait for deleted files, because editors and `git checkout` delete a file and write it again. */
const goneMs = 750
const maxSettleAttempts = 50
const maxGitMs = 60_000

/** Polls until the signal aborts. `found` is awaited before the next poll. If the folder cannot be read, its last content stays. */
export async function followFolder(
  folder: string,
  runtime: FolderRuntime,
  found: (content: ManifestFolder) => Promise<void>,
  signal: AbortSignal,
  { pollMs = usualPollMs }: { readonly pollMs?: number } = {},
): Promise<void> {
  using doorbell = new ChangeNotifier()
  let known: ReadonlyMap<string, string> | undefined
  let complaint = ""
  while (!signal.aborted) {
    const begunAt = runtime.stopwatch()
    let tookMs = 0
    try {
      const present = await look(folder)
      tookMs = runtime.stopwatch() - begunAt
      if (known === undefined || differs(known, present)) {
        known = await settled(folder, present, known, runtime, signal)
        if (signal.aborted) return
        doorbell.listen(new Set([folder, ...[...known.keys()].map((file) => dirname(join(folder, file)))]))
        await found(await readManifests(folder, [...known.keys()]))
      }
      complaint = ""
    } catch (error) {
      const errorText = String(error)
      if (errorText !== complaint)
        runtime.log.error("the folder of manifests cannot be read", { folder, error: errorText })
      complaint = errorText
    }
    const times = {
      leastMs: Math.max(wokenMs, tookMs / wokenShare),
      mostMs: Math.max(pollMs, tookMs / pollShare),
    }
    await doorbell.pause(times, runtime, signal)
  }
}

/** Returns the manifest files, each with a text that changes at every write. */
async function look(folder: string): Promise<ReadonlyMap<string, string>> {
  const seen = new Map<string, string>()
  for (const file of await manifestFiles(folder)) {
    const facts = await stat(join(folder, file), { bigint: true }).catch(() => undefined)
    if (facts !== undefined) seen.set(file, `${facts.ino} ${facts.size} ${facts.mtimeNs} ${facts.ctimeNs}`)
  }
  return seen
}

async function settled(
  folder: string,
  first: ReadonlyMap<string, string>,
  known: ReadonlyMap<string, string> | undefined,
  runtime: FolderRuntime,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  let before = first
  for (let attempt = 0; attempt < maxSettleAttempts && !signal.aborted; attempt += 1) {
    const isGone = [...(known?.keys() ?? [])].some((file) => !before.has(file))
    await pause(isGone ? goneMs : settleMs, runtime, signal)
    const present = await look(folder)
    const rests = !differs(before, present)
    before = present
    if (rests) break
  }
  const begunAt = runtime.stopwatch()
  while (!signal.aborted && runtime.stopwatch() - begunAt < maxGitMs && (await gitWrites(folder))) {
    await pause(settleMs, runtime, signal)
    before = await look(folder)
  }
  return before
}

const differs = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): boolean =>
  before.size !== after.size || [...before].some(([file, facts]) => after.get(file) !== facts)

/** Returns whether git is changing the working copy, during which `index.lock` exists. */
async function gitWrites(folder: string): Promise<boolean> {
  for (let above = resolve(folder); ; above = dirname(above)) {
    if (await exists(join(above, ".git"))) return exists(join(above, ".git", "index.lock"))
    if (above === dirname(above)) return false
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
