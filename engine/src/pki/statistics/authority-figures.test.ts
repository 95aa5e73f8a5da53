import { setImmediate as turn } from "node:timers/promises"
import { expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { dayMs, hourMs, minuteMs, secondMs } from "../../core/time.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { manualTimers } from "../../../testing/manual-timers.ts"
import { ocspQuestion } from "../../../testing/ocsp-question.ts"
import { recordedMetrics } from "../../../testing/recorded-metrics.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"
import { serialNumberOctets } from "../../x509/serial-number.ts"

async function opened() {
  const clock = manualClock()
  const timers = manualTimers(clock)
  const metrics = recordedMetrics()
  const testEngine = await openTestEngine({ runtime: { ...systemRuntime(), clock }, timers, metrics })
  const { engine } = testEngine
  await engine.mounts.create({ path: "pki" })
  const pki = engine.pki("pki")
  const root = await pki.issuers.generateRoot({
    commonName: "Root",
    keyType: "ec",
    issuerName: "root",
    ttlMs: 20 * dayMs,
  })
  await pki.roles.save("web", { allowAnyName: true, keyType: "ec", ttlMs: hourMs })
  const issue = async (ttlMs: number) =>
    (await pki.certificates.issue("web", { commonName: "a.test", ttlMs })).serialNumber
  return {
    engine,
    metrics,
    pki,
    root,
    clock,
    issue,
    pass: (ms: number) =>
      timers.advance(ms, async () => {
        do await turn()
        while (metrics.isJobRunning())
      }),
    [Symbol.asyncDispose]: () => testEngine[Symbol.asyncDispose](),
  }
}

test("a mount has figures of issuers and lists at once, and of certificates when they are counted", async () => {
  await using one = await opened()
  const { engine, pki, root, clock, issue, pass } = one
  const before = clock.now()
  await pki.crls.get()
  expect(await engine.authorityFigures()).toEqual({
    issuers: [
      { mount: "pki", issuer: root.issuerId, name: "root", notAfter: before + 20 * dayMs - secondMs, hasKey: true },
    ],
    lists: [
      {
        mount: "pki",
        issuer: root.issuerId,
        kind: "complete",
        thisUpdate: before,
        nextUpdate: before + 72 * hourMs,
        entryCount: 0,
      },
    ],
    mounts: [],
    enrolments: [],
    leftOut: 0,
  })
  const soonest = clock.now() + hourMs - secondMs
  await issue(hourMs)
  await issue(2 * dayMs)
  await pki.revocations.revoke({ serialNumber: await issue(30 * minuteMs) })
  await pass(6 * minuteMs)
  const { mounts, lists } = await engine.authorityFigures()
  expect(mounts).toMatchObject([
    {
      mount: "pki",
      statistics: {
        valid: 3,
        expired: 0,
        revoked: 1,
        expiringWithin: [1, 2, 3],
        soonestOfRoles: [{ role: "web", notAfter: soonest }],
      },
    },
  ])
  expect(lists).toMatchObject([{ entryCount: 1 }])
})

test("figures are read again after 15 seconds, not before", async () => {
  await using one = await opened()
  const { engine, pki, pass } = one
  const names = async () => (await engine.authorityFigures()).issuers.map(({ name }) => name)
  expect(await names()).toEqual(["root"])
  await pki.issuers.generateRoot({ commonName: "Other", keyType: "ec", issuerName: "other" })
  await pass(14 * secondMs)
  expect(await names()).toEqual(["root"])
  await pass(secondMs)
  expect(await names()).toEqual(["root", "other"])
})

test("OCSP responses and builds of revocation lists are counted", async () => {
  await using one = await opened()
  const { metrics, pki, root, issue } = one
  const serialNumber = serialNumberOctets(await issue(hourMs))
  const question = ocspQuestion({ digest: "sha256", issuer: root.certificate, serialNumber })
  for (const requested of [question, question, Uint8Array.of(0)]) await pki.ocsp.answer(requested)
  await pki.ocsp.answer(ocspQuestion({ digest: "sha256", issuer: root.certificate, serialNumber: Uint8Array.of(9) }))
  const answers = (status: string) => metrics.value("chancery_ocsp_answers_total", { status })
  expect(["good", "unknown", "malformed_request", "revoked"].map(answers)).toEqual([2, 1, 1, 0])
  expect(metrics.value("chancery_ocsp_kept_answers_total")).toBe(1)
  await pki.crls.get()
  await pki.crls.get()
  const kind = "complete"
  const builds = (outcome: string) => metrics.value("chancery_crl_builds_total", { kind, outcome })
  expect(["done", "failed"].map(builds)).toEqual([1, 0])
  expect(metrics.series("chancery_crl_last_build_duration_seconds")).toEqual([{ labels: { kind }, value: 0 }])
})
