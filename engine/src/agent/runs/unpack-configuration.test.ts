import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { Header } from "tar"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { tarball } from "../../../testing/tar-archive.ts"
import { entryProblem, unpackConfiguration } from "./unpack-configuration.ts"

let root = ""
let folder = ""
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "unpack-"))
})
beforeEach(async () => {
  folder = await mkdtemp(join(root, "run-"))
})
afterAll(() => rm(root, { recursive: true, force: true }))

interface Entry {
  readonly path: string
  readonly type?: "File" | "SymbolicLink" | "Link" | "CharacterDevice" | "FIFO"
  readonly linkpath?: string
  readonly text?: string
}

function archive(entries: readonly Entry[]): Uint8Array {
  const blocks = entries.flatMap(({ path, type = "File", linkpath, text = "" }) => {
    const header = new Header({
      path,
      type,
      mode: 0o644,
      size: text.length,
      ...(linkpath === undefined ? {} : { linkpath }),
    })
    const block = Buffer.alloc(512)
    header.encode(block)
    const content = Buffer.alloc(Math.ceil(text.length / 512) * 512)
    content.write(text)
    return [block, content]
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]))
}

test("unpackConfiguration writes files, folders and links that stay inside", async () => {
  await unpackConfiguration(tarball({ "main.tf": "one", "modules/a/main.tf": "two" }), folder)
  expect(await readFile(join(folder, "main.tf"), "utf8")).toBe("one")
  expect(await readFile(join(folder, "modules/a/main.tf"), "utf8")).toBe("two")
  const linked = [
    { path: "real.tf", text: "three" },
    { path: "deep/link.tf", type: "SymbolicLink", linkpath: "../real.tf" },
  ] as const
  await unpackConfiguration(archive(linked), folder)
  expect(await readFile(join(folder, "deep/link.tf"), "utf8")).toBe("three")
})

describe("unpackConfiguration rejects, and writes nothing outside of the folder, when", () => {
  test.each<{ problem: string; entries: readonly Entry[] }>([
    { problem: "a path with ..", entries: [{ path: "../escaped.tf", text: "x" }] },
    { problem: "a path with .. below a folder", entries: [{ path: "a/../../escaped.tf", text: "x" }] },
    { problem: "an absolute path", entries: [{ path: "/tmp/escaped.tf", text: "x" }] },
    { problem: "a link to the outside", entries: [{ path: "out", type: "SymbolicLink", linkpath: "../.." }] },
    { problem: "an absolute link", entries: [{ path: "out", type: "SymbolicLink", linkpath: "/etc" }] },
    {
      problem: "a file below a link to the outside",
      entries: [
        { path: "out", type: "SymbolicLink", linkpath: ".." },
        { path: "out/escaped.tf", text: "x" },
      ],
    },
    { problem: "a hard link to the outside", entries: [{ path: "passwd", type: "Link", linkpath: "/etc/passwd" }] },
    { problem: "a device", entries: [{ path: "null", type: "CharacterDevice" }] },
    { problem: "a pipe", entries: [{ path: "pipe", type: "FIFO" }] },
  ])("the archive has $problem", async ({ entries }) => {
    const before = await readdir(root)
    await expect(unpackConfiguration(archive(entries), folder)).rejects.toMatchObject({ name: "RunFailure" })
    expect(await readdir(root)).toEqual(before)
  })

  test("the bytes are no archive", async () => {
    await expect(unpackConfiguration(Buffer.from("no archive"), folder)).rejects.toThrow("not a tar archive")
    await expect(unpackConfiguration(gzipSync(Buffer.alloc(2048, "x")), folder)).rejects.toThrow("not a tar archive")
  })

  test("a small archive unpacks to gigabytes", async () => {
    const header = Buffer.alloc(512)
    new Header({ path: "zeros", type: "File", mode: 0o644, size: 600 * 1024 * 1024 }).encode(header)
    const bomb = gzipSync(Buffer.concat([header, Buffer.alloc(600 * 1024 * 1024)]), { level: 1 })
    await expect(unpackConfiguration(bomb, folder)).rejects.toThrow("more than 536870912 bytes")
  }, 60_000)
})

test.each([
  { path: "a", type: "File", problem: undefined },
  { path: "a/..", type: "Directory", problem: undefined },
  { path: "..a", type: "File", problem: undefined },
  { path: "a/../..", type: "Directory", problem: "leads out" },
  { path: "a\0b", type: "File", problem: "leads out" },
  { path: "a", type: "SymbolicLink", linkpath: "b/../c", problem: undefined },
  { path: "a/b", type: "SymbolicLink", linkpath: "../c", problem: undefined },
  { path: "a/b", type: "SymbolicLink", linkpath: "../../c", problem: "leads out" },
  { path: "a", type: "BlockDevice", problem: "type BlockDevice" },
])("entryProblem returns $problem when the entry is $type $path $linkpath", ({ path, type, linkpath, problem }) => {
  const found = entryProblem(path, { type, ...(linkpath === undefined ? {} : { linkpath }) })
  expect(found === undefined ? found : found.includes(problem ?? "?")).toBe(problem === undefined ? undefined : true)
})
