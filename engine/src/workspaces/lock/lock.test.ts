// Lock rules as tables. Tests over HTTP are in `server/tfe/workspace-lock.test.ts` and `server/tfe/lock-ttl.test.ts`.
import { describe, expect, test } from "vitest"
import { EngineError } from "../../core/errors.ts"
import type { WorkspaceId } from "../../core/ids.ts"
import { dayMs, minuteMs, secondMs } from "../../core/time.ts"
import { extendLock, forceUnlock, lock, unlock } from "./lock.ts"
import type { Actor, Lock, LockEnd, Workspace } from "../workspace/workspace.ts"

const now = Date.UTC(2026, 10, 22, 9)
const holder: Actor = { kind: "users", id: "user-holder" }
const workspaceWith = (lock: Lock) => ({ id: "ws-1" as WorkspaceId, lock, lockNumber: 4 }) as Workspace
const free = workspaceWith({ held: false })
const held = (by: Actor = holder, end?: LockEnd, reason = "") =>
  workspaceWith({ held: true, by, reason, since: now - minuteMs, ...(end === undefined ? {} : { end }) })
const ending: LockEnd = { at: now + 30 * secondMs, ttlMs: minuteMs }

function refusalOf(work: () => unknown): EngineError {
  try {
    work()
  } catch (error) {
    if (error instanceof EngineError) return error
  }
  throw new Error("it was not refused")
}

describe("lock", () => {
  test.each([
    { ttl: "none", ttlMs: undefined, end: undefined },
    { ttl: "the shortest", ttlMs: secondMs, end: { at: now + secondMs, ttlMs: secondMs } },
    { ttl: "the longest", ttlMs: 30 * dayMs, end: { at: now + 30 * dayMs, ttlMs: 30 * dayMs } },
  ])("of a free workspace with the ttl $ttl expires at $end.at", ({ ttlMs, end }) => {
    const change = lock(free, holder, { reason: "why", ...(ttlMs === undefined ? {} : { ttlMs }) }, now)
    expect(change).toStrictEqual({
      lock: { held: true, by: holder, reason: "why", since: now, ...(end === undefined ? {} : { end }) },
      lockNumber: 5,
    })
  })

  test.each([0, -1, 999, 1_500, 30 * dayMs + secondMs, Number.NaN, Number.POSITIVE_INFINITY])(
    "rejects a ttl of %d ms, also in an extension",
    (ttlMs) => {
      for (const work of [
        () => lock(free, holder, { reason: "", ttlMs }, now),
        () => extendLock(held(), holder, { ttlMs }, now),
      ])
        expect(refusalOf(work)).toMatchObject({
          code: "invalid",
          faults: [{ field: ["ttl"], detail: "ttl must be a whole number of seconds from 1 to 2592000" }],
        })
    },
  )

  test("reports all faults at once", () => {
    const refusal = refusalOf(() => lock(free, holder, { reason: "r".repeat(10_001), ttlMs: 1 }, now))
    expect(refusal.faults.map(({ field }) => field)).toEqual([["reason"], ["ttl"]])
  })

  test.each([
    {
      workspace: held(),
      detail:
        "Unable to lock workspace. The workspace is already locked by User user-holder since 2026-11-22T08:59:00.000Z.",
      facts: { lockedReason: "", lockedUntil: null },
      retryAfterMs: undefined,
    },
    {
      workspace: held({ kind: "teams", id: "team-1" }, ending, "migration"),
      detail:
        'Unable to lock workspace. The workspace is already locked by Team team-1 since 2026-11-22T08:59:00.000Z until 2026-11-22T09:00:30.000Z for the reason "migration".',
      facts: { lockedReason: "migration", lockedUntil: "2026-11-22T09:00:30.000Z" },
      retryAfterMs: 30_000,
    },
    {
      workspace: held({ kind: "runs", id: "run-1" }, undefined, "x".repeat(300)),
      detail: `Unable to lock workspace. The workspace is already locked by Run run-1 since 2026-11-22T08:59:00.000Z for the reason "${"x".repeat(200)}…".`,
      facts: { lockedReason: "x".repeat(300), lockedUntil: null },
      retryAfterMs: undefined,
    },
  ])("of a locked workspace names holder, reason, start and expiry: $detail", ({ workspace, ...expected }) => {
    const refusal = refusalOf(() => lock(workspace, holder, { reason: "", ttlMs: secondMs }, now))
    const { by } = workspace.lock as Extract<Lock, { held: true }>
    expect(refusal).toMatchObject({ code: "conflict", subject: "ws-1", retryAfterMs: expected.retryAfterMs })
    expect(refusal.message).toBe(expected.detail)
    expect(refusal.facts).toEqual({
      lockedBy: { type: by.kind, id: by.id },
      lockedAt: "2026-11-22T08:59:00.000Z",
      ...expected.facts,
    })
  })
})

