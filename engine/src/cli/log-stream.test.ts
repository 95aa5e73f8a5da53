import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setImmediate as turn } from "node:timers/promises"
import { expect, test } from "vitest"
import { logStream } from "./log-stream.ts"

function temporaryLog() {
  const folder = mkdtempSync(join(tmpdir(), "chancery-"))
  const path = join(folder, "log")
  const descriptor = openSync(path, "a")
  return {
    descriptor,
    content: () => readFileSync(path, "utf8"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}

test("lines are written in order by the next turn, or at once by a flush", async () => {
  using log = temporaryLog()
  const stream = logStream(log.descriptor)
  stream.write("one\n")
  stream.write("two\n")
  expect(log.content()).toBe("")
  await turn()
  expect(log.content()).toBe("one\ntwo\n")
  stream.write("three\n")
  stream.flush()
  expect(log.content()).toBe("one\ntwo\nthree\n")
})

test("log stream stops writing to a broken descriptor, and a flush still ends", () => {
  using log = temporaryLog()
  const stream = logStream(log.descriptor)
  closeSync(log.descriptor)
  stream.write("one\n")
  expect(() => stream.flush()).not.toThrow()
  stream.write("two\n")
  stream.flush()
  expect(log.content()).toBe("")
})
