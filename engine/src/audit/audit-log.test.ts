import { createHmac } from "node:crypto"
import { readFileSync, writeSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { fullAccess } from "../core/access.ts"
import { anonymous, type Caller } from "../core/caller.ts"
import type { IssuerId, KeyId, UserId } from "../core/ids.ts"
import { silentLog } from "../core/runtime.ts"
import { manualClock } from "../../testing/manual-clock.ts"
import { manualTimers } from "../../testing/manual-timers.ts"
import { auditLog } from "./audit-log.ts"
import type { FileCalls } from "./audit-file.ts"
import { saltedHash } from "./salted-hash.ts"

const salt = Buffer.alloc(32, 9)
const hashOf = (text: string) => `hmac-sha256:${createHmac("sha256", salt).update(text).digest("hex")}`
const root: Caller = {
  kind: "user",
  tokenId: "at-1",
  userId: "user-1" as UserId,
  username: "alice",
  siteAdmin: true,
  memberships: new Map(),
  acl: fullAccess,
}

async function openLog(calls?: FileCalls) {
  const folder = await mkdtemp(join(tmpdir(), "chancery-audit-"))
  const path = join(folder, "audit.log")
  const clock = manualClock(Date.UTC(2026, 4, 1, 12))
  const logged: unknown[] = []
  const runtime = {
    clock,
    log: { ...silentLog, error: (event: string, fields?: object) => void logged.push({ event, ...fields }) },
  }
  const log = auditLog({
    target: { kind: "file", path },
    hash: saltedHash(salt),
    runtime,
    // Manual timers, so that no entry is written to disk merely because time passes on a slow machine.
    timers: manualTimers(clock),
    ...(calls && { calls }),
  })
  onTestFinished(async () => {
    await log.close()
    await rm(folder, { recursive: true, force: true })
  })
  const text = () => readFileSync(path, "utf8")
  // oxlint-disable-next-line typescript/no-explicit-any
  const entries = (): any[] =>
    text()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
  return { log, path, clock, logged, text, entries }
}

test("[F-W17] a request, the uses of keys it makes and its response share an id, in that order, and name the caller", async () => {
  const { log, entries, clock } = await openLog()
  const trail = log.trail({ requestId: "req-1" })
  trail.request({
    caller: root,
    method: "POST",
    path: "/v1/pki/issue/web",
    operation: "update",
    mount: "pki/",
    remoteAddress: "192.0.2.1",
    data: { common_name: "web.example.com", ttl: 3600, format: "pem" },
    plainKeys: ["format"],
  })
  clock.advance(5)
  await trail.keyUse({
    mount: "pki/",
    keyId: "key-1" as KeyId,
    issuerId: "iss-1" as IssuerId,
    purpose: "certificate",
    serialNumber: "0a:0b",
    digest: "ab".repeat(32),
  })
  clock.advance(5)
  trail.response({ status: 400, errors: ["it is refused"] })
  await trail.durable()
  expect(entries()).toEqual([
    {
      time: "2026-05-01T12:00:00.000Z",
      type: "request",
      request_id: "req-1",
      method: "POST",
      path: "/v1/pki/issue/web",
      operation: "update",
      mount: "pki/",
      remote_address: "192.0.2.1",
      caller: { kind: "user", token_id: "at-1", user_id: "user-1", username: "alice", policies: ["root"] },
      data: { common_name: hashOf("web.example.com"), ttl: 3600, format: "pem" },
    },
    {
      time: "2026-05-01T12:00:00.005Z",
      type: "key-use",
      request_id: "req-1",
      mount: "pki/",
      key_id: "key-1",
      issuer_id: "iss-1",
      purpose: "certificate",
      serial_number: "0a:0b",
      to_be_signed_sha256: "ab".repeat(32),
    },
    {
      time: "2026-05-01T12:00:00.010Z",
      type: "response",
      request_id: "req-1",
      status: 400,
      errors: ["it is refused"],
    },
  ])
})

test("a job's use of a key names the job; a response without a recorded request is not recorded", async () => {
  const { log, entries } = await openLog()
  const trail = log.trail({ job: "crl-rebuild" })
  await trail.keyUse({
    mount: "pki/",
    keyId: "key-1" as KeyId,
    issuerId: "iss-1" as IssuerId,
    purpose: "crl",
    digest: "00".repeat(32),
  })
  trail.response({ status: 200 })
  await trail.durable()
  expect(entries()).toEqual([expect.objectContaining({ type: "key-use", job: "crl-rebuild", purpose: "crl" })])
})

test("an unknown token is logged only as its hash", async () => {
  const { log, text } = await openLog()
  const trail = log.trail({ requestId: "req-1" })
  trail.request({ caller: anonymous, method: "GET", path: "/v1/pki/roles", secret: "s.sesame" })
  await trail.durable()
  expect(text()).not.toContain("sesame")
  expect(text()).toContain(log.hash("s.sesame"))
  expect(log.hash("s.sesame")).toBe(hashOf("s.sesame"))
})

test("line ends in a path or an error do not begin another entry", async () => {
  const { log, entries } = await openLog()
  const trail = log.trail({ requestId: 'req"\n{"type":"key-use"}\n' })
  trail.request({ caller: anonymous, method: "POST", path: `/v1/\n{"type":"request"}\n${"x".repeat(5_000)}` })
  trail.response({ status: 400, errors: ["a\nb", "x".repeat(5_000)] })
  await trail.durable()
  expect(entries()).toHaveLength(2)
  expect(entries()[0].path).toHaveLength(2_049)
  expect(entries()[1].errors[1]).toHaveLength(2_049)
})

const nothingFits: FileCalls = {
  write() {
    throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" })
  },
  sync: async () => {},
}

test("requests and key uses are rejected, with one log line a second, when the disk is full", async () => {
  const { log, clock, logged } = await openLog(nothingFits)
  const keyUse = { mount: "pki/", keyId: "key-1" as KeyId, purpose: "certificate", digest: "" } as const
  for (let second = 0; second < 3; second += 1) {
    for (let count = 0; count < 10; count += 1) {
      const trail = log.trail({ requestId: "req-1" })
      expect(() => trail.request({ caller: root, method: "POST", path: "/v1/pki/issue/web" })).toThrow(
        expect.objectContaining({ code: "out-of-service" }),
      )
      await expect(trail.keyUse(keyUse)).rejects.toMatchObject({ code: "out-of-service" })
    }
    clock.advance(1_000)
  }
  expect(logged).toMatchObject([
    { event: "audit-log-failed", failureCount: 1 },
    { event: "audit-log-failed", failureCount: 20 },
    { event: "audit-log-failed", failureCount: 20 },
  ])
})

test("requests of one turn are written together before any continues, and all fail when the write fails", async () => {
  const written: string[] = []
  let full = false
  const { log, entries } = await openLog({
    write(descriptor, bytes) {
      if (full) throw new Error("no space left on device")
      written.push(String(bytes))
      return writeSync(descriptor, String(bytes))
    },
    sync: async () => {},
  })
  const record = (requestId: string) => {
    const trail = log.trail({ requestId })
    const recorded = trail.requestWritten({ caller: root, method: "POST", path: "/v1/pki/acme/new-order" })
    // Flushes as the server does, so that the answer waits until the entry is on disk.
    trail.flush()
    return { trail, recorded }
  }
  const both = ["req-1", "req-2"].map(record)
  expect(written).toEqual([])
  await Promise.all(both.map(({ recorded }) => recorded))
  expect(written).toHaveLength(1)
  for (const { trail } of both) {
    trail.response({ status: 201 })
    await trail.durable()
  }
  expect(entries().map(({ type, request_id }) => `${type} ${request_id}`)).toEqual([
    "request req-1",
    "request req-2",
    "response req-1",
    "response req-2",
  ])
  full = true
  const refused = ["req-3", "req-4"].map(record)
  for (const { recorded } of refused) await expect(recorded).rejects.toMatchObject({ code: "out-of-service" })
  for (const { trail } of refused) await expect(trail.durable()).rejects.toMatchObject({ code: "out-of-service" })
})

test("a request that only signs shares the write of its key use, and uses no key when the write fails", async () => {
  let writes = 0
  let full = false
  const { log, entries } = await openLog({
    write(descriptor, bytes) {
      if (full) throw new Error("no space left on device")
      writes += 1
      return writeSync(descriptor, String(bytes))
    },
    sync: async () => {},
  })
  const keyUse = { mount: "pki", keyId: "key-1" as KeyId, purpose: "certificate", digest: "" } as const
  const request = { caller: root, method: "POST", path: "/v1/pki/issue/web" }
  const trails = ["req-1", "req-2"].map((requestId) => log.trail({ requestId }))
  await Promise.all(
    trails.map((trail) => {
      trail.signingRequest(request)
      return trail.keyUse(keyUse)
    }),
  )
  expect(entries().map(({ type, request_id }) => `${type} ${request_id}`)).toEqual([
    "request req-1",
    "key-use req-1",
    "request req-2",
    "key-use req-2",
  ])
  expect(writes).toBe(1)

  const lost = log.trail({ requestId: "req-3" })
  lost.signingRequest(request)
  full = true
  const other = log.trail({ requestId: "req-4" })
  expect(() => other.request(request)).toThrow(expect.objectContaining({ code: "out-of-service" }))
  full = false
  await expect(lost.keyUse(keyUse)).rejects.toMatchObject({ code: "out-of-service" })
})

test("a request that must not wait does not wait for the disk", async () => {
  const { log } = await openLog(nothingFits)
  const trail = log.trail({ requestId: "req-1" })
  trail.readRequest({ caller: root, method: "GET", path: "/api/v2/ping" })
  trail.response({ status: 200 })
  await expect(trail.durable()).resolves.toBeUndefined()
})

async function openCounted() {
  let syncCount = 0
  const { log } = await openLog({
    write: (_descriptor, bytes) => Buffer.byteLength(bytes),
    async sync() {
      syncCount += 1
    },
  })
  return { log, syncCount: () => syncCount }
}

test("a key use of a request without a record is on disk before the response", async () => {
  const { log, syncCount } = await openCounted()
  const trail = log.trail({ requestId: "req-1" })
  await trail.durable()
  expect(syncCount()).toBe(0)
  await trail.keyUse({ mount: "pki", keyId: "key-1" as KeyId, purpose: "ocsp-response", digest: "" })
  trail.response({ status: 200 })
  await trail.durable()
  expect(syncCount()).toBe(1)
})

test("the sync starts with the key use, and the response is written without a second flush", async () => {
  const { promise: onDisk, resolve: reachDisk } = Promise.withResolvers<void>()
  let syncCount = 0
  const { log, entries } = await openLog({
    write: (descriptor, bytes) => writeSync(descriptor, String(bytes)),
    async sync() {
      syncCount += 1
      await onDisk
    },
  })
  const trail = log.trail({ requestId: "req-1" })
  trail.signingRequest({ caller: root, method: "POST", path: "/v1/pki/issue/web" })
  await trail.keyUse({ mount: "pki", keyId: "key-1" as KeyId, purpose: "certificate", digest: "" })
  await expect.poll(() => syncCount).toBe(1)
  trail.response({ status: 200 })
  let isDurable = false
  const durable = trail.durable().then(() => (isDurable = true))
  await expect.poll(() => entries().map(({ type }) => type)).toEqual(["request", "key-use", "response"])
  expect(isDurable).toBe(false)
  reachDisk()
  await durable
  expect(syncCount).toBe(1)
})

test.each(["its flush", "the entry of its response"])(
  "a caller that used a key gets an error when %s fails",
  async (lost) => {
    const broken = { sync: false, write: false }
    const { log } = await openLog({
      write(descriptor, bytes) {
        if (broken.write) throw new Error("no space left on device")
        return writeSync(descriptor, String(bytes))
      },
      async sync() {
        if (broken.sync) throw new Error("i/o error")
      },
    })
    const trail = log.trail({ requestId: "req-1" })
    trail.signingRequest({ caller: root, method: "POST", path: "/v1/pki/issue/web" })
    broken.sync = lost === "its flush"
    await trail.keyUse({ mount: "pki", keyId: "key-1" as KeyId, purpose: "certificate", digest: "" })
    broken.write = !broken.sync
    trail.response({ status: 200 })
    await expect(trail.durable()).rejects.toMatchObject({ code: "out-of-service" })
  },
)

test("a request starts its sync at once when it asks for it", async () => {
  const { log, syncCount } = await openCounted()
  const trail = log.trail({ requestId: "req-1" })
  trail.request({ caller: root, method: "POST", path: "/v1/pki/roles/web" })
  trail.flush()
  await expect.poll(syncCount).toBe(1)
  trail.response({ status: 204 })
  await trail.durable()
  expect(syncCount()).toBe(1)
})

test("a caller gets an error when its first entry may be lost, also after the disk has recovered", async () => {
  let broken = false
  const { log } = await openLog({
    write: (_descriptor, bytes) => Buffer.byteLength(bytes),
    async sync() {
      if (broken) throw new Error("i/o error")
    },
  })
  const early = log.trail({ requestId: "req-1" })
  early.request({ caller: root, method: "POST", path: "/v1/pki/issue/web" })
  const other = log.trail({ requestId: "req-2" })
  other.request({ caller: root, method: "POST", path: "/v1/pki/issue/web" })
  broken = true
  await expect(other.durable()).rejects.toMatchObject({ code: "out-of-service" })
  broken = false
  early.response({ status: 200 })
  await expect(early.durable()).rejects.toMatchObject({ code: "out-of-service" })
  const late = log.trail({ requestId: "req-3" })
  late.request({ caller: root, method: "POST", path: "/v1/pki/issue/web" })
  await late.durable()
})
