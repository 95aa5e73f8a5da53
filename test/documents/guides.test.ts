// Every command of a guide is tested: each is listed in `doc-examples.ts` below its heading, with the test that runs it.
import { access, glob, readFile } from "node:fs/promises"
import { describe, expect, test } from "vitest"
import { blocksIn, blocksOf, root } from "./guide-blocks.ts"
import { docExamples } from "./doc-examples.ts"

const guides = Object.keys(docExamples)

test("the guides for operators are among the guides with tested commands", () => {
  expect(guides).toEqual(expect.arrayContaining(["docs/operations.md", "docs/hardening.md"]))
})

describe.each(guides)("%s", (document) => {
  const blocks = blocksOf(document)
  const claims = Object.entries(docExamples[document] ?? {})

  test("has a test for every block, and a block for every test", () => {
    expect(blocks.length).toBeGreaterThan(0)
    expect([...new Set(blocks.map(({ heading }) => heading))].toSorted()).toEqual(
      claims.map(([heading]) => heading).toSorted(),
    )
  })

  test("names the language of every block, and no block is empty", () => {
    expect(blocks.filter(({ language, commands }) => language === "" || commands.length === 0)).toEqual([])
  })

  test("has no two sections of the same name", async () => {
    const text = await readFile(new URL(document, root), "utf8")
    const headings = [...text.replaceAll(/^```[^]*?^```$/gm, "").matchAll(/^#+ +(.*)$/gm)].map(([, heading]) => heading)
    expect(headings).toEqual([...new Set(headings)])
  })

  test.each(claims)(
    "has the commands below %s run by a test that reads them from the guide",
    async (_, { test: file }) => {
      expect(file).toMatch(/^test\/.*\.test\.ts$/)
      await access(new URL(file, root))
      const source = await readFile(new URL(file, root), "utf8")
      expect(source).toContain(`typedPage(import.meta.url, "${document}")`)
    },
  )

  test("excludes only existing commands from tests, each with a reason", () => {
    for (const [heading, { except = {} }] of claims) {
      const commands = blocks.filter((block) => block.heading === heading).flatMap((block) => block.commands)
      expect(commands).toEqual(expect.arrayContaining(Object.keys(except)))
      for (const reason of Object.values(except)) expect(reason.split(" ").length).toBeGreaterThan(5)
      expect(Object.keys(except).length).toBeLessThan(commands.length)
    }
  })
})

describe("the blocks of a document", () => {
  test("are found below their headings in any kind of fence, and continued lines are one command", () => {
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

  test("are rejected when a fence is not closed", () => {
    expect(() => blocksIn("# One\n```sh\nfirst\n")).toThrow('a block below "One" has no end')
  })
})

test("[F-C5] documented curl commands that fail on an error print the server's message", async () => {
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