test("[F-W17] a conflict names the holder by id, and by name if it is known", () => {
  const named = held({ kind: "users", id: "user-2", name: "alice" })
  for (const refusal of [
    refusalOf(() => lock(named, holder, { reason: "" }, now)),
    refusalOf(() => extendLock(named, holder, {}, now)),
    refusalOf(() => unlock(named, holder, false, now)),
  ]) {
    expect(refusal.message).toContain("locked by User user-2 (alice)")
    expect(refusal.facts).toMatchObject({ lockedBy: { type: "users", id: "user-2", name: "alice" } })
  }
})

describe("an extension", () => {
  test.each([
    {
      before: ending,
      asked: undefined,
      after: { at: now + minuteMs, ttlMs: minuteMs },
      why: "with the previous duration",
    },
    {
      before: ending,
      asked: 5_000,
      after: { at: now + 5_000, ttlMs: 5_000 },
      why: "earlier when a shorter ttl is sent",
    },
    { before: ending, asked: dayMs, after: { at: now + dayMs, ttlMs: dayMs }, why: "later when a longer ttl is sent" },
    { before: undefined, asked: 5_000, after: { at: now + 5_000, ttlMs: 5_000 }, why: "on a lock that had none" },
  ])("sets the expiry $why", ({ before, asked, after }) => {
    const workspace = held(holder, before, "why")
    const change = extendLock(workspace, holder, asked === undefined ? {} : { ttlMs: asked }, now)
    expect(change).toStrictEqual({ lock: { ...workspace.lock, end: after }, lockNumber: 4 })
  })

  test.each([
    { why: "the workspace is not locked", workspace: free, code: "conflict", text: "The workspace is not locked." },
    {
      why: "another user holds the lock",
      workspace: held({ kind: "users", id: "user-2" }, ending),
      code: "conflict",
      text: "is locked by User user-2 since",
    },
    {
      why: "a team with the same id holds the lock",
      workspace: held({ kind: "teams", id: holder.id }, ending),
      code: "conflict",
      text: "is locked by Team user-holder since",
    },
    { why: "neither the lock nor the request has a ttl", workspace: held(), code: "invalid", text: "ttl is required" },
  ])("is rejected when $why", ({ workspace, code, text }) => {
    const refusal = refusalOf(() => extendLock(workspace, holder, {}, now))
    expect(refusal.code).toBe(code)
    expect(refusal.message).toContain(text)
  })
})

describe("unlock", () => {
  test.each([
    { lock: "none", workspace: free, pending: false, code: "conflict" },
    { lock: "another's", workspace: held({ kind: "teams", id: "team-1" }), pending: false, code: "conflict" },
    { lock: "the caller's, its newest state pending", workspace: held(), pending: true, code: "pending" },
  ])("is rejected when the lock is $lock", ({ workspace, pending, code }) => {
    expect(refusalOf(() => unlock(workspace, holder, pending, now)).code).toBe(code)
  })

  test("by the holder frees the workspace, with or without an expiry", () => {
    for (const end of [undefined, ending])
      expect(unlock(held(holder, end), holder, false, now)).toEqual({ lock: { held: false }, lockNumber: 4 })
  })

  test("by force releases any lock, and fails when there is none", () => {
    expect(forceUnlock(held({ kind: "runs", id: "run-1" }, ending)).lock).toEqual({ held: false })
    expect(refusalOf(() => forceUnlock(free)).code).toBe("conflict")
  })
})
