import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../../core/runtime.ts"
import { newSerialNumber } from "../../../x509/serial-number.ts"
import { SqlLeaseRepository } from "./lease-repository.ts"
import { sharedDatabaseKinds, storedMount } from "../../../../testing/stored-mount.ts"

const { random } = systemRuntime()

describe.each(sharedDatabaseKinds)("leases on $name", (kind) => {
  const stored = storedMount(kind)

  const leases = <T>(work: (rows: SqlLeaseRepository) => Promise<T>) =>
    stored.database.transact((session) => work(new SqlLeaseRepository(session)))
  const insert = (id: string, expiresAt: number, tokenId: string | null = null) => {
    const serialNumber = newSerialNumber(random)
    return leases((rows) => rows.insert({ id, mountId: stored.mountId, serialNumber, issuedAt: 1, expiresAt, tokenId }))
  }
  const idsBelow = (prefix: string, now = 5) => leases((rows) => rows.ids({ prefix, limit: 10 }, now))

  test("are found below a path until they expire", async () => {
    for (const [id, end] of [
      ["a/b", 9],
      ["a/b/1", 9],
      ["a/b/2", 5],
      ["a/b/3", 9],
      ["a/bc/1", 9],
      ["a-b/1", 9],
    ] as const)
      await insert(id, end)
    expect(await idsBelow("a/b")).toEqual(["a/b/1", "a/b/3"])
    expect(await idsBelow("a")).toEqual(["a/b", "a/b/1", "a/b/3", "a/bc/1"])
    expect(await idsBelow("")).toEqual(["a-b/1", "a/b", "a/b/1", "a/b/3", "a/bc/1"])
    expect(await leases((rows) => rows.ids({ prefix: "a", after: "a/b/1", limit: 1 }, 5))).toEqual(["a/b/3"])
    const within = await leases((rows) => rows.within({ prefix: "a/b", limit: 2 }, 5))
    expect(within.map(({ id }) => id)).toEqual(["a/b", "a/b/1"])
    expect(await leases((rows) => rows.find("a/b/2", 5))).toBeUndefined()
    expect(await leases((rows) => rows.find("a/b/2", 4))).toMatchObject({
      id: "a/b/2",
      expiresAt: 5,
      mountId: stored.mountId,
    })
    expect(await leases((rows) => rows.sweep(5, 10))).toBe(1)
    expect(await leases((rows) => rows.sweep(5, 10))).toBe(0)
  })

  test("are revoked below a path, once", async () => {
    for (const id of ["c", "c/1", "c/2", "cc/1"]) await insert(id, 9)
    expect(await leases((rows) => rows.giveUp({ prefix: "c", limit: 1 }))).toBe(2)
    expect(await leases((rows) => rows.giveUp({ prefix: "c", limit: 10 }))).toBe(1)
    expect(await leases((rows) => rows.giveUp({ prefix: "c", limit: 10 }))).toBe(0)
    const given = await leases((rows) => rows.givenUp(10))
    expect(given.map(({ id }) => id)).toEqual(["c", "c/1", "c/2"])
    for (const { id } of given) await leases((rows) => rows.remove(id))
  })

  test("of a token are revoked when the token is deleted or expires; none is created for a deleted token", async () => {
    const token = async (ttlMs: number) => (await stored.engine.serviceTokens.create({ ttlMs })).token
    const [deleted, ended, valid] = [await token(60_000), await token(60_000), await token(900_000)]
    for (const [id, { accessor }] of [
      ["t/gone", deleted],
      ["t/ended", ended],
      ["t/kept", valid],
    ] as const)
      await insert(id, 9, accessor)
    await insert("t/nobody", 9)
    expect(await leases((rows) => rows.givenUp(10))).toEqual([])
    await stored.engine.serviceTokens.revoke({ accessor: deleted.accessor })
    expect(await leases((rows) => rows.givenUp(10))).toMatchObject([{ id: "t/gone" }])
    const after = (ended.expiresAt ?? 0) + 1
    expect(await leases((rows) => rows.giveUpOfEndedTokens(after, 10))).toBe(1)
    expect(await leases((rows) => rows.giveUpOfEndedTokens(after, 10))).toBe(0)
    expect((await leases((rows) => rows.givenUp(10))).map(({ id }) => id)).toEqual(["t/ended", "t/gone"])
    await expect(insert("t/late", 9, deleted.accessor)).rejects.toMatchObject({ code: "forbidden" })
  })
})
