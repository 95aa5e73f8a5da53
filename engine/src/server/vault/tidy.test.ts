import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { dayMs, hourMs } from "../../core/time.ts"
import { systemRuntime } from "../../core/runtime.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"
import { parseCertificateList } from "../../x509/certificate-list.ts"
import { serialNumberOf } from "../../x509/serial-number.ts"

const clock = manualClock(Date.UTC(2030, 0, 1))
let world: TestEngine
beforeAll(async () => {
  world = await openTestEngine({ runtime: { ...systemRuntime(), clock } })
})
afterAll(() => world[Symbol.asyncDispose]())

const started = "Tidy operation successfully started. Read its progress from tidy-status."

let mounts = 0
async function newMount() {
  const path = `m${(mounts += 1)}`
  await world.engine.mounts.create({ path, config: { maxLeaseTtlMs: 3_650 * dayMs } })
  const pki = world.engine.pki(path)
  await pki.issuers.generateRoot({ commonName: `Root of ${path}`, keyType: "ec", ttlMs: 3_000 * dayMs })
  await pki.roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: hourMs, maxTtlMs: 100 * dayMs })
  const issue = async (input: { ttlMs?: number; certMetadata?: string } = {}) =>
    (await pki.certificates.issue("any", { commonName: "a.test", ...input })).serialNumber
  const revokeNew = async () => {
    const serialNumber = await issue()
    await pki.revocations.revoke({ serialNumber })
    return serialNumber
  }
  const ask = (method: string, below: string, body?: object) =>
    world.pki(method, `/${path}/${below}`, body === undefined ? {} : { body })
  const status = async () => (await ask("GET", "tidy-status")).body.data
  /** Starts a tidy run, waits for its end, and returns its status, successful or not. */
  const tidied = async (body: object) => {
    expect((await ask("POST", "tidy", body)).status).toBe(202)
    return ended()
  }
  const ended = async () => {
    await vi.waitFor(async () => expect((await status()).time_finished).not.toBeNull(), 5_000)
    return status()
  }
  const listed = async () => {
    const crl = await pki.crls.get()
    return parseCertificateList(crl?.der ?? new Uint8Array()).entries.map((entry) => serialNumberOf(entry.serialNumber))
  }
  return { path, pki, issue, revokeNew, ask, status, tidied, ended, listed }
}

