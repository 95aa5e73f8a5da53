import { expect, test } from "vitest"
import { contests, IssuanceMemories, issuableAfter, mayReplace, withTime } from "./issuance-memory.ts"

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const now = 10 * hourMs
const ago = (...minutes: readonly number[]) => minutes.map((each) => now - each * minuteMs)

test.each([
  { wasted: ago(), unrequested: ago(), isRequested: false, after: undefined, why: "none was issued" },
  { wasted: ago(20, 10), unrequested: ago(), isRequested: true, after: undefined, why: "two were wasted" },
  {
    wasted: ago(50, 20, 10),
    unrequested: ago(),
    isRequested: true,
    after: now + 10 * minuteMs,
    why: "three were wasted",
  },
  {
    wasted: ago(70, 20, 10),
    unrequested: ago(),
    isRequested: true,
    after: undefined,
    why: "the first is more than an hour ago",
  },
  {
    wasted: ago(),
    unrequested: ago(40, 30, 20, 10),
    isRequested: false,
    after: undefined,
    why: "four were issued unrequested",
  },
  {
    wasted: ago(),
    unrequested: ago(40, 30, 20, 10, 5),
    isRequested: false,
    after: now + 20 * minuteMs,
    why: "five were issued unrequested",
  },
  {
    wasted: ago(),
    unrequested: ago(40, 30, 20, 10, 5),
    isRequested: true,
    after: undefined,
    why: "this one is requested",
  },
])("[F-K2] another certificate may be issued after $after: $why", ({ wasted, unrequested, isRequested, after }) => {
  expect(issuableAfter({ wasted, unrequested }, { isRequested, now })).toBe(after)
})

test.each([
  { repairs: ago(), contests: -2, unrequested: ago(), may: true },
  { repairs: ago(10, 5), contests: 0, unrequested: ago(10, 5), may: true },
  { repairs: ago(20, 10, 5), contests: 1, unrequested: ago(20, 10, 5), may: false },
  { repairs: ago(70, 10, 5), contests: 0, unrequested: ago(70, 10, 5), may: true },
])("[F-K5] after repairs at $repairs there are $contests contests", ({ repairs, unrequested, may, ...row }) => {
  expect(contests({ repairs }, now)).toBe(row.contests)
  expect(mayReplace({ unrequested }, now)).toBe(may)
})

test("[F-K2] times older than an hour are discarded", () => {
  expect(withTime(ago(70, 59), now)).toEqual([...ago(59), now])
})

test("[F-K2] memories of deleted Certificates are dropped, and a new one of the same name starts with its own", () => {
  const memories = new IssuanceMemories()
  const known = new Set(["team/kept"])
  const kept = memories.of("team/kept", "1", known)
  const first = memories.of("team/0", "a", known)
  for (let index = 0; index < 200; index += 1) memories.of(`team/${index}`, "a", known)
  expect(memories.of("team/kept", "1", known)).toBe(kept)
  expect(memories.of("team/0", "a", known)).not.toBe(first)
  expect(memories.of("team/kept", "2", known)).not.toBe(kept)
})
