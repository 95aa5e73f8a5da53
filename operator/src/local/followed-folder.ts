// Looks at a folder again and again, and tells what is in it once it has come to rest. Looking is what works everywhere: on
// network file systems, in containers, and when an editor puts another file in the old one's place. Where the system tells of
// changes it is looked at as soon as there is one.
import { stat } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { type OperatorRuntime, pause } from "../runtime.ts"
import { Doorbell } from "./change-notifier.ts"
import { type ManifestFolder, manifestFiles, readManifests } from "./manifests.ts"

type FolderRuntime = Pick<OperatorRuntime, "log" | "stopwatch" | "timers">

const usualPollMs = 250
/** Of the time, at most, that looking takes: a large folder is looked at less often. */
const pollShare = 0.05
/** The same where somebody goes on writing. */
const wokenShare = 0.25
const wokenMs = 20
/** What is half written is written on within this. */
const settleMs = 100
/** A file that is gone may be on its way back: editors and `git checkout` take it away and write it anew. */
const goneMs = 750
const settleAttemptsMaximum = 50
const gitMaximumMs = 60_000

/** Looks until the signal; `found` is awaited before the next look. A folder that cannot be looked at is what it was. */
export async function followFolder(
  folder: string,
  runtime: FolderRuntime,
  found: (content: ManifestFolder) => Promise<void>,
  signal: AbortSignal,
  { pollMs = usualPollMs }: { readonly pollMs?: number } = {},
): Promise<void> {
  using doorbell = new Doorbell()
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
      const said = String(error)
      if (said !== complaint) runtime.log.error("the folder of manifests cannot be read", { folder, error: said })
      complaint = said
    }
    const times = {
      leastMs: Math.max(wokenMs, tookMs / wokenShare),
      mostMs: Math.max(pollMs, tookMs / pollShare),
    }
    await doorbell.pause(times, runtime, signal)
  }
}

/** Every manifest, with what changes whenever it is written. */
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
  for (let attempt = 0; attempt < settleAttemptsMaximum && !signal.aborted; attempt += 1) {
    const isGone = [...(known?.keys() ?? [])].some((file) => !before.has(file))
    await pause(isGone ? goneMs : settleMs, runtime, signal)
    const present = await look(folder)
    const rests = !differs(before, present)
    before = present
    if (rests) break
  }
  const begunAt = runtime.stopwatch()
  while (!signal.aborted && runtime.stopwatch() - begunAt < gitMaximumMs && (await gitWrites(folder))) {
    await pause(settleMs, runtime, signal)
    before = await look(folder)
  }
  return before
}

const differs = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): boolean =>
  before.size !== after.size || [...before].some(([file, facts]) => after.get(file) !== facts)

/** Whether the working copy that the folder is in is being changed as a whole; git holds this file for as long. */
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