describe("tidy", () => {
  test("deletes only certificates and metadata whose safety buffer is over", async () => {
    const { issue, ask, tidied } = await newMount()
    const gone = await issue({ certMetadata: "bm90ZQ==" })
    const kept = await issue({ ttlMs: 80 * hourMs, certMetadata: "bm90ZQ==" })
    clock.advance(hourMs + 72 * hourMs + 2_000)
    expect(await tidied({ tidy_cert_store: true })).toMatchObject({
      state: "Finished",
      error: null,
      message: null,
      tidy_cert_store: true,
      tidy_revoked_certs: false,
      safety_buffer: 259_200,
      revoked_safety_buffer: 259_200,
      issuer_safety_buffer: 31_536_000,
      acme_account_safety_buffer: 2_592_000,
      revocation_queue_safety_buffer: 172_800,
      pause_duration: "0s",
      page_size: 1_000,
      cert_store_deleted_count: 1,
      revoked_cert_deleted_count: 0,
      cert_metadata_deleted_count: 1,
      total_acme_account_count: 0,
      current_cert_store_count: null,
    })
    expect((await ask("GET", `cert/${gone}`)).status).toBe(404)
    expect((await ask("GET", `cert-metadata/${gone}`)).status).toBe(404)
    expect((await ask("GET", `cert/${kept}`)).status).toBe(200)
    expect((await ask("GET", `cert-metadata/${kept}`)).status).toBe(200)
  })

  test("deletes revoked certificates once a CRL from after their expiry contained them", async () => {
    const { revokeNew, ask, tidied, listed } = await newMount()
    const gone = await revokeNew()
    expect(await listed()).toEqual([gone])
    clock.advance(2 * hourMs)
    const options = { tidy_revoked_certs: true, safety_buffer: "1s" }
    expect(await tidied(options)).toMatchObject({
      state: "Finished",
      revoked_cert_deleted_count: 0,
      revoked_cert_waiting_count: 1,
      message: expect.stringContaining("RFC 5280, section 3.3"),
    })
    expect((await ask("LIST", "certs/revoked")).body.data.keys).toEqual([gone])
    // The next CRL still lists the expired certificate once (RFC 5280, section 3.3).
    clock.advance(72 * hourMs)
    expect(await listed()).toEqual([gone])
    const kept = await revokeNew()
    expect(await tidied(options)).toMatchObject({ revoked_cert_deleted_count: 1, revoked_cert_waiting_count: 0 })
    expect((await ask("LIST", "certs/revoked")).body.data.keys).toEqual([kept])
    expect((await ask("GET", `cert/${gone}`)).status).toBe(404)
    clock.advance(10_000)
    expect(await listed()).toEqual([kept])
  })

  test("deletes a revoked certificate and its revocation together when no CRL exists", async () => {
    const { revokeNew, ask, tidied } = await newMount()
    await revokeNew()
    clock.advance(80 * hourMs)
    const done = await tidied({ tidy_cert_store: true, tidy_revoked_certs: true })
    expect(done).toMatchObject({ cert_store_deleted_count: 1, revoked_cert_deleted_count: 1 })
    expect((await ask("LIST", "certs/revoked")).status).toBe(404)
  })

  test("uses revoked_safety_buffer for revoked certificates", async () => {
    const { issue, revokeNew, ask, tidied } = await newMount()
    const kept = await issue()
    const gone = await revokeNew()
    clock.advance(2 * hourMs)
    await tidied({ tidy_cert_store: true, safety_buffer: "72h", revoked_safety_buffer: "30m" })
    expect((await ask("GET", `cert/${gone}`)).status).toBe(404)
    expect((await ask("GET", `cert/${kept}`)).status).toBe(200)
    expect((await ask("LIST", "certs/revoked")).body.data.keys).toEqual([gone])
  })

  test("deletes expired issuers, but neither the default issuer nor keys", async () => {
    const { pki, tidied } = await newMount()
    const short = { keyType: "ec", ttlMs: hourMs } as const
    const old = await pki.issuers.generateRoot({ commonName: "Old", issuerName: "old", ...short })
    clock.advance(2 * hourMs)
    expect(await tidied({ tidy_expired_issuers: true })).toMatchObject({ expired_issuer_deleted_count: 0 })
    const options = { tidy_expired_issuers: true, issuer_safety_buffer: "30m" }
    expect(await tidied(options)).toMatchObject({ expired_issuer_deleted_count: 1 })
    expect((await pki.issuers.list()).map(({ name }) => name)).toEqual([null])
    expect((await pki.keys.list()).map(({ id }) => id)).toContain(old.keyId)
    clock.advance(4_000 * dayMs)
    expect(await tidied(options)).toMatchObject({ expired_issuer_deleted_count: 0 })
    expect(await pki.issuers.list()).toHaveLength(1)
  })

  test("associates revoked certificates with an issuer that was imported again", async () => {
    const { path, pki, revokeNew, tidied } = await newMount()
    const [before] = await pki.issuers.list()
    const { certificate } = await pki.issuers.certificate("default")
    const serialNumber = await revokeNew()
    await pki.issuers.delete("default")
    const options = { tidy_revoked_cert_issuer_associations: true }
    expect(await tidied(options)).toMatchObject({ missing_issuer_cert_count: 1, revoked_cert_associated_count: 0 })
    const pem = `-----BEGIN CERTIFICATE-----\n${Buffer.from(certificate).toString("base64")}\n-----END CERTIFICATE-----\n`
    const { importedIssuers } = await pki.issuers.import(pem)
    expect(importedIssuers).not.toContain(before?.id)
    expect(await tidied(options)).toMatchObject({ missing_issuer_cert_count: 1, revoked_cert_associated_count: 1 })
    expect(await tidied(options)).toMatchObject({ missing_issuer_cert_count: 0 })
    expect((await world.pki("LIST", `/${path}/certs/revoked`)).body.data.keys).toEqual([serialNumber])
  })

  test("deletes metadata of certificates that are not stored", async () => {
    const { pki, issue, ask, tidied } = await newMount()
    await pki.roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: hourMs, noStore: true })
    const gone = await issue({ certMetadata: "bm90ZQ==" })
    expect((await ask("GET", `cert-metadata/${gone}`)).status).toBe(200)
    clock.advance(2 * hourMs)
    const done = await tidied({ tidy_cert_metadata: true, tidy_invalid_certs: true, safety_buffer: 60 })
    expect(done).toMatchObject({ cert_metadata_deleted_count: 1, cert_store_deleted_count: 0 })
    expect((await ask("GET", `cert-metadata/${gone}`)).status).toBe(404)
  })

  test("without an operation warns and does nothing", async () => {
    const { ask, ended } = await newMount()
    const answer = await ask("POST", "tidy", {})
    expect(answer.status).toBe(202)
    expect(answer.body).toMatchObject({ data: null, warnings: expect.stringContaining("no tidy operations were set") })
    expect(await ended()).toMatchObject({ state: "Finished", cert_store_deleted_count: 0 })
  })

  test("accepts flags that do not apply, and the former name of one flag", async () => {
    const { revokeNew, tidied, ask } = await newMount()
    await revokeNew()
    clock.advance(80 * hourMs)
    const others = {
      tidy_acme: true,
      tidy_move_legacy_ca_bundle: true,
      tidy_revocation_queue: true,
      tidy_cross_cluster_revoked_certs: true,
      tidy_cmpv2_nonce_store: true,
    }
    expect(await tidied(others)).toMatchObject({ ...others, state: "Finished", acme_orders_deleted_count: 0 })
    expect((await ask("LIST", "certs/revoked")).body.data.keys).toHaveLength(1)
    expect(await tidied({ tidy_revocation_list: "true" })).toMatchObject({ revoked_cert_deleted_count: 1 })
  })

  test("is rejected with a safety buffer below a second or a page size of zero", async () => {
    const { ask, status } = await newMount()
    const wrong = { safety_buffer: 0, issuer_safety_buffer: "100ms", page_size: 0, pause_duration: "2h" }
    const answer = await ask("POST", "tidy", { tidy_cert_store: true, ...wrong })
    expect([answer.status, answer.body.errors.toSorted()]).toEqual([
      400,
      [
        "issuer_safety_buffer: must be a whole number of seconds, from one second to 100 years",
        "page_size: must be from 1 to 10000",
        "pause_duration: must not be longer than an hour",
        "safety_buffer: must be a whole number of seconds, from one second to 100 years",
      ],
    ])
    expect((await ask("POST", "tidy", { safety_buffer: "soon" })).status).toBe(400)
    expect(await status()).toMatchObject({ state: "Inactive", tidy_cert_store: null, time_started: null, error: null })
  })
})

