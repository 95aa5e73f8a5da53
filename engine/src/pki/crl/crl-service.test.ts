import { setTimeout } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { hourMs, minuteMs } from "../../core/time.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"
import { systemRuntime } from "../../core/runtime.ts"
import { parseCertificate } from "../../x509/certificate.ts"
import { parseCertificateList } from "../../x509/certificate-list.ts"
import { parseExtensionValues } from "../../x509/extensions.ts"
import { findExtension } from "../../x509/extension.ts"
import { oids } from "../../x509/asn1/oids.ts"
import { writePem } from "../../x509/pem.ts"
import { readPublicKey } from "../../x509/public-key.ts"
import { isSignedBy } from "../../x509/signature.ts"
import { type SerialNumber, serialNumberOf } from "../../x509/serial-number.ts"
import type { CrlChoice } from "./crl-api.ts"
import { shardOf } from "./shard.ts"

const clock = manualClock(Date.UTC(2030, 0, 1))
let testEngine: TestEngine
beforeAll(async () => {
  testEngine = await openTestEngine({ runtime: { ...systemRuntime(), clock } })
})
afterAll(() => testEngine[Symbol.asyncDispose]())

let mounts = 0
async function newMount(keyType = "ec") {
  const path = `m${(mounts += 1)}`
  await testEngine.engine.mounts.create({ path })
  const pki = testEngine.engine.pki(path)
  const root = await pki.issuers.generateRoot({ commonName: `Root of ${path}`, keyType, ttlMs: 700 * hourMs })
  await pki.roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: 300 * hourMs, maxTtlMs: 600 * hourMs })
  const issuerKey = readPublicKey(parseCertificate(root.certificate).subjectPublicKeyInfo)
  /** Verifies the signature of a CRL, and returns it with its decoded list and serial numbers. */
  const read = async (choice: CrlChoice = {}) => {
    const crl = await pki.crls.get(choice)
    if (crl === undefined) return undefined
    const list = parseCertificateList(crl.der)
    const { tbs: data, signatureAlgorithm: algorithm, signature } = list
    expect(isSignedBy(issuerKey, { data, algorithm, signature })).toBe(true)
    const serials = list.entries.map((entry) => serialNumberOf(entry.serialNumber) as SerialNumber)
    return { ...crl, list, serials }
  }
  const issue = async () => (await pki.certificates.issue("any", { commonName: "a.test" })).serialNumber
  const revokeNew = async () => {
    const serialNumber = await issue()
    await pki.revocations.revoke({ serialNumber })
    return serialNumber
  }
  return { path, pki, root, read, issue, revokeNew }
}

describe("a revocation list with auto_rebuild", () => {
  test("stays unchanged until its grace period begins or it is rotated by hand", async () => {
    const { pki, read, revokeNew } = await newMount()
    await pki.crls.configure({ autoRebuild: true, expiryMs: 10 * hourMs, autoRebuildGracePeriodMs: 2 * hourMs })
    const before = await read()
    const first = await revokeNew()
    clock.advance(7 * hourMs)
    expect((await read())?.number).toBe(before?.number)
    clock.advance(hourMs)
    expect((await read())?.serials).toEqual([first])
    const second = await revokeNew()
    expect((await read())?.serials).toEqual([first])
    await pki.crls.rotate()
    expect((await read())?.serials).toEqual([first, second])
  })

  test("contains every revocation before its rotation when another build was running", async () => {
    const { path, pki, read, revokeNew } = await newMount()
    await pki.crls.configure({ autoRebuild: true, expiryMs: 10 * hourMs, autoRebuildGracePeriodMs: 2 * hourMs })
    const signing = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const { engine } = testEngine
    const trail = {
      ...engine.audit.trail({}),
      async keyUse() {
        signing.resolve()
        await goOn.promise
      },
    }
    const begunBefore = engine.as(engine.caller, trail).pki(path).crls.rotate()
    await signing.promise
    const revoked = await revokeNew()
    const rotations = [pki.crls.rotate(), pki.crls.rotate()]
    // Long enough for both rotations to reach the point where they wait.
    await setTimeout(50)
    goOn.resolve()
    await Promise.all([begunBefore, ...rotations])
    expect((await read())?.serials).toEqual([revoked])
  })

  test("has deltas with later revocations, each naming its base list", async () => {
    const { pki, read, revokeNew } = await newMount()
    expect(await read({ delta: true })).toBeUndefined()
    await pki.crls.configure({
      autoRebuild: true,
      expiryMs: 10 * hourMs,
      autoRebuildGracePeriodMs: hourMs,
      enableDelta: true,
      deltaRebuildIntervalMs: 10 * minuteMs,
    })
    const listed = await revokeNew()
    const complete = await read()
    expect(complete?.serials).toEqual([listed])
    expect((await read({ delta: true }))?.serials).toEqual([])
    const since = await revokeNew()
    expect((await read({ delta: true }))?.serials).toEqual([])
    clock.advance(10 * minuteMs)
    const delta = await read({ delta: true })
    expect(delta?.serials).toEqual([since])
    expect(delta?.number).toBeGreaterThan(complete?.number ?? 0)
    const indicator = findExtension(delta?.list.extensions ?? [], oids.deltaCrlIndicator)
    expect(indicator?.critical).toBe(true)
    expect(BigInt(`0x${Buffer.from(indicator?.value.subarray(2) ?? []).toString("hex")}`)).toBe(
      BigInt(complete?.number ?? 0),
    )
    const early = await revokeNew()
    await pki.crls.rotateDelta()
    expect((await read({ delta: true }))?.serials).toEqual([since, early])
    await pki.crls.rotate()
    expect((await read())?.serials).toEqual([listed, since, early])
    expect((await read({ delta: true }))?.serials).toEqual([])
  })
})

