import { expect, test } from "vitest"
import { parsePrivateMemory, parsePs, parseStat, processTree } from "./process-table.ts"

const stat = (name: string, state: string) =>
  `12 (${name}) ${state} 3 4 5 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 7777 8 9\n`
const entry = { pid: 12, parent: 3, group: 4, session: 5, isZombie: false, startedAt: 7777 }

test.each([
  [stat("sh", "S"), entry],
  [stat("a) R (b c", "S"), entry],
  [stat("sh", "Z"), { ...entry, isZombie: true }],
  ["", undefined],
  ["12 (sh", undefined],
])("parseStat reads %j", (text, expected) => {
  expect(parseStat(text)).toEqual(expected)
})

test("parsePs reads lines, with the group as the session", () => {
  expect(parsePs("    1     0     1 Ss\n  412     1   400 Z+\n\n")).toEqual([
    { pid: 1, parent: 0, group: 1, session: 1, isZombie: false, startedAt: 0 },
    { pid: 412, parent: 1, group: 400, session: 400, isZombie: true, startedAt: 0 },
  ])
})

test("parsePrivateMemory sums anonymous and shared memory", () => {
  expect(parsePrivateMemory("VmRSS:\t  99 kB\nRssAnon:\t   2 kB\nRssFile:\t  7 kB\nRssShmem:\t 1 kB\n")).toBe(3 * 1024)
  expect(parsePrivateMemory("")).toBe(0)
})

test("processTree contains descendants, the group and the session, and no zombies", () => {
  const one = (pid: number, parent: number, group = 1, session = 1, isZombie = false) => ({
    ...{ pid, parent, group, session, isZombie },
    startedAt: 0,
  })
  const processes = [
    one(12, 11, 12, 12),
    one(10, 2, 10, 10),
    one(11, 10, 10, 10),
    one(13, 1, 10, 10),
    one(14, 1, 14, 10),
    one(15, 14, 15, 15),
    one(16, 10, 10, 10, true),
    one(20, 2),
  ]
  expect(processTree(processes, 10).map(({ pid }) => pid)).toEqual([12, 10, 11, 13, 14, 15])
})
