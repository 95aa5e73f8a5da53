import { PassThrough } from "node:stream"
import { expect, test } from "vitest"
import { progressOf } from "./progress.ts"
import type { Terminal } from "./terminal.ts"

const terminal = (stderr: string[], screen?: NodeJS.WriteStream): Terminal => ({
  out: () => {},
  say: (text) => void stderr.push(text),
  input: async () => "",
  environment: {},
  ...(screen === undefined ? {} : { screen }),
})

test("progress prints each tenth once, and the end, when standard error is not a terminal", () => {
  const stderr: string[] = []
  const progress = progressOf(terminal(stderr), "Done")
  for (const done of [1, 250, 260, 1_000]) progress.show(done, 1_000)
  progress.end()
  expect(stderr).toEqual(["Done 20 %", "Done 100 %"])
})

test("progress draws a bar when standard error is a terminal", async () => {
  const stderr: string[] = []
  const shown = new PassThrough()
  let drawn = ""
  shown.on("data", (some) => (drawn += String(some)))
  const screen = Object.assign(shown, { isTTY: true, columns: 80 }) as unknown as NodeJS.WriteStream
  const progress = progressOf(terminal(stderr, screen), "Done")
  progress.show(0, 1_000)
  progress.show(1_000, 1_000)
  progress.end()
  await expect.poll(() => drawn).toContain("100 % (1000/1000")
  expect(drawn).toContain("Done ")
  expect(drawn).toContain("0 % (0/1000")
  expect(stderr).toEqual([])
})
