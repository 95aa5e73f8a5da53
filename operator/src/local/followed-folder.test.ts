import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { systemRuntime, type Timers } from "../runtime.ts"
import { followFolder } from "./followed-folder.ts"

const lamp = (name: string) => `kind: Lamp\nmetadata: {name: ${name}}\n`

/** Timers that hold the pauses after a change for the test. All other timers fire by themselves. */
function gatedTimers(timers: Timers) {
  const gated: readonly number[] = [100, 750]
  const held: { readonly delayMs: number; readonly work: () => void }[] = []
  let isClosed = false
  const gate: Timers = {
    after(delayMs, work) {
      if (!isClosed || !gated.includes(delayMs)) return timers.after(delayMs, work)
      const pause = { delayMs, work }
      held.push(pause)
      return () => void held.splice(held.indexOf(pause) >>> 0, 1)
    },
  }
  return {
    gate,
    close: () => void (isClosed = true),
    /** Waits until such a pause has begun, and returns its length in milliseconds. */
    async pausing(): Promise<number | undefined> {
      await expect.poll(() => held.length).toBe(1)
      return held[0]?.delayMs
    },
    release: () => held.shift()?.work(),
    open() {
      isClosed = false
      for (const { work } of held.splice(0)) work()
    },
  }
}

async function following(files: Readonly<Record<string, string>>, options: { readonly pollMs?: number } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "chancery-followed-"))
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), text)
  }
  const seen: string[][] = []
  const complaints: string[] = []
  const log = { debug() {}, info() {}, warn() {}, error: (event: string) => void complaints.push(event) }
  const runtime = systemRuntime(log)
  const pauses = gatedTimers(runtime.timers)
  let looks = 0
  const stopwatch = () => {
    looks += 1
    return runtime.stopwatch()
  }
  const ending = new AbortController()
  const over = followFolder(
    folder,
    { ...runtime, stopwatch, timers: pauses.gate },
    async ({ manifests }) =>
      void seen.push(manifests.map(({ object }) => (object["metadata"] as { name: string }).name)),
    ending.signal,
    options,
  )
  onTestFinished(async () => {
    ending.abort()
    pauses.open()
    await over
    await rm(folder, { recursive: true, force: true })
  })
  await expect.poll(() => seen.length).toBe(1)
  /** Waits until the folder has been read several times more. */
  const looked = () => {
    const until = looks + 8
    return expect.poll(() => looks).toBeGreaterThan(until)
  }
  return { folder, seen, complaints, pauses, looked, path: (file: string) => join(folder, file) }
}

test("a written file is reported as soon as writes pause, independently of the polling interval", async () => {
  const { seen, path } = await following({ "a.yaml": lamp("a"), "below/b.yaml": lamp("b") }, { pollMs: 3_600_000 })
  await writeFile(path("a.yaml"), lamp("c"))
  await expect.poll(() => seen.at(-1)).toEqual(["c", "b"])
  await writeFile(path("below/b.yaml.new"), lamp("d"))
  await rename(path("below/b.yaml.new"), path("below/b.yaml"))
  await expect.poll(() => seen.at(-1)).toEqual(["c", "d"])
  await writeFile(path("e.yaml"), lamp("e"))
  await expect.poll(() => seen.at(-1)).toEqual(["c", "d", "e"])
})

test("[F-T1] existing files and later writes are reported once each", async () => {
  const { seen, path } = await following({ "a.yaml": lamp("a") })
  await writeFile(path("a.yaml"), lamp("b"))
  await expect.poll(() => seen).toEqual([["a"], ["b"]])
  await mkdir(path("below"))
  await writeFile(path("below/c.yaml"), lamp("c"))
  await expect.poll(() => seen).toEqual([["a"], ["b"], ["b", "c"]])
  await rm(path("a.yaml"))
  await expect.poll(() => seen).toEqual([["a"], ["b"], ["b", "c"], ["c"]])
  await writeFile(path("d.yaml"), lamp("d"))
  await expect.poll(() => seen).toEqual([["a"], ["b"], ["b", "c"], ["c"], ["c", "d"]])
})

test("[F-T1] a file that an editor replaces is not reported as deleted", async () => {
  const { seen, path, pauses } = await following({ "a.yaml": lamp("a"), "b.yaml": lamp("b") })
  pauses.close()
  await rm(path("a.yaml"))
  expect(await pauses.pausing()).toBe(750)
  await writeFile(path("a.yaml.new"), lamp("c"))
  await rename(path("a.yaml.new"), path("a.yaml"))
  pauses.open()
  await expect
    .poll(() => seen)
    .toEqual([
      ["a", "b"],
      ["c", "b"],
    ])
})

test("[F-T1] a file that is written in parts is read once it is complete", async () => {
  const { seen, path, pauses } = await following({ "a.yaml": lamp("a") })
  pauses.close()
  for (let length = 7; length > 0; length -= 1) {
    await writeFile(path("a.yaml"), lamp("whole").slice(0, -length * 2))
    expect(await pauses.pausing()).toBe(100)
    // A read before the next write would take the file for complete.
    await writeFile(path("a.yaml"), lamp("whole").slice(0, -length * 2 + 1))
    pauses.release()
  }
  await pauses.pausing()
  await writeFile(path("a.yaml"), lamp("whole"))
  pauses.open()
  await expect.poll(() => seen.at(-1)).toEqual(["whole"])
  expect(seen).toEqual([["a"], ["whole"]])
})

test("[F-T1] the folder is not read while git changes the working copy", async () => {
  const { seen, path, looked } = await following({ "a.yaml": lamp("a") })
  await mkdir(path(".git"))
  await writeFile(path(".git/index.lock"), "")
  await writeFile(path("a.yaml"), lamp("b"))
  await looked()
  await writeFile(path("a.yaml"), lamp("c"))
  await rm(path(".git/index.lock"))
  await expect.poll(() => seen).toEqual([["a"], ["c"]])
})

test("[F-T1] a missing folder deletes nothing, and is logged once", async () => {
  const { seen, folder, path, complaints, looked } = await following({ "a.yaml": lamp("a") })
  await rename(folder, `${folder}-away`)
  await expect.poll(() => complaints).toEqual(["the folder of manifests cannot be read"])
  await looked()
  await rename(`${folder}-away`, folder)
  await writeFile(path("b.yaml"), lamp("b"))
  await expect.poll(() => seen).toEqual([["a"], ["a", "b"]])
  expect(complaints).toHaveLength(1)
})
