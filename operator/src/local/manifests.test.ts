import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { manifestFiles, parseManifests, readManifests } from "./manifests.ts"

const workspace = (name: string) => `kind: Workspace\nmetadata:\n  name: ${name}\n`

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "chancery-manifests-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), text)
  }
  return folder
}

test("every document is a separate manifest with its line", () => {
  const { manifests, faults } = parseManifests(
    "a.yaml",
    `# two\n${workspace("a")}---\n${workspace("b")}---\n# nothing\n`,
  )
  expect(faults).toEqual([])
  expect(manifests.map(({ line, object }) => [line, object["metadata"]])).toEqual([
    [2, { name: "a" }],
    [6, { name: "b" }],
  ])
  expect(manifests[1]?.lineOf(["metadata", "name"])).toBe(8)
})

test("a missing field has the line of its parent", () => {
  const [manifest] = parseManifests("a.yaml", "kind: A\nspec:\n  list:\n    - x: 1\n    - x: 2\n").manifests
  expect(manifest?.lineOf(["spec", "list", "1", "x"])).toBe(5)
  expect(manifest?.lineOf(["spec", "list", "7", "x"])).toBe(4)
  expect(manifest?.lineOf(["spec", "missing", "deep"])).toBe(3)
  expect(manifest?.lineOf(["status"])).toBe(1)
})

test("parseManifests reads JSON and lists", () => {
  const { manifests } = parseManifests("a.json", '{"kind": "List", "items": [\n{"kind": "A"},\n{"kind": "B"}]}')
  expect(manifests.map(({ line, object }) => [line, object])).toEqual([
    [2, { kind: "A" }],
    [3, { kind: "B" }],
  ])
})

test.each([
  { text: "kind: [", line: 1, says: /is not valid YAML/, why: "half a file" },
  { text: "kind: A\nkind: B\n", line: 2, says: /is not valid YAML: .*unique/, why: "a member twice" },
  { text: "a\n", line: 1, says: /must be an object/, why: "a word" },
  { text: "- kind: A\n", line: 1, says: /must be an object/, why: "a list" },
  { text: "kind: List\nitems:\n  - 1\n", line: 3, says: /items\.0/, why: "a list of numbers" },
])("$why is a fault with its line", ({ text, line, says }) => {
  const { manifests, faults } = parseManifests("a.yaml", text)
  expect(manifests).toEqual([])
  expect(faults).toEqual([{ file: "a.yaml", line, message: expect.stringMatching(says) as string }])
})

test("a file with a fault keeps its other documents, and is distinct from a deleted file", async () => {
  const folder = await folderWith({ "a.yaml": `${workspace("a")}---\nb: [\n`, "c.yaml": workspace("c") })
  const { manifests, unreadable } = await readManifests(folder, ["a.yaml", "c.yaml", "gone.yaml"])
  expect(manifests.map(({ file }) => file)).toEqual(["a.yaml", "c.yaml"])
  expect([...unreadable]).toEqual(["a.yaml", "gone.yaml"])
})

test("an alias that expands beyond the limit is rejected", async () => {
  const bomb = [
    "a: &a [1,1,1,1,1,1,1,1,1,1]",
    ..."bcdefghi".split("").map((name, index) => {
      const above = String.fromCodePoint(97 + index)
      return `${name}: &${name} [${Array.from({ length: 10 }, () => `*${above}`).join(",")}]`
    }),
  ].join("\n")
  const folder = await folderWith({ "bomb.yaml": bomb })
  expect((await readManifests(folder, ["bomb.yaml"])).faults).toHaveLength(1)
})

test("manifests are found in subfolders, except hidden files and links", async () => {
  const folder = await folderWith({ "b/c.yml": "", "a.yaml": "", ".git/x.yaml": "", "read.me": "", "b/.swp.yaml": "" })
  await symlink(folder, join(folder, "b/up"))
  await symlink(join(folder, "a.yaml"), join(folder, "z.yaml"))
  expect(await manifestFiles(folder)).toEqual(["a.yaml", "b/c.yml", "z.yaml"])
})
