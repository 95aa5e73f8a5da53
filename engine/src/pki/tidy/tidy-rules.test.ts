import { describe, expect, test } from "vitest"
import { hourMs, secondMs } from "../../core/time.ts"
import { parseSerialNumber, type SerialNumber } from "../../x509/serial-number.ts"
import type { CrlListId } from "../crl/crl-list.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"
import { autoTidyFaults, defaultAutoTidySettings, isAutoTidyDue } from "./auto-tidy.ts"
import { defaultTidyOptions, resolvedTidyOptions, tidyOptionFaults } from "./tidy-options.ts"
import {
  earliestEnd,
  expiredIssuers,
  isCertificateDue,
  nextPhase,
  type PublishedList,
  revocationDue,
} from "./tidy-run.ts"

const now = Date.UTC(2030, 0, 1)
const options = resolvedTidyOptions({
  ...defaultTidyOptions,
  safetyBufferMs: 72 * hourMs,
  revokedSafetyBufferMs: hourMs,
})

test.each([
  { isRevoked: false, endedMs: 72 * hourMs, due: false, why: "its buffer ends at this moment" },
  { isRevoked: false, endedMs: 72 * hourMs + 1, due: true, why: "its buffer has ended" },
  { isRevoked: false, endedMs: 2 * hourMs, due: false, why: "only revoked certificates have the shorter buffer" },
  { isRevoked: true, endedMs: 2 * hourMs, due: true, why: "it is revoked, and the shorter buffer has ended" },
  { isRevoked: true, endedMs: hourMs, due: false, why: "the shorter buffer ends at this moment" },
  { isRevoked: true, endedMs: -hourMs, due: false, why: "it is valid" },
])("a certificate is due: $due, because $why", ({ isRevoked, endedMs, due }) => {
  const notAfter = now - endedMs
  expect(isCertificateDue({ notAfter, isRevoked }, options, now)).toBe(due)
  // Every certificate that tidy deletes is within the range that it reads.
  expect(!due || notAfter < earliestEnd(options, now)).toBe(true)
})

test("a revoked certificate has the general buffer unless revoked_safety_buffer is set", () => {
  expect(resolvedTidyOptions({ ...defaultTidyOptions, safetyBufferMs: 5_000 }).revokedSafetyBufferMs).toBe(5_000)
})

describe("the revocation of an expired certificate", () => {
  const list = "0123" as CrlListId
  const serialNumber = parseSerialNumber("0a:03") as SerialNumber
  const notAfter = now - 2 * hourMs
  const published = (
    thisUpdate: number,
    covered: number,
    shard = { count: 1, index: 0 },
    on = list,
  ): PublishedList => ({
    key: { list: on, shard },
    complete: { thisUpdate, covered, nextUpdate: now + 1 },
  })
  const overdue = (covered: number): PublishedList => ({
    key: { list, shard: { count: 1, index: 0 } },
    complete: { thisUpdate: 0, nextUpdate: now, covered },
  })
  const expired = notAfter + secondMs
  test.each([
    { lists: [], verdict: "due", why: "no list names it" },
    { lists: [published(expired, 7)], verdict: "due", why: "a later list contained it" },
    { lists: [overdue(0)], verdict: "due", why: "the list is no longer built because it is too long" },
    { lists: [published(notAfter, 7)], verdict: "listed-first", why: "the list was built before the expiry" },
    { lists: [published(expired, 6)], verdict: "listed-first", why: "the list was built before the revocation" },
    {
      lists: [published(0, 0, undefined, "4567" as CrlListId)],
      verdict: "due",
      why: "another issuer's list does not count",
    },
    { lists: [published(0, 0, { count: 4, index: 1 })], verdict: "due", why: "another shard has other certificates" },
    { lists: [published(0, 0, { count: 4, index: 3 })], verdict: "listed-first", why: "its shard did not contain it" },
    {
      lists: [published(expired, 7), published(0, 0, { count: 4, index: 3 })],
      verdict: "listed-first",
      why: "one of several shards did not contain it",
    },
  ])("is $verdict when $why", ({ lists, verdict }) => {
    expect(revocationDue({ serialNumber, list, number: 7, notAfter }, lists, options, now)).toBe(verdict)
  })

  test("is kept until its buffer ends", () => {
    const recent = { serialNumber, list, number: 7, notAfter: now - hourMs }
    expect(revocationDue(recent, [], options, now)).toBe("early")
  })
})

