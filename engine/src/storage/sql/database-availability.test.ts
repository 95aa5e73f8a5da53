import { expect, test } from "vitest"
import { silentLog } from "../../core/runtime.ts"
import { DatabaseAvailability } from "./database-availability.ts"

function watched() {
  const lines: unknown[] = []
  let now = 0
  const tell = (level: string) => (event: string, fields?: object) => void lines.push({ level, event, ...fields })
  const presence = new DatabaseAvailability({
    log: { ...silentLog, error: tell("error"), info: tell("info") },
    stopwatch: () => now,
  })
  return { presence, lines, pass: (ms: number) => void (now += ms) }
}

const closed = new Error("connect ECONNREFUSED 127.0.0.1:5432")

test("an unavailable database is logged once, and once when it is back", () => {
  const { presence, lines, pass } = watched()
  presence.found({ writes: true })
  for (let count = 0; count < 3; count += 1) presence.away("cannot be reached", closed)
  pass(1_500.4)
  presence.found({ writes: false })
  presence.found({ writes: true })
  const away = { level: "error", event: "database-away", absence: "cannot be reached", reason: closed.message }
  expect(lines).toEqual([away, { level: "info", event: "database-back", awayMs: 1_500 }])
  presence.away("cannot be reached", closed)
  expect(lines).toHaveLength(3)
})

test("a read-only database is back after the first write, not after reads", () => {
  const { presence, lines } = watched()
  presence.away("takes no writes", new Error("cannot execute UPDATE in a read-only transaction"))
  presence.found({ writes: false })
  expect(lines).toHaveLength(1)
  presence.found({ writes: true })
  expect(lines).toHaveLength(2)
})

test("the reason is the error of the first address", () => {
  const { presence, lines } = watched()
  presence.away("cannot be reached", new AggregateError([closed, new Error("another")], ""))
  expect(lines).toEqual([expect.objectContaining({ reason: closed.message })])
})
