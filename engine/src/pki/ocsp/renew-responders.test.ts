import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises"
import { expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { hourMs, minuteMs } from "../../core/time.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { manualTimers } from "../../../testing/manual-timers.ts"
import { ocspQuestion } from "../../../testing/ocsp-question.ts"
import { recordedMetrics } from "../../../testing/recorded-metrics.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"
import { renewRespondersJob } from "./renew-responders.ts"

async function opened() {
  const clock = manualClock()
  const timers = manualTimers(clock)
  const metrics = recordedMetrics()
  const testEngine = await openTestEngine({ runtime: { ...systemRuntime(), clock }, timers, metrics })
  await testEngine.engine.mounts.create({ path: "pki" })
  const pki = testEngine.engine.pki("pki")
  const { certificate: issuer } = await pki.issuers.generateRoot({ commonName: "Root", keyType: "ec" })
  const question = ocspQuestion({ digest: "sha256", issuer, serialNumber: Uint8Array.of(9) })
  return {
    pki,
    clock,
    /** Counts the certificates without the root. All others are responder certificates. */
    responderCount: async () => (await pki.certificates.list()).length - 1,
    ask: () => pki.ocsp.answer(question),
    pass: (ms: number) =>
      timers.advance(ms, async () => {
        await turn()
        // Sleeps: an event loop that only yields would take processor time from a database in another process.
        while (metrics.isJobRunning()) await sleep(1)
      }),
    runCount: () => metrics.value("chancery_job_runs_total", { job: renewRespondersJob.name, outcome: "done" }),
    [Symbol.asyncDispose]: () => testEngine[Symbol.asyncDispose](),
  }
}

test("a delegated responder is created and renewed before the first request", async () => {
  await using mount = await opened()
  await mount.pki.crls.configure({ ocspDelegatedResponder: true, ocspResponderTtlMs: 2 * hourMs, ocspExpiryMs: hourMs })
  await mount.pass(10 * minuteMs)
  expect(mount.runCount()).toBeGreaterThan(0)
  expect(await mount.responderCount()).toBe(1)
  await mount.ask()
  await mount.pass(30 * minuteMs)
  expect(await mount.responderCount()).toBe(1)
  // Half of the responder's lifetime ends before the next run of the job.
  await mount.pass(15 * minuteMs)
  expect(await mount.responderCount()).toBe(2)
  await mount.ask()
  expect(await mount.responderCount()).toBe(2)
})

test("no responder is created for an issuer that signs responses itself or is disabled", async () => {
  await using mount = await opened()
  await mount.ask()
  await mount.pass(12 * minuteMs)
  await mount.pki.crls.configure({ ocspDelegatedResponder: true, ocspDisable: true })
  await mount.pass(12 * minuteMs)
  expect(mount.runCount()).toBeGreaterThan(2)
  expect(await mount.responderCount()).toBe(0)
})
