import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, onTestFinished, test } from "vitest"
import { systemRuntime } from "../runtime.ts"
import { followFolder } from "./followed-folder.ts"

const lamp = (name: string) => `kind: Lamp\nmetadata: {name: ${name}}\n`

async function following(files: Readonly<Record<string, string>>, options: { readonly pollMs?: number } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "chancery-followed-"))
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), text)
  }
  const seen: string[][] = []
  const complaints: string[] = []
  const log = { debug() {}, info() {}, warn() {}, error: (event: string) => void complaints.push(event) }
  const ending = new AbortController()
  const over = followFolder(
    folder,
    systemRuntime(log),
    async ({ manifests }) =>
      void seen.push(manifests.map(({ object }) => (object["metadata"] as { name: string }).name)),
    ending.signal,
    options,
  )
  onTestFinished(async () => {
    ending.abort()
    await over
    await rm(folder, { recursive: true, force: true })
  })
  await expect.poll(() => seen.length).toBe(1)
  return { folder, seen, complaints, path: (file: string) => join(folder, file) }
}

test("what is written is told as soon as it rests, whenever the next look would be", async () => {
  const { seen, path } = await following({ "a.yaml": lamp("a"), "below/b.yaml": lamp("b") }, { pollMs: 3_600_000 })
  await writeFile(path("a.yaml"), lamp("c"))
  await expect.poll(() => seen.at(-1)).toEqual(["c", "b"])
  await writeFile(path("below/b.yaml.new"), lamp("d"))
  await rename(path("below/b.yaml.new"), path("below/b.yaml"))
  await expect.poll(() => seen.at(-1)).toEqual(["c", "d"])
  await writeFile(path("e.yaml"), lamp("e"))
  await expect.poll(() => seen.at(-1)).toEqual(["c", "d", "e"])
})

test("what is there is told at first, and what is written, once each", async () => {
  const { seen, path } = await following({ "a.yaml": lamp("a") })
  await writeFile(path("a.yaml"), lamp("b"))
  await expect.poll(() => seen).toEqual([["a"], ["b"]])
  await mkdir(path("below"))
  await writeFile(path("below/c.yaml"), lamp("c"))
  await expect.poll(() => seen).toEqual([["a"], ["b"], ["b", "c"]])
  await rm(path("a.yaml"))
  await expect.poll(() => seen).toEqual([["a"], ["b"], ["b", "c"], ["c"]])
  await sleep(600)
  expect(seen).toHaveLength(4)
})

test("a file that an editor takes away and writes anew was never gone", async () => {
  const { seen, path } = await following({ "a.yaml": lamp("a"), "b.yaml": lamp("b") })
  await rm(path("a.yaml"))
  await sleep(400)
  await writeFile(path("a.yaml.new"), lamp("c"))
  await rename(path("a.yaml.new"), path("a.yaml"))
  await expect
    .poll(() => seen)
    .toEqual([
      ["a", "b"],
      ["c", "b"],
    ])
})

test("what is written bit by bit is read once it is whole", async () => {
  const { seen, path } = await following({ "a.yaml": lamp("a") })
  for (let length = 1; length < 8; length += 1) {
    await writeFile(path("a.yaml"), lamp("whole").slice(0, -length * 2))
    await sleep(30)
  }
  await writeFile(path("a.yaml"), lamp("whole"))
  await expect.poll(() => seen.at(-1)).toEqual(["whole"])
  expect(seen).toEqual([["a"], ["whole"]])
})

test("nothing is read while git changes the working copy", async () => {
  const { seen, path } = await following({ "a.yaml": lamp("a") })
  await mkdir(path(".git"))
  await writeFile(path(".git/index.lock"), "")
  await writeFile(path("a.yaml"), lamp("b"))
  await sleep(1_000)
  await writeFile(path("a.yaml"), lamp("c"))
  await rm(path(".git/index.lock"))
  await expect.poll(() => seen).toEqual([["a"], ["c"]])
})

test("a folder that is gone has said nothing, and is complained of once", async () => {
  const { seen, folder, complaints } = await following({ "a.yaml": lamp("a") })
  await rename(folder, `${folder}-away`)
  await expect.poll(() => complaints).toEqual(["the folder of manifests cannot be read"])
  await sleep(600)
  await rename(`${folder}-away`, folder)
  await sleep(600)
  expect(seen).toEqual([["a"]])
  expect(complaints).toHaveLength(1)
})