describe("a long run", () => {
  const slow = { tidy_cert_store: true, page_size: 1, pause_duration: "1h", safety_buffer: 1 }

  test("is the only one of its mount, does not block other mounts, and is cancelled before its next page", async () => {
    const { issue, ask, status, ended } = await newMount()
    const other = await newMount()
    for (let index = 0; index < 3; index += 1) await issue()
    clock.advance(2 * hourMs)
    const first = await ask("POST", "tidy", slow)
    expect([first.status, first.body.warnings]).toEqual([202, started])
    await vi.waitFor(async () => expect((await status()).cert_store_deleted_count).toBe(1), 5_000)
    expect(await status()).toMatchObject({ state: "Running", message: "Tidying certificates", page_size: 1 })
    const second = await ask("PUT", "tidy", { tidy_expired_issuers: true })
    expect([second.status, second.body.warnings]).toEqual([202, "Tidy operation already in progress."])
    expect((await status()).tidy_expired_issuers).toBe(false)
    expect(await other.tidied({ tidy_cert_store: true })).toMatchObject({ state: "Finished" })

    const cancelled = await ask("POST", "tidy-cancel")
    expect([cancelled.status, cancelled.body.data.state, cancelled.body.warnings]).toEqual([200, "Cancelling", ""])
    expect(await ended()).toMatchObject({ state: "Cancelled", cert_store_deleted_count: 1, error: null })
    expect((await ask("LIST", "certs")).body.data.keys).toHaveLength(3)
    const late = await ask("POST", "tidy-cancel")
    expect(late.body.warnings).toBe("Tidy operation cannot be cancelled as none is currently running.")
    expect(late.body.data.state).toBe("Cancelled")
  })

  test("ends when its mount is deleted", async () => {
    const { path, issue, ask, status } = await newMount()
    for (let index = 0; index < 2; index += 1) await issue()
    clock.advance(2 * hourMs)
    await ask("POST", "tidy", slow)
    await vi.waitFor(async () => expect((await status()).cert_store_deleted_count).toBe(1), 5_000)
    await world.engine.mounts.delete(path)
    const next = await newMount()
    expect(await next.tidied({ tidy_cert_store: true })).toMatchObject({ state: "Finished" })
  })
})

