import { describe, expect, test } from "vitest"
import { busy } from "../core/errors.ts"
import { processLog, redacted } from "./log.ts"

function logged(level: Parameters<typeof processLog>[0]) {
  const lines: Record<string, unknown>[] = []
  const log = processLog(level, { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) })
  return { log, lines }
}

test("a line is one JSON object with time, level, event and fields", () => {
  const { log, lines } = logged("info")
  log.info("request", { status: 200 })
  expect(lines).toEqual([
    {
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      event: "request",
      status: 200,
    },
  ])
})

test("only events of the level or above are logged", () => {
  const { log, lines } = logged("warn")
  log.debug("a")
  log.info("b")
  log.warn("c")
  log.error("d")
  expect(lines.map((line) => line.event)).toEqual(["c", "d"])
})

describe("log of an error", () => {
  test("contains the stack of a defect and of its cause", () => {
    const { log, lines } = logged("error")
    log.error("request failed", { error: new Error("outer", { cause: new TypeError("inner") }) })
    expect(lines[0]?.["error"]).toEqual({
      name: "Error",
      message: "outer",
      stack: expect.stringContaining("log.test.ts") as string,
      cause: { name: "TypeError", message: "inner", stack: expect.stringContaining("log.test.ts") as string },
    })
  })

  test("contains one sentence for an engine error, and its cause", () => {
    const { log, lines } = logged("error")
    log.error("job-failed", { job: "tidy", error: busy("No connection was free.", new Error("timeout :// a:b@c")) })
    expect(lines[0]).toMatchObject({ job: "tidy" })
    expect(lines[0]?.["error"]).toEqual({
      name: "EngineError",
      message: "No connection was free.",
      code: "busy",
      cause: "timeout :// a:b@c",
    })
  })
})

describe("log redacts secrets", () => {
  test.each([
    {
      why: "by name",
      fields: { token: "abc", rootPassword: "abc", Authorization: "abc", sealKey: "abc" },
      left: { token: "[redacted]", rootPassword: "[redacted]", Authorization: "[redacted]", sealKey: "[redacted]" },
    },
    {
      why: "but not its id, type or count",
      fields: { tokenId: "at-1", tokenKind: "user", tokenCount: 3 },
      left: { tokenId: "at-1", tokenKind: "user", tokenCount: 3 },
    },
    {
      why: "in nested objects",
      fields: { request: { headers: [{ cookie: "abc" }] } },
      left: { request: { headers: [{ cookie: "[redacted]" }] } },
    },
    {
      why: "in a URL",
      fields: { url: "postgres://chancery:hunter2@db/x" },
      left: { url: "postgres://[redacted]@db/x" },
    },
    {
      why: "in a header's text",
      fields: { header: "authorization: Bearer abc.def" },
      left: { header: "authorization: Bearer [redacted]" },
    },
    { why: "in bytes, which may be keys", fields: { content: new Uint8Array(3) }, left: { content: "[3 bytes]" } },
    {
      why: "and no other values",
      fields: { status: 200, ok: true, nothing: null, name: "app" },
      left: { status: 200, ok: true, nothing: null, name: "app" },
    },
  ])("$why", ({ fields, left }) => {
    expect(redacted(fields)).toEqual(left)
  })

  test("in an error and its cause", () => {
    const error = new Error("connect postgres://a:hunter2@db", { cause: new Error("Bearer hunter2") })
    const { log, lines } = logged("info")
    log.error("failed", { error })
    expect(lines[0]).toMatchObject({
      error: { name: "Error", message: "connect postgres://[redacted]@db", cause: { message: "Bearer [redacted]" } },
    })
    expect(JSON.stringify(lines)).not.toContain("hunter2")
  })

  test("log truncates a cyclic structure", () => {
    const fields: Record<string, unknown> = {}
    fields.self = fields
    expect(JSON.stringify(redacted(fields))).toContain("[deep]")
  })
})
