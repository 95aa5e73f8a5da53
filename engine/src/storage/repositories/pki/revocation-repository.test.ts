import { describe, expect, test } from "vitest"
import { type IssuerId, newId } from "../../../core/ids.ts"
import { systemRuntime } from "../../../core/runtime.ts"
import { type CrlListId, listOfUnknownIssuers } from "../../../pki/crl/crl-list.ts"
import { shardOf, wholeList } from "../../../pki/crl/shard.ts"
import { newSerialNumber, type SerialNumber } from "../../../x509/serial-number.ts"
import { SqlCertificateRepository } from "./certificate-repository.ts"
import { SqlCrlRepository } from "./crl-repository.ts"
import { SqlRevocationRepository } from "./revocation-repository.ts"
import { sharedDatabaseKinds, storedMount } from "../../../../testing/stored-mount.ts"

const { random } = systemRuntime()
const list = "0123456789abcdef0123456789abcdef" as CrlListId

describe.each(sharedDatabaseKinds)("revocations on $name", (kind) => {
  const stored = storedMount(kind)

  const revoke = (serialNumber: SerialNumber, on: CrlListId = list, notAfter = 10_000) =>
    stored.database.transact((session) =>
      new SqlRevocationRepository(session).insert({
        mountId: stored.mountId,
        serialNumber,
        issuerId: "iss-1" as IssuerId,
        revokedAt: 1_000,
        reason: "superseded",
        notAfter,
        list: on,
      }),
    )
  const rows = <T>(work: (rows: SqlRevocationRepository) => Promise<T>) =>
    stored.database.transact((session) => work(new SqlRevocationRepository(session)))
  const newSerial = () => newSerialNumber(random)

  test("are found by serial number, rejected twice, and numbered in commit order", async () => {
    const serials = Array.from({ length: 40 }, newSerial)
    await Promise.all(serials.map((serial) => revoke(serial)))
    const [first = newSerial()] = serials
    expect(await rows((one) => one.find(stored.mountId, first))).toEqual({
      mountId: stored.mountId,
      serialNumber: first,
      issuerId: "iss-1",
      revokedAt: 1_000,
      reason: "superseded",
      notAfter: 10_000,
    })
    await expect(revoke(first)).rejects.toMatchObject({ code: "conflict" })
    const range = { mountId: stored.mountId, list, after: 0, shard: wholeList, limit: 1_000 }
    const entries = await rows((one) => one.entries(range))
    expect(new Set(entries.map(({ number }) => number)).size).toBe(40)
    expect(entries.map(({ number }) => number)).toEqual(
      entries.map(({ number }) => number).toSorted((one, other) => one - other),
    )
    expect(await rows((one) => one.latest(stored.mountId, list))).toBe(entries.at(-1)?.number)
    expect(await rows((one) => one.cacheVersion(stored.mountId))).toBeGreaterThanOrEqual(
      entries.at(-1)?.number ?? Infinity,
    )
    expect(await rows((one) => one.serialNumbers(stored.mountId, { limit: 100 }))).toEqual(
      serials.toSorted((one, other) => (one < other ? -1 : 1)),
    )
    const parts = [0, 1, 2, 3].map((index) => ({ ...range, shard: { count: 4, index } }))
    const counts = await Promise.all(parts.map((part) => rows(async (one) => (await one.entries(part)).length)))
    expect(counts).toEqual([0, 1, 2, 3].map((index) => serials.filter((one) => shardOf(one, 4).index === index).length))
  })

  test("without a list are appended to one", async () => {
    const serial = newSerial()
    await revoke(serial, listOfUnknownIssuers)
    const before = await rows((one) => one.latest(stored.mountId, list))
    expect(await rows((one) => one.adopt(stored.mountId, list, 10))).toBe(1)
    expect(await rows((one) => one.adopt(stored.mountId, list, 10))).toBe(0)
    expect(await rows((one) => one.latest(stored.mountId, list))).toBeGreaterThan(before)
  })

  test("of expired certificates are found and removed, which the list counts", async () => {
    const serial = newSerial()
    await revoke(serial, list, 5)
    const key = { mountId: stored.mountId, list, shard: wholeList }
    const removals = await stored.database.transact(
      async (session) => (await new SqlCrlRepository(session).begin(key, 1))?.removals,
    )
    const before = await rows((one) => one.cacheVersion(stored.mountId))
    expect(await rows((one) => one.ended(stored.mountId, { before: 6, limit: 10 }))).toMatchObject([
      { serialNumber: serial, list, notAfter: 5 },
    ])
    expect(await rows((one) => one.remove(stored.mountId, [serial, newSerial()]))).toBe(1)
    expect(await rows((one) => one.find(stored.mountId, serial))).toBeUndefined()
    expect(await rows((one) => one.cacheVersion(stored.mountId))).toBeGreaterThan(before)
    const after = await stored.database.read((session) => new SqlCrlRepository(session).find(key))
    expect(after?.removals).toBe((removals ?? 0) + 1)
  })

  test("are recorded on their certificates until they are removed", async () => {
    const serial = newSerial()
    const facts = { issuerId: null, role: null, commonName: "", names: [], notBefore: 0, notAfter: 5 }
    await stored.database.transact((session) =>
      new SqlCertificateRepository(session).insert({
        mountId: stored.mountId,
        serialNumber: serial,
        certificate: Buffer.of(1),
        ...facts,
      }),
    )
    const revokedAt = () =>
      stored.database.read(async (session) => {
        const { items } = await new SqlCertificateRepository(session).search(
          stored.mountId,
          { expiresBefore: 6 },
          { limit: 10 },
        )
        return items.map((item) => item.revokedAt)
      })
    expect(await revokedAt()).toEqual([null])
    await revoke(serial, list, 5)
    expect(await revokedAt()).toEqual([1_000])
    await rows((one) => one.remove(stored.mountId, [serial]))
    expect(await revokedAt()).toEqual([null])
  })

  test("a list build does not disturb an earlier build of another server", async () => {
    const key = {
      mountId: stored.mountId,
      list: newId("iss", random) as string as CrlListId,
      shard: { count: 2, index: 1 },
    }
    const crls = <T>(work: (rows: SqlCrlRepository) => Promise<T>) =>
      stored.database.transact((session) => work(new SqlCrlRepository(session)))
    expect(await crls((one) => one.begin(key, 3))).toMatchObject({ fence: 3, complete: undefined })
    const segments = [{ position: 0, entries: Uint8Array.of(1, 2) }]
    expect(await crls((one) => one.writeSegments(key, 3, 1, segments))).toBe(true)
    expect(await crls((one) => one.begin(key, 4))).toMatchObject({ fence: 4 })
    expect(await crls((one) => one.begin(key, 3))).toBeUndefined()
    expect(await crls((one) => one.writeSegments(key, 3, 1, segments))).toBe(false)
    expect(await crls((one) => one.dropSegments(key, 3, 2, 10))).toBe(0)
    expect(Buffer.from((await crls((one) => one.segment(key, 1, 0))) ?? [])).toEqual(Buffer.of(1, 2))
    expect(await crls((one) => one.dropSegments(key, 4, 2, 10))).toBe(1)
    expect(await crls((one) => one.segment(key, 1, 0))).toBeUndefined()
    expect(await crls((one) => one.keys(stored.mountId))).toContainEqual(key)
  })
})