describe("config/auto-tidy", () => {
  test("is disabled by default, stores settings, and returns durations in seconds except pause_duration", async () => {
    const { ask } = await newMount()
    const initial = {
      enabled: false,
      interval_duration: 43_200,
      min_startup_backoff_duration: 300,
      max_startup_backoff_duration: 900,
      safety_buffer: 259_200,
      revoked_safety_buffer: 259_200,
      issuer_safety_buffer: 31_536_000,
      acme_account_safety_buffer: 2_592_000,
      revocation_queue_safety_buffer: 172_800,
      pause_duration: "0s",
      page_size: 1_000,
      maintain_stored_certificate_counts: false,
      publish_stored_certificate_count_metrics: false,
      tidy_cert_store: false,
      tidy_revoked_certs: false,
      tidy_revoked_cert_issuer_associations: false,
      tidy_expired_issuers: false,
      tidy_move_legacy_ca_bundle: false,
      tidy_acme: false,
      tidy_invalid_certs: false,
      tidy_cert_metadata: false,
      tidy_cmpv2_nonce_store: false,
      tidy_revocation_queue: false,
      tidy_cross_cluster_revoked_certs: false,
    }
    expect((await ask("GET", "config/auto-tidy")).body.data).toEqual(initial)
    const changes = { enabled: true, tidy_cert_store: "true", interval_duration: "1h", pause_duration: "250ms" }
    const changed = {
      ...initial,
      enabled: true,
      tidy_cert_store: true,
      interval_duration: 3_600,
      pause_duration: "250ms",
    }
    const answer = await ask("POST", "config/auto-tidy", changes)
    expect([answer.status, answer.body.data]).toEqual([200, changed])
    const buffered = await ask("POST", "config/auto-tidy", { safety_buffer: "24h" })
    expect(buffered.body.data).toEqual({ ...changed, safety_buffer: 86_400, revoked_safety_buffer: 86_400 })
    const headers = { "x-vault-request": "true" }
    const { body } = await world.pki("GET", `/m${mounts}/config/auto-tidy`, { headers })
    expect(body.data).toEqual(buffered.body.data)
  })

  test("is rejected without an operation, or with too short an interval", async () => {
    const { ask } = await newMount()
    for (const [wrong, error] of [
      [{ enabled: true }, "enabled"],
      [{ enabled: true, tidy_cert_store: true, safety_buffer: 0 }, "safety_buffer"],
      [{ interval_duration: 0 }, "interval_duration"],
      [{ min_startup_backoff_duration: "1h" }, "min_startup_backoff_duration"],
    ] as const) {
      const answer = await ask("POST", "config/auto-tidy", wrong)
      expect([answer.status, answer.body.errors]).toEqual([400, [expect.stringContaining(error)]])
    }
    expect((await ask("GET", "config/auto-tidy")).body.data).toMatchObject({ enabled: false, safety_buffer: 259_200 })
  })

  test("tidies a mount at every interval", async () => {
    const { issue, revokeNew, ask, status, tidied } = await newMount()
    await issue()
    await revokeNew()
    await ask("POST", "config/auto-tidy", {
      enabled: true,
      tidy_cert_store: true,
      safety_buffer: "1s",
      interval_duration: "1h",
      min_startup_backoff_duration: 0,
      max_startup_backoff_duration: 0,
    })
    clock.advance(2 * hourMs)
    const waker = await newMount()
    const wake = () => waker.tidied({ tidy_cert_store: true })
    await wake()
    await vi.waitFor(async () => expect((await status()).last_auto_tidy_finished).not.toBeNull(), 5_000)
    const first = await status()
    expect(first).toMatchObject({ state: "Finished", cert_store_deleted_count: 2 })
    expect(await tidied({ tidy_cert_metadata: true })).toMatchObject({
      last_auto_tidy_finished: first.last_auto_tidy_finished,
    })
    await issue()
    clock.advance(hourMs + 2_000)
    await wake()
    await vi.waitFor(
      async () => expect((await status()).last_auto_tidy_finished).not.toBe(first.last_auto_tidy_finished),
      5_000,
    )
    expect(await status()).toMatchObject({ cert_store_deleted_count: 1 })
  })
})
