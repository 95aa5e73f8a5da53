// Every command of a guide is tested: each is listed in `doc-examples.ts` below its heading, with the test that runs it.
import { access, glob, readFile } from "node:fs/promises"
import { describe, expect, test } from "vitest"
import { blocksIn, blocksOf, root } from "./guide-blocks.ts"
import { typists } from "./doc-examples.ts"

const guides = Object.keys(typists)

test("the guides for those who run a server are among those whose commands are typed", () => {
  expect(guides).toEqual(expect.arrayContaining(["docs/operations.md", "docs/hardening.md"]))
})

describe.each(guides)("%s", (document) => {
  const blocks = blocksOf(document)
  const claims = Object.entries(typists[document] ?? {})

  test("has a typist for every block, and a block for every typist", () => {
    expect(blocks.length).toBeGreaterThan(0)
    expect([...new Set(blocks.map(({ heading }) => heading))].toSorted()).toEqual(
      claims.map(([heading]) => heading).toSorted(),
    )
  })

  test("names the language of every block, and no block is empty", () => {
    expect(blocks.filter(({ language, commands }) => language === "" || commands.length === 0)).toEqual([])
  })

  test("has no two sections of one name, of which one would hide the other", async () => {
    const text = await readFile(new URL(document, root), "utf8")
    const headings = [...text.replaceAll(/^```[^]*?^```$/gm, "").matchAll(/^#+ +(.*)$/gm)].map(([, heading]) => heading)
    expect(headings).toEqual([...new Set(headings)])
  })

  test.each(claims)("is typed below %s by a test that takes it from there", async (_, { test: file }) => {
    expect(file).toMatch(/^test\/.*\.test\.ts$/)
    await access(new URL(file, root))
    const source = await readFile(new URL(file, root), "utf8")
    expect(source).toContain(`typedPage(import.meta.url, "${document}")`)
  })

  test("leaves nothing untyped but commands that it has, each with a reason", () => {
    for (const [heading, { except = {} }] of claims) {
      const commands = blocks.filter((block) => block.heading === heading).flatMap((block) => block.commands)
      expect(commands).toEqual(expect.arrayContaining(Object.keys(except)))
      for (const reason of Object.values(except)) expect(reason.split(" ").length).toBeGreaterThan(5)
      expect(Object.keys(except).length).toBeLessThan(commands.length)
    }
  })
})

describe("the blocks of a document", () => {
  test("are found below their headings, whatever fences them, and lines that go on are one command", () => {
    const text = [
      "# One",
      "```sh",
      "# says what follows",
      "first \\",
      "  --flag",
      "",
      "second | third |",
      "  fourth",
      "fifth",
      "```",
      "### Two",
      "- in a list:",
      "  ~~~bash",
      "  sixth",
      "  ~~~",
      "````yaml",
      "```",
      "a: b",
      "````",
      "```",
      "nameless",
      "```",
    ].join("\n")
    expect(blocksIn(text)).toEqual([
      { heading: "One", language: "sh", commands: ["first \\\n  --flag", "second | third |\n  fourth", "fifth"] },
      { heading: "Two", language: "bash", commands: ["  sixth"] },
      { heading: "Two", language: "yaml", commands: ["```\na: b"] },
      { heading: "Two", language: "", commands: ["nameless"] },
    ])
  })

  test("without an end are refused", () => {
    expect(() => blocksIn("# One\n```sh\nfirst\n")).toThrow('a block below "One" has no end')
  })
})

test("[F-C5] documented curl commands that fail on an error show what the server says of it", async () => {
  const files: string[] = []
  for await (const file of glob("{README.md,docs/*.md,*/README.md,examples/*/README.md}", { cwd: root }))
    files.push(file)
  expect(files.length).toBeGreaterThan(20)
  const silent: string[] = []
  for (const file of files) {
    const commands = (await readFile(new URL(file, root), "utf8")).match(/\bcurl\b[^\n|]*/g) ?? []
    silent.push(...commands.filter((command) => /\s-[a-zA-Z]*f[a-zA-Z]*\s|--fail\s/.test(command)))
  }
  expect(silent).toEqual([])
})
