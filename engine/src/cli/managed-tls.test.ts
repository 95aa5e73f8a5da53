import { X509Certificate } from "node:crypto"
import { afterEach, beforeEach, expect, test } from "vitest"
import { type Log, silentLog, systemRuntime } from "../core/runtime.ts"
import { dayMs, hourMs, minuteMs } from "../core/time.ts"
import type { TlsIdentity } from "../server/server.ts"
import { manualClock } from "../../testing/manual-clock.ts"
import { manualTimers } from "../../testing/manual-timers.ts"
import { openTestEngine, type TestEngine } from "../../testing/test-engine.ts"
import { CommandError, exitCodes } from "./exit-code.ts"
import { issueManagedTls } from "./managed-tls.ts"
import { parseManagedTls } from "./managed-tls-setting.ts"

const clock = manualClock()
let testEngine: TestEngine
beforeEach(async () => {
  testEngine = await openTestEngine({ runtime: { ...systemRuntime(), clock } })
  await testEngine.engine.mounts.create({ path: "pki", config: { maxLeaseTtlMs: 3650 * dayMs } })
  const { issuers, roles } = testEngine.engine.pki("pki")
  await issuers.generateRoot({ commonName: "Root", keyType: "ec", ttlMs: 3650 * dayMs })
  await roles.save("web", { allowedDomains: ["example"], allowSubdomains: true, keyType: "ec", ttlMs: 30 * hourMs })
})
afterEach(() => testEngine[Symbol.asyncDispose]())

const wanted = { mount: "pki", role: "web", hosts: ["a.example", "10.0.0.1", "b.example", "::1"] }
const leafOf = ({ certificate }: TlsIdentity) => new X509Certificate(certificate)

async function managed(log: Partial<Log> = {}) {
  const timers = manualTimers(clock)
  const runtime = { clock, log: { ...silentLog, ...log } }
  const certificate = await issueManagedTls(testEngine.engine, wanted, { runtime, timers })
  const shown: TlsIdentity[] = []
  certificate.source.onChange((identity) => void shown.push(identity))
  // A renewal is done when its timer is set again.
  const settled = async () => {
    await expect.poll(() => timers.pendingCount, { interval: 1 }).toBe(1)
  }
  return {
    source: certificate.source,
    shown,
    advance: (ms: number) => timers.advance(ms, settled),
    timers,
    certificate,
  }
}

test("managed TLS issues a certificate for names and addresses, with a chain without the root", async () => {
  const { source } = await managed()
  const leaf = leafOf(source.current())
  expect(leaf.subject).toBe("CN=a.example")
  expect(leaf.subjectAltName?.split(", ").toSorted()).toEqual([
    "DNS:a.example",
    "DNS:b.example",
    "IP Address:0:0:0:0:0:0:0:1",
    "IP Address:10.0.0.1",
  ])
  expect(source.current().certificate.match(/BEGIN CERTIFICATE/g)).toHaveLength(1)
})

test("managed TLS renews the certificate after two thirds of its validity", async () => {
  const events: string[] = []
  const { source, shown, advance } = await managed({ info: (event) => void events.push(event) })
  const first = source.current()
  await advance(19 * hourMs)
  expect(source.current()).toBe(first)
  await advance(hourMs + minuteMs)
  expect(shown).toEqual([source.current()])
  expect(leafOf(source.current()).serialNumber).not.toBe(leafOf(first).serialNumber)
  expect(leafOf(source.current()).validToDate.getTime()).toBeGreaterThan(leafOf(first).validToDate.getTime())
  await advance(21 * hourMs)
  expect([shown.length, events]).toEqual([2, ["tls certificate renewed", "tls certificate renewed"]])
})

test("managed TLS keeps the certificate, logs the failure and retries when renewal fails", async () => {
  const logged: unknown[] = []
  const { source, shown, advance } = await managed({
    error: (event, fields) => void logged.push([event, fields?.["notAfter"]]),
  })
  const first = source.current()
  const { roles } = testEngine.engine.pki("pki")
  await roles.delete("web")
  await advance(20 * hourMs + 5 * minuteMs)
  expect(source.current()).toBe(first)
  const notAfter = leafOf(first).validToDate.toISOString()
  expect(logged.length).toBeGreaterThan(1)
  expect(new Set(logged.map((one) => JSON.stringify(one)))).toEqual(
    new Set([JSON.stringify(["tls certificate not renewed", notAfter])]),
  )
  await roles.save("web", { allowedDomains: ["example"], allowSubdomains: true, keyType: "ec", ttlMs: hourMs })
  await advance(10 * minuteMs)
  expect(shown).toHaveLength(1)
})

test("[F-P15] managed TLS renews a certificate that was issued while the clock was ahead", async () => {
  const events: string[] = []
  const pending: (() => void)[] = []
  const timers = {
    after: (_delayMs: number, work: () => void) => {
      pending.push(work)
      return () => {}
    },
  }
  const runtime = { clock, log: { ...silentLog, warn: (event: string) => void events.push(event) } }
  const now = clock.now()
  clock.advance(3 * hourMs)
  const { source } = await issueManagedTls(testEngine.engine, wanted, { runtime, timers })
  const first = source.current()
  clock.set(now)
  pending.shift()?.()
  await expect.poll(() => pending.length).toBe(1)
  expect(source.current()).not.toBe(first)
  expect(leafOf(source.current()).validFromDate.getTime()).toBeLessThanOrEqual(now)
  expect(events).toEqual(["tls certificate not yet valid"])
})

test("managed TLS stops renewing after disposal", async () => {
  const { certificate, timers } = await managed()
  certificate[Symbol.dispose]()
  expect(timers.pendingCount).toBe(0)
})

test.each([
  {
    why: "no mount",
    change: { mount: "absent" },
    stderr: /^The server cannot issue itself a certificate from absent under the role web \(.+\); check/,
  },
  {
    why: "no role",
    change: { role: "absent" },
    stderr: /\(unknown role: absent\); check that both exist and allow a\.example, /,
  },
  { why: "a name that is not allowed", change: { hosts: ["a.test"] }, stderr: /a\.test/ },
])("server start fails with one sentence when managed TLS has $why", async ({ change, stderr }) => {
  const issuing = issueManagedTls(
    testEngine.engine,
    { ...wanted, ...change },
    { runtime: { clock, log: silentLog }, timers: manualTimers(clock) },
  )
  const error: unknown = await issuing.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(CommandError)
  expect(error).toMatchObject({ exitCode: exitCodes.configuration, message: expect.stringMatching(stderr) as string })
})

test.each([
  ["pki/web:a.example", { mount: "pki", role: "web", hosts: ["a.example"] }],
  ["a:b/pki/web:::1,localhost", { mount: "a:b/pki", role: "web", hosts: ["::1", "localhost"] }],
  ["pki/web", undefined],
  ["pki/web:", undefined],
  ["web:a.example", undefined],
  ["pki/web:a b", undefined],
  ["pki/web:a.example,", undefined],
  ["pki/web:a/b", undefined],
])("tlsManaged %s is parsed as %o", (text, expected) => {
  expect(parseManagedTls(text)).toEqual(expected)
})