test("an expired list is rebuilt when a client reads it", async () => {
  const { read } = await newMount()
  const before = await read()
  clock.advance(72 * hourMs - 1)
  expect((await read())?.number).toBe(before?.number)
  clock.advance(1)
  const after = await read()
  expect(after?.number).toBeGreaterThan(before?.number ?? 0)
  expect(after?.nextUpdate).toBe((after?.thisUpdate ?? 0) + 72 * hourMs)
})

test("a list that would be too long is not built, and the previous one is served until it expires", async () => {
  const { pki, read, revokeNew } = await newMount()
  await pki.crls.configure({ maxCrlEntries: 2, autoRebuild: true })
  await revokeNew()
  await revokeNew()
  expect((await read())?.serials).toHaveLength(2)
  await revokeNew()
  await expect(pki.crls.rotate()).rejects.toMatchObject({ code: "unprocessable" })
  expect((await read())?.serials).toHaveLength(2)
  await pki.crls.configure({ maxCrlEntries: -1 })
  await pki.crls.rotate()
  expect((await read())?.serials).toHaveLength(3)
})

test("each shard contains the certificates that name it, and the whole list contains all", async () => {
  const { path, pki, read } = await newMount()
  const url = `http://pki.test/v1/${path}/crl`
  await pki.settings.changeUrls({ crlDistributionPoints: [url] })
  await pki.crls.configure({ shards: 4 })
  const revoked: SerialNumber[] = []
  for (let round = 0; round < 12; round += 1) {
    const { serialNumber, certificate } = await pki.certificates.issue("any", { commonName: "a.test" })
    const { index } = shardOf(serialNumber, 4)
    expect(parseExtensionValues(parseCertificate(certificate).extensions).crlDistributionPoints).toEqual([
      [`${url}/shard/4-${index}`],
    ])
    await pki.revocations.revoke({ serialNumber })
    revoked.push(serialNumber)
  }
  expect((await read())?.serials).toEqual(revoked)
  for (let index = 0; index < 4; index += 1) {
    const part = await read({ shard: { count: 4, index } })
    expect(part?.serials).toEqual(revoked.filter((serial) => shardOf(serial, 4).index === index))
    const point = findExtension(part?.list.extensions ?? [], oids.issuingDistributionPoint)
    expect(point?.critical).toBe(true)
    expect(Buffer.from(point?.value ?? []).toString("latin1")).toContain(`${url}/shard/4-${index}`)
  }
  await pki.crls.configure({ shards: 8 })
  expect((await read({ shard: { count: 4, index: 1 } }))?.serials).toEqual(
    revoked.filter((serial) => shardOf(serial, 4).index === 1),
  )
  await expect(read({ shard: { count: 16, index: 1 } })).rejects.toMatchObject({ code: "not-found" })
})

test("a shard that no certificate can name is not served", async () => {
  const { pki, read } = await newMount()
  await pki.crls.configure({ shards: 2 })
  expect(await read({ shard: { count: 2, index: 0 } })).toBeUndefined()
  expect((await read())?.serials).toEqual([])
})

test("a revoked issuer is on the revocation list of its own issuer", async () => {
  const { pki, read } = await newMount()
  const { csr } = await pki.issuers.generateIntermediate({ commonName: "Intermediate", keyType: "ec" })
  const signed = await pki.certificates.signIntermediate({
    csr: writePem("CERTIFICATE REQUEST", csr),
    commonName: "Intermediate",
  })
  const { importedIssuers } = await pki.issuers.import(writePem("CERTIFICATE", signed.certificate))
  await pki.issuers.revoke(importedIssuers[0] ?? "")
  expect((await read())?.serials).toEqual([signed.serialNumber])
  const own = await pki.crls.get({ issuerRef: importedIssuers[0] ?? "" })
  expect(parseCertificateList(own?.der ?? new Uint8Array()).entries).toEqual([])
})

test("[F-P3] revoking an expired certificate returns a warning and does nothing unless the configuration allows it", async () => {
  const { pki, issue, read } = await newMount()
  const serialNumber = await issue()
  clock.advance(301 * hourMs)
  expect(await pki.revocations.revoke({ serialNumber })).toEqual({
    serialNumber,
    revokedAt: null,
    warnings: [expect.stringContaining("allow_expired_cert_revocation")],
  })
  expect(await pki.revocations.list()).toEqual([])
  await pki.crls.configure({ allowExpiredCertRevocation: true })
  await pki.revocations.revoke({ serialNumber })
  expect((await read())?.serials).toEqual([serialNumber])
})

test("concurrent readers cause one build", async () => {
  const { read, revokeNew } = await newMount()
  await revokeNew()
  const lists = await Promise.all(Array.from({ length: 20 }, () => read()))
  expect(new Set(lists.map((list) => list?.number)).size).toBe(1)
})
