import { runInThisContext } from "node:vm"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { traceProgramOnly } from "./program-trace.ts"

const { prepareStackTrace, stackTraceLimit } = Error
const ended: (() => void)[] = []
beforeEach(() => {
  ended.length = 0
})
afterEach(() => {
  for (const restore of ended) restore()
  Object.assign(Error, { prepareStackTrace, stackTraceLimit })
})

function trace(): void {
  ended.push(traceProgramOnly())
}

/** As the SDK notes it: with a limit of its own. */
function wholeStack(): readonly string[] {
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = Number.POSITIVE_INFINITY
  const { stack = "" } = new Error()
  Error.stackTraceLimit = before
  return stack.split("\n").slice(1)
}

/** Calls it from code that lies in this file. */
const callingFrom = (file: string) =>
  runInThisContext("(work) => work()", { filename: file }) as <T>(work: () => T) => T

describe("the stack of a program", () => {
  test("ends with its own outermost frame", () => {
    const outside = wholeStack()
    trace()
    const inside = wholeStack()
    expect(outside.length).toBeGreaterThan(inside.length)
    expect(inside).not.toEqual([])
    expect(inside.at(-1)).toContain("program-trace.test.ts")
  })

  test("has the libraries that the program calls, up to the program", () => {
    const library = callingFrom("/site/node_modules/parts/index.js")
    trace()
    const frames = library(wholeStack)
    expect(frames[1]).toContain("/site/node_modules/parts/index.js")
    expect(frames.at(-1)).toContain("program-trace.test.ts")
  })

  test.each([
    "/site/node_modules/parts/index.js",
    "C:\\site\\node_modules\\parts\\index.js",
    "file:///site/node_modules/parts/index.js",
    "node:internal/timers",
  ])("has no %s behind its end", async (file) => {
    const outer = callingFrom(file)
    trace()
    const frames = await new Promise<readonly string[]>((resolve) =>
      setImmediate(outer, () => resolve(callingFrom("/site/index.js")(wholeStack))),
    )
    // The one of this file that hands the result on stands before it.
    expect(frames.at(-1)).toContain("program-trace.test.ts")
    expect(frames.join("\n")).toContain("/site/index.js")
    expect(frames.join("\n")).not.toContain(file)
  })

  test("is whole where nothing of it is the program's", async () => {
    const collected = runInThisContext(
      `() => {
        Error.stackTraceLimit = Infinity
        return new Error().stack
      }`,
      { filename: "/site/node_modules/parts/index.js" },
    ) as () => string
    const before = await new Promise<string>((resolve) => setImmediate(() => setImmediate(relay, resolve, collected)))
    trace()
    const after = await new Promise<string>((resolve) => setImmediate(() => setImmediate(relay, resolve, collected)))
    expect(after).toBe(before)
    expect(after).toContain("/site/node_modules/parts/index.js")
  })
})

/** Lies in a package as well. */
const relay = runInThisContext("(resolve, work) => resolve(work())", {
  filename: "/site/node_modules/relay/index.js",
}) as (resolve: (text: string) => void, work: () => string) => void

describe("what was set before", () => {
  test("is asked to write the frames down, as compilers are that know the lines of the sources", () => {
    const mapped = vi.fn<(error: Error, sites: NodeJS.CallSite[]) => string>(
      (_error, sites) => `Error\n    at ${sites.length} frames`,
    )
    Error.prepareStackTrace = mapped
    const whole = Number.parseInt(wholeStack()[0]?.trim().slice(3) ?? "", 10)
    trace()
    expect(Number.parseInt(wholeStack()[0]?.trim().slice(3) ?? "", 10)).toBeLessThan(whole)
    expect(mapped.mock.lastCall?.[1].at(-1)?.getFileName()).toContain("program-trace.test.ts")
  })

  test("is there again afterwards", () => {
    const limit = Error.stackTraceLimit
    traceProgramOnly()()
    expect([Error.prepareStackTrace, Error.stackTraceLimit]).toEqual([prepareStackTrace, limit])
  })

  test("gives way to what somebody sets meanwhile", () => {
    const other = () => "other"
    const restore = traceProgramOnly()
    Error.prepareStackTrace = other
    restore()
    expect(Error.prepareStackTrace).toBe(other)
  })

  test("may be nothing, which stays so", () => {
    Object.assign(Error, { prepareStackTrace: undefined })
    const restore = traceProgramOnly()
    expect(Error.prepareStackTrace).toBeUndefined()
    restore()
    expect(Error.prepareStackTrace).toBeUndefined()
  })
})

test("what asks for no frames gets none, and so costs nothing", () => {
  trace()
  expect(new Error("without").stack).toBe("Error: without")
})
