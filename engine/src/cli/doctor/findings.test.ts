// Findings for facts that a test cannot set up: full disks, clocks that drift, certificates that expire soon.
import { describe, expect, test } from "vitest"
import type { IssuerId } from "../../core/ids.ts"
import { dayMs, hourMs, minuteMs, secondMs } from "../../core/time.ts"
import type { ServerFacts } from "../../storage/maintenance/survey.ts"
import { authorityFindings } from "./authority-findings.ts"
import { databaseClockFinding, fileClockFinding } from "./clock-findings.ts"
import { roughly } from "./finding.ts"
import { jobFindings } from "./job-findings.ts"
import { roleFindings } from "./role-findings.ts"
import {
  integrityFinding,
  readReplicaFindings,
  schemaFinding,
  serverFindings,
  spaceFinding,
  unreadReplicas,
} from "./storage-findings.ts"

const now = 1_000 * dayMs

test.each([
  { database: now, level: "ok", why: "nothing" },
  { database: now + 900, level: "ok", why: "less than a second" },
  { database: now + 5 * secondMs, level: "warn", message: /5 s behind the clock of the database/, why: "seconds" },
  { database: now - 5 * secondMs, level: "warn", message: /5 s ahead of the clock of the database/, why: "seconds" },
  { database: now - 10 * minuteMs, level: "fail", message: /10 min ahead/, why: "more than the margin of leases" },
  { database: now + 4 * secondMs, answerMs: 8_000, level: "ok", why: "less than the duration of the query" },
])("a clock that differs by $why is $level", ({ database, answerMs = 0, level, message = /agrees/ }) => {
  const before = now - answerMs / 2
  const finding = databaseClockFinding({ before, after: before + answerMs, database })
  expect(finding).toMatchObject({ level, message: expect.stringMatching(message) as string })
})

test("files from the future are reported as a clock that was set back", () => {
  expect(fileClockFinding(now, now - hourMs).level).toBe("ok")
  expect(fileClockFinding(now, now + hourMs)).toMatchObject({
    level: "warn",
    message: expect.stringMatching(/60 min in the future/) as string,
  })
})

test.each([
  { freeBytes: 50 * 2 ** 30, level: "ok" },
  { freeBytes: 2 ** 30, level: "warn" },
  { freeBytes: 2 ** 27, level: "fail" },
])("$freeBytes bytes of free disk are $level", ({ freeBytes, level }) => {
  expect(spaceFinding(freeBytes).level).toBe(level)
})

test("integrity finding quotes SQLite", () => {
  expect(integrityFinding([]).level).toBe("ok")
  expect(integrityFinding(["row 3 missing from index x"])).toMatchObject({
    level: "fail",
    message: "The database file is damaged: row 3 missing from index x.",
  })
})

test.each([
  { state: { appliedCount: 9, missing: [], unknown: undefined }, level: "ok" },
  { state: { appliedCount: 0, missing: ["1"], unknown: undefined }, level: "warn" },
  { state: { appliedCount: 8, missing: ["9"], unknown: undefined }, level: "warn" },
  { state: { appliedCount: 9, missing: [], unknown: "9999" }, level: "fail" },
])("a schema of $state is $level", ({ state, level }) => {
  expect(schemaFinding(state).level).toBe(level)
})

const job = { name: "tidy", everyMs: 10 * minuteMs, timeoutMs: 5 * minuteMs }

test.each([
  { ageMs: 10 * secondMs, level: "ok", why: "was just created" },
  {
    ageMs: 3 * minuteMs,
    others: true,
    level: "warn",
    message: /tidy has never succeeded/,
    why: "has a server",
  },
  { ageMs: 3 * minuteMs, others: true, runsFor: minuteMs, level: "ok", why: "is running it for the first time" },
  { ageMs: minuteMs, others: true, level: "ok", why: "is new" },
  { ageMs: hourMs, level: "warn", message: /No server has run a background job yet/, why: "has no server" },
])("a job that never succeeded is $level when the store $why", ({ ageMs, others, runsFor, level, message = /due/ }) => {
  const done = { name: "crl", everyMs: minuteMs, timeoutMs: minuteMs }
  const lease = { holder: "eng-1", expiresAt: 0, doneAt: null }
  const leases = [
    ...(others ? [{ ...lease, name: done.name, doneAt: now - secondMs }] : []),
    ...(runsFor === undefined ? [] : [{ ...lease, name: job.name, expiresAt: now + runsFor }]),
  ]
  const [finding] = jobFindings(others ? [job, done] : [job], { leases, madeAt: now - ageMs, now })
  expect(finding).toMatchObject({ level, message: expect.stringMatching(message) as string })
})

const server: ServerFacts = {
  version: "17.2",
  now,
  standby: false,
  readOnly: false,
  mayCreate: true,
  hasTrigrams: true,
  maxConnection: 97,
  connectionCount: 12,
  unsafeSettings: [],
}