test("issuers are removed when their buffer has ended, except the default issuer", () => {
  const issuer = (id: string, notAfter: number) => ({ id, parsed: { notAfter } }) as ParsedIssuer
  const [old, recent, standard] = [issuer("iss-1", now - 2 * hourMs), issuer("iss-2", now - hourMs), issuer("iss-3", 0)]
  const found = expiredIssuers([old, recent, standard], standard.id, { ...options, issuerSafetyBufferMs: hourMs }, now)
  expect(found).toEqual([old])
  const all = expiredIssuers([old, recent, standard], null, { ...options, issuerSafetyBufferMs: secondMs }, now)
  expect(all).toEqual([old, recent, standard])
})

test("a run has the requested phases in their order", () => {
  const requested = { ...options, tidyExpiredIssuers: true, tidyCertStore: true, tidyAcme: true }
  const first = nextPhase(requested)
  expect(first).toEqual({ phase: "certificates", after: "" })
  expect(nextPhase(requested, first.phase)).toEqual({ phase: "issuers", after: "" })
  expect(nextPhase(requested, "issuers").phase).toBe("ACME orders")
  expect(nextPhase(requested, "ACME orders").phase).toBe("ACME accounts")
  expect(nextPhase(requested, "ACME accounts").phase).toBeUndefined()
  expect(nextPhase(options).phase).toBeUndefined()
})

describe("an automatic run", () => {
  const settings = { ...defaultAutoTidySettings, enabled: true, tidyCertStore: true }
  const minute = 60 * secondMs
  const facts = { now, lastFinishedAt: now - 12 * hourMs, serverStartedAt: now - 20 * minute, chance: 1 }
  test.each([
    { changes: {}, due: true, why: "the interval since the last run is over" },
    { changes: { lastFinishedAt: now - 12 * hourMs + 1 }, due: false, why: "the interval is not over" },
    {
      changes: { lastFinishedAt: now + 400 * 24 * hourMs },
      due: true,
      why: "[F-P15] the clock was ahead at the last run",
    },
    {
      changes: { serverStartedAt: now + 400 * 24 * hourMs },
      due: true,
      why: "[F-P15] the server started while the clock was ahead",
    },
    { changes: { lastFinishedAt: undefined }, due: true, why: "there was no run" },
    { changes: { serverStartedAt: now - 15 * minute }, due: true, why: "the longest backoff is over" },
    { changes: { serverStartedAt: now - 15 * minute + 1 }, due: false, why: "this server's backoff is not over" },
    {
      changes: { serverStartedAt: now - 5 * minute, chance: 0 },
      due: true,
      why: "the shortest backoff is that of this server",
    },
    {
      changes: { serverStartedAt: now - 5 * minute + 1, chance: 0 },
      due: false,
      why: "the shortest backoff is not over",
    },
  ])("is due: $due, because $why", ({ changes, due }) => {
    expect(isAutoTidyDue(settings, { ...facts, ...changes })).toBe(due)
    expect(isAutoTidyDue({ ...settings, enabled: false }, { ...facts, ...changes })).toBe(false)
  })
})

describe("the options of a run", () => {
  test.each([
    [{ safetyBufferMs: 999 }, ["safetyBufferMs"]],
    [
      { safetyBufferMs: secondMs, revokedSafetyBufferMs: 0, issuerSafetyBufferMs: 1_500 },
      ["revokedSafetyBufferMs", "issuerSafetyBufferMs"],
    ],
    [
      { acmeAccountSafetyBufferMs: 0, revocationQueueSafetyBufferMs: 1e16 },
      ["acmeAccountSafetyBufferMs", "revocationQueueSafetyBufferMs"],
    ],
    [{ pauseDurationMs: hourMs + 1, pageSize: 0 }, ["pauseDurationMs", "pageSize"]],
    [{ pageSize: 10_001 }, ["pageSize"]],
    [{ pauseDurationMs: 1, pageSize: 1, safetyBufferMs: secondMs }, []],
  ] as const)("%j is rejected at %j", (changes, fields) => {
    expect(tidyOptionFaults({ ...defaultTidyOptions, ...changes }).map(({ field }) => field?.[0])).toEqual(fields)
  })

  test.each([
    [{ enabled: true }, ["enabled"]],
    [{ enabled: true, tidyAcme: true }, []],
    [{ intervalDurationMs: 0, safetyBufferMs: 0 }, ["safetyBufferMs", "intervalDurationMs"]],
    [{ minStartupBackoffDurationMs: hourMs }, ["minStartupBackoffDurationMs"]],
    [{ minStartupBackoffDurationMs: 0, maxStartupBackoffDurationMs: 0 }, []],
    [{ maxStartupBackoffDurationMs: 25 * hourMs }, ["maxStartupBackoffDurationMs"]],
  ] as const)("automatic %j is rejected at %j", (changes, fields) => {
    expect(autoTidyFaults({ ...defaultAutoTidySettings, ...changes }).map(({ field }) => field?.[0])).toEqual(fields)
  })
})
