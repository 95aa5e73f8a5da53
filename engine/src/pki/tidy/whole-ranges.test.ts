import { describe, expect, test } from "vitest"
import { dayMs, hourMs } from "../../core/time.ts"
import { filingRangeAt } from "../issuance/certificate-partitions.ts"
import { type AutoTidySettings, defaultAutoTidySettings } from "./auto-tidy.ts"
import { isLeftToGo, removalOf } from "./whole-ranges.ts"

const range = filingRangeAt(Date.UTC(2030, 0, 7))
const tidied = (changes: Partial<AutoTidySettings> = {}): AutoTidySettings => ({
  ...defaultAutoTidySettings,
  enabled: true,
  tidyCertStore: true,
  ...changes,
})

describe("a partition may be dropped", () => {
  test.each<{ why: string; mounts: readonly (AutoTidySettings | undefined)[]; afterMs: number | undefined }>([
    { why: "at its end when it is empty", mounts: [], afterMs: 0 },
    { why: "after the safety buffer", mounts: [tidied()], afterMs: 72 * hourMs },
    {
      why: "after the longest safety buffer",
      mounts: [tidied({ safetyBufferMs: hourMs }), tidied({ safetyBufferMs: 30 * dayMs }), tidied()],
      afterMs: 30 * dayMs,
    },
    {
      why: "after the buffer of revoked certificates when it is longer",
      mounts: [tidied({ safetyBufferMs: hourMs, revokedSafetyBufferMs: 40 * dayMs })],
      afterMs: 40 * dayMs,
    },
    {
      why: "after the buffer of other certificates when it is longer",
      mounts: [tidied({ safetyBufferMs: dayMs, revokedSafetyBufferMs: hourMs })],
      afterMs: dayMs,
    },
    {
      why: "never when a mount has no automatic tidy",
      mounts: [tidied(), tidied({ enabled: false })],
      afterMs: undefined,
    },
    {
      why: "never when a mount keeps its certificates",
      mounts: [tidied({ tidyCertStore: false })],
      afterMs: undefined,
    },
    { why: "never when a mount is unknown", mounts: [undefined], afterMs: undefined },
  ])("$why", ({ mounts, afterMs }) => {
    expect(removalOf(range, mounts)).toBe(afterMs === undefined ? undefined : range.to + afterMs)
  })
})

describe("a mount leaves its certificates to the drop of their partition", () => {
  const own = tidied({ safetyBufferMs: hourMs })
  const at = range.from + dayMs

  test.each<{ why: string; others: readonly AutoTidySettings[]; now: number; isLeft: boolean }>([
    { why: "while the partition is not over", others: [], now: at, isLeft: true },
    { why: "until the partition may be dropped", others: [], now: range.to + hourMs - 1, isLeft: true },
    { why: "and for one more day when the drop fails", others: [], now: range.to + 24 * hourMs, isLeft: true },
    { why: "not when the drop fails for longer", others: [], now: range.to + 25 * hourMs, isLeft: false },
    {
      why: "when other mounts wait for a week longer",
      others: [tidied({ safetyBufferMs: 7 * dayMs + hourMs })],
      now: at,
      isLeft: true,
    },
    {
      why: "not when other mounts wait for longer",
      others: [tidied({ safetyBufferMs: 7 * dayMs + 2 * hourMs })],
      now: at,
      isLeft: false,
    },
    {
      why: "not when the partition is kept because of other mounts",
      others: [tidied({ enabled: false })],
      now: at,
      isLeft: false,
    },
  ])("$why", ({ others, now, isLeft }) => {
    expect(isLeftToGo(range, [own, ...others], own, now)).toBe(isLeft)
  })
})
