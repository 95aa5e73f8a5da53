// A clock that is set back after it was ahead. Verifiers reject what a mount published or cached while it was ahead.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { systemRuntime } from "../core/runtime.ts"
import { dayMs, hourMs, minuteMs } from "../core/time.ts"
import { manualClock } from "../../testing/manual-clock.ts"
import { ocspQuestion } from "../../testing/ocsp-question.ts"
import { openTestEngine, type TestEngine } from "../../testing/test-engine.ts"
import { parseCertificate } from "../x509/certificate.ts"

const present = Date.UTC(2030, 0, 1, 12)
const clock = manualClock(present)
const warnings: { event: string; mount: unknown }[] = []
const log = {
  ...systemRuntime().log,
  warn: (event: string, fields?: Readonly<Record<string, unknown>>) =>
    void warnings.push({ event, mount: fields?.["mount"] }),
}
let testEngine: TestEngine
beforeAll(async () => {
  testEngine = await openTestEngine({ runtime: { ...systemRuntime(), clock, log }, jobs: false })
})
afterAll(() => testEngine[Symbol.asyncDispose]())
beforeEach(() => {
  clock.set(present)
  warnings.length = 0
})

let mounts = 0
async function newMount() {
  const path = `m${(mounts += 1)}`
  await testEngine.engine.mounts.create({ path })
  const pki = testEngine.engine.pki(path)
  const { certificate } = await pki.issuers.generateRoot({ commonName: path, keyType: "ec", ttlMs: 700 * hourMs })
  await pki.roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: hourMs })
  const { serialNumber } = await pki.certificates.issue("any", { commonName: "a.test" })
  const magnitude = Buffer.from(serialNumber.replaceAll(":", ""), "hex")
  const question = ocspQuestion({ digest: "sha256", issuer: certificate, serialNumber: magnitude })
  return { path, pki, ask: async () => Buffer.from((await pki.ocsp.answer(question)).der) }
}

/** Five hours ahead. On either clock, nothing that is served has expired. */
const ahead = present + 5 * hourMs

describe("[F-P15] a revocation list that is not yet valid", () => {
  test.each([
    { why: "readers rebuild it", settings: {}, delta: false },
    { why: "a job rebuilds it", settings: { autoRebuild: true }, delta: false },
    {
      why: "it is a delta",
      settings: { autoRebuild: true, enableDelta: true, deltaRebuildIntervalMs: hourMs },
      delta: true,
    },
  ])("is rebuilt with a higher number and a warning when $why", async ({ settings, delta }) => {
    const { path, pki } = await newMount()
    await pki.crls.configure(settings)
    clock.set(ahead)
    const early = await pki.crls.get({ delta })
    expect(early?.thisUpdate).toBe(ahead)
    clock.set(present)
    const list = await pki.crls.get({ delta })
    expect(list?.thisUpdate).toBe(present)
    expect(list?.number).toBeGreaterThan(early?.number ?? Infinity)
    const warning = { event: "crl-not-yet-valid", mount: path }
    expect(warnings).toEqual(delta ? [warning, warning] : [warning])
    expect(await pki.crls.get({ delta })).toEqual(list)
    expect(warnings).toHaveLength(delta ? 2 : 1)
    // The complete CRL is rebuilt before the delta, so that the delta's base CRL is one that verifiers accept.
    expect((await pki.crls.get())?.thisUpdate).toBe(present)
  })

  test("is kept when the clocks of two servers differ by less than a second", async () => {
    const { pki } = await newMount()
    const list = await pki.crls.get()
    clock.set(present - 999)
    expect(await pki.crls.get()).toEqual(list)
    expect(warnings).toEqual([])
  })

  test("is sent to HTTP clients that have cached the earlier list", async () => {
    const { path, pki } = await newMount()
    clock.set(ahead)
    await pki.crls.get()
    clock.advance(minuteMs)
    const read = (headers: Readonly<Record<string, string>>) =>
      testEngine.pki("GET", `/${path}/crl`, { token: null, headers })
    const since = (await read({})).headers.get("last-modified") ?? ""
    expect(since).not.toBe("")
    clock.set(present)
    expect((await read({ "if-modified-since": since })).status).toBe(200)
  })
})

describe("[F-P15] OCSP", () => {
  test("responses that are not yet valid are removed from the cache at once with one warning", async () => {
    const { path, ask } = await newMount()
    clock.set(ahead)
    const early = await ask()
    expect(await ask()).toEqual(early)
    clock.set(present)
    const answer = await ask()
    expect(producedAt(answer)).toBe(present)
    expect(await ask()).toEqual(answer)
    expect(warnings).toEqual([{ event: "ocsp-answers-not-yet-valid", mount: path }])
  })

  test("creates a new responder when the current one is not yet valid", async () => {
    const { path, pki, ask } = await newMount()
    await pki.crls.configure({ ocspDelegatedResponder: true, ocspResponderTtlMs: 2 * dayMs })
    clock.set(ahead)
    await ask()
    await ask()
    clock.set(present)
    await ask()
    await ask()
    expect(warnings.map(({ event }) => event).toSorted()).toEqual([
      "ocsp-answers-not-yet-valid",
      "ocsp-responder-not-yet-valid",
    ])
    expect(warnings.map(({ mount }) => mount)).toEqual([path, path])
    const starts: number[] = []
    for (const serialNumber of await pki.certificates.list())
      starts.push(parseCertificate((await pki.certificates.get(serialNumber)).certificate).notBefore)
    expect(starts.filter((start) => start > present)).toHaveLength(1)
  })
})

/** Reads the first GeneralizedTime; all times of one answer are equal. */
function producedAt(der: Buffer): number {
  const [, year, month, day, hour, minute, second] =
    /(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z/.exec(der.toString("latin1"))?.map(Number) ?? []
  return Date.UTC(year ?? 0, (month ?? 0) - 1, day, hour, minute, second)
}
