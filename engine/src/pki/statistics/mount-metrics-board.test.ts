import { describe, expect, test } from "vitest"
import { busy } from "../../core/errors.ts"
import { silentLog } from "../../core/runtime.ts"
import { secondMs } from "../../core/time.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { manualTimers } from "../../../testing/manual-timers.ts"
import { type AuthorityFigures, FigureBoard } from "./mount-metrics.ts"

type Context = ConstructorParameters<typeof FigureBoard>[0]

const nothing: AuthorityFigures = { issuers: [], lists: [], mounts: [], enrolments: [], leftOut: 0 }
const statistics = {
  countedAt: 1,
  valid: 1,
  expired: 0,
  revoked: 0,
  expiringWithin: [0, 0, 0],
  soonestOfRoles: Array.from({ length: 400 }, (_, index) => ({ role: `role-${index}`, notAfter: index })),
  rolesLeftOut: 0,
}

/** Creates a board over a fake database with these mounts, which all have the same content. The test controls each answer. */
function opened(paths: readonly string[] = ["pki"]) {
  const clock = manualClock()
  const timers = manualTimers(clock)
  const warnings: string[] = []
  const mounts = paths.map((path) => ({ id: path, path }))
  let answer: () => Promise<void> = async () => {}
  let reads = 0
  let loads = 0
  let version = 1
  const context = {
    runtime: { clock, log: { ...silentLog, warn: (event: string) => void warnings.push(event) } },
    timers,
    mountDirectory: { current: async () => ({ mounts }) },
    mountSnapshots: {
      async within(_repositories: unknown, mount: unknown) {
        loads += 1
        return { mount, version, issuers: [], settings: { crl: {} } }
      },
    },
    storage: {
      async read(work: (repositories: unknown) => Promise<unknown>) {
        reads += 1
        await answer()
        return work({
          authorities: { cacheVersion: async () => version },
          crls: { states: async () => [] },
          statistics: { find: async () => statistics },
          enrolments: { pending: async () => undefined },
        })
      },
    },
  } as unknown as Context
  return {
    board: new FigureBoard(context),
    timers,
    warnings,
    readCount: () => reads,
    loadCount: () => loads,
    changes: () => void (version += 1),
    answersWith: (next: () => Promise<void>) => (answer = next),
  }
}

describe("figures", () => {
  test("are read once for concurrent callers and cached", async () => {
    const { board, timers, readCount } = opened()
    const [one, other] = await Promise.all([board.current(), board.current()])
    expect(one).toBe(other)
    await timers.advance(14 * secondMs)
    expect(await board.current()).toBe(one)
    expect(readCount()).toBe(1)
    await timers.advance(secondMs)
    expect(await board.current()).not.toBe(one)
    expect(readCount()).toBe(2)
  })

  test("load a mount again only when it has changed", async () => {
    const { board, timers, loadCount, changes } = opened(["pki", "pki-root"])
    for (const [isChanged, expected] of [
      [false, 2],
      [false, 2],
      [true, 4],
      [false, 4],
    ] as const) {
      if (isChanged) changes()
      await board.current()
      expect(loadCount()).toBe(expected)
      await timers.advance(15 * secondMs)
    }
  })

  test("are the last known ones, or none, while the database does not respond", async () => {
    const { board, timers, answersWith } = opened()
    const never = () => new Promise<void>(() => {})
    answersWith(never)
    const waiting = board.current()
    await timers.advance(2 * secondMs)
    expect(await waiting).toEqual(nothing)
    const fresh = opened()
    const known = await fresh.board.current()
    fresh.answersWith(never)
    await fresh.timers.advance(15 * secondMs)
    const again = fresh.board.current()
    await fresh.timers.advance(2 * secondMs)
    expect(await again).toBe(known)
  })

  test("are the last known ones when reading fails, which is logged", async () => {
    const { board, timers, answersWith, warnings } = opened()
    const known = await board.current()
    answersWith(async () => {
      throw busy("away")
    })
    await timers.advance(15 * secondMs)
    expect(await board.current()).toBe(known)
    expect(warnings).toEqual(["figures-not-read"])
    answersWith(async () => {})
    expect(await board.current()).not.toBe(known)
  })

  test("have at most a thousand mounts and a thousand roles, and count those left out", async () => {
    const { board } = opened(Array.from({ length: 1_002 }, (_, index) => `pki-${index}`))
    const { mounts, leftOut } = await board.current()
    expect([mounts.length, leftOut]).toEqual([1_000, 2])
    const shown = mounts.map((mount) => mount.statistics.soonestOfRoles.length)
    expect(shown.slice(0, 4)).toEqual([400, 400, 200, 0])
    expect(mounts.slice(0, 4).map((mount) => mount.statistics.rolesLeftOut)).toEqual([0, 0, 200, 400])
  })
})