test.each<{ facts: Partial<ServerFacts>; poolSize?: number; levels: readonly string[]; message: RegExp }>([
  { facts: {}, levels: ["ok", "ok"], message: /12 of 97/ },
  { facts: { standby: true }, levels: ["ok", "fail", "ok"], message: /standby/ },
  { facts: { readOnly: true }, levels: ["ok", "fail", "ok"], message: /default_transaction_read_only/ },
  { facts: { mayCreate: false }, levels: ["ok", "warn", "ok"], message: /cannot create tables/ },
  { facts: { hasTrigrams: false }, levels: ["ok", "fail", "ok"], message: /pg_trgm/ },
  {
    facts: { unsafeSettings: ["fsync = off"] },
    levels: ["ok", "fail", "ok"],
    message: /can lose acknowledged writes.*fsync = off/,
  },
  { facts: { connectionCount: 95 }, levels: ["ok", "warn"], message: /95 of 97/ },
  { facts: { maxConnection: 5, connectionCount: 1 }, levels: ["ok", "fail"], message: /1 of 5/ },
  { facts: { maxConnection: 5, connectionCount: 1 }, poolSize: 4, levels: ["ok", "ok"], message: /up to 4/ },
  { facts: {}, poolSize: 90, levels: ["ok", "warn"], message: /up to 90/ },
])("a database server with $facts and pools of $poolSize is $levels", ({ facts, poolSize, levels, message }) => {
  const findings = serverFindings({ ...server, ...facts }, poolSize)
  expect(findings.map(({ level }) => level)).toEqual(levels)
  const reported = findings.find(({ level }) => level !== "ok") ?? findings.at(-1)
  expect(reported?.message).toMatch(message)
})

test.each([
  { state: { fault: undefined, isOther: false }, level: "ok" },
  { state: { fault: "the server is too far behind", isOther: false }, level: "warn", message: /too far behind/ },
  { state: { fault: undefined, isOther: true }, level: "fail", message: /a separate database server/, exitCode: 78 },
])("a read replica of $state is $level", ({ state, level, message = /db-2/, exitCode }) => {
  const [finding] = readReplicaFindings([{ name: "db-2/chancery", ...state }])
  expect(finding).toMatchObject({ level, message: expect.stringMatching(message) as string })
  expect(finding?.exitCode).toBe(exitCode)
})

test("read replicas are a warning when the database does not report its log position", () => {
  expect(unreadReplicas(new Error("function pg_walfile_name does not exist"))).toMatchObject({
    level: "warn",
    message: expect.stringMatching(/\(function pg_walfile_name does not exist\)/) as string,
  })
})

describe("authorities", () => {
  const issuer = (name: string, notAfter: number, hasKey = true) =>
    ({ mount: "pki", issuer: `iss-${name}` as IssuerId, name, notAfter, hasKey }) as const
  const list = (thisUpdate: number, nextUpdate: number) =>
    ({ mount: "pki", issuer: "iss-a" as IssuerId, kind: "complete", thisUpdate, nextUpdate, entryCount: 3 }) as const
  const reported = (
    issuers: readonly ReturnType<typeof issuer>[],
    lists: readonly ReturnType<typeof list>[] = [],
    leftOut = 0,
  ) =>
    authorityFindings({ issuers, lists, mounts: [], enrolments: [], leftOut }, now).map(
      ({ level, message }) => `${level} ${message}`,
    )

  test.each([
    { issuers: [issuer("a", now + 90 * dayMs)], expected: ["ok All are valid: 1 issuer and 0 revocation lists."] },
    { issuers: [issuer("a", now + 10 * dayMs)], expected: ["warn The issuer a of pki expires in 10 days."] },
    {
      issuers: [issuer("a", now - dayMs)],
      expected: [expect.stringMatching(/^fail The issuer a of pki .*expired 24 h ago/)],
    },
    {
      issuers: [issuer("a", now - dayMs), issuer("b", now + 90 * dayMs)],
      expected: [expect.stringMatching(/^warn The issuer a of pki expired .* and no longer signs/)],
    },
    { issuers: [issuer("a", now - dayMs, false)], expected: ["ok No mount has an issuer with a key."] },
  ])("$issuers", ({ issuers, expected }) => {
    expect(reported(issuers)).toEqual(expected)
  })

  test.each([
    { crl: list(now - hourMs, now + 71 * hourMs), expected: /^ok / },
    { crl: list(now - 70 * hourMs, now + 2 * hourMs), expected: /^warn .*expires in 2 h and was not renewed/ },
    { crl: list(now - 80 * hourMs, now - 8 * hourMs), expected: /^fail .*expired 8 h ago/ },
    // [F-P15]
    { crl: list(now + 8 * hourMs, now + 80 * hourMs), expected: /^fail .*becomes valid only in 8 h/ },
  ])("revocation list $crl is reported as $expected", ({ crl, expected }) => {
    expect(reported([issuer("a", now + 90 * dayMs)], [crl])).toEqual([expect.stringMatching(expected)])
  })

  test("authorities that were not checked are counted", () => {
    expect(reported([issuer("a", now + 90 * dayMs)], [], 4)).toEqual([
      expect.stringMatching(/^warn 4 issuers, lists or mounts/),
    ])
  })
})

test.each([
  [90 * secondMs, "90 s"],
  [-5 * minuteMs, "5 min"],
  [36 * hourMs, "36 h"],
  [12.9 * dayMs, "12 days"],
])("%d ms is about %s", (durationMs, text) => {
  expect(roughly(durationMs)).toBe(text)
})

test("[F-P1] roles that are not listed are counted", () => {
  const roles = [{ mount: "pki", name: "web" }]
  expect(roleFindings({ roles: [], leftOut: 0 })).toEqual([expect.objectContaining({ level: "ok" })])
  expect(roleFindings({ roles, leftOut: 0 })).toHaveLength(1)
  expect(roleFindings({ roles, leftOut: 7 }).map(({ message }) => message)).toEqual([
    expect.stringContaining("The role web of pki"),
    "7 more roles have not_after_bound permit.",
  ])
})
