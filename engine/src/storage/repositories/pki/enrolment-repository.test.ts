// Enrolments as both databases store them, with two servers at work.
import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../../core/runtime.ts"
import { repeatableRead } from "../../../core/storage.ts"
import { dayMs } from "../../../core/time.ts"
import type { Enrolment, EnrolmentId } from "../../../pki/enrolments/enrolment.ts"
import { newSerialNumber } from "../../../x509/serial-number.ts"
import { sharedDatabaseKinds, storedMount } from "../../../../testing/stored-mount.ts"
import { keySealer, newKeyText, parseKeyRing } from "../../sealing/key-sealing.ts"
import { repositoriesOver } from "../repositories.ts"

const { random, clock } = systemRuntime()
const sealer = keySealer(parseKeyRing(newKeyText(random)), random)
const now = 1_000 * dayMs

describe.each(sharedDatabaseKinds)("on $name", (kind) => {
  const stored = storedMount(kind)
  const storage = () => repositoriesOver(stored.database, sealer, clock)
  let number = 0
  function enrolment(change: Partial<Enrolment> = {}): Enrolment {
    number += 1
    return {
      id: `enrol-${String(number).padStart(4, "0")}` as EnrolmentId,
      mountId: stored.mountId,
      protocol: "est",
      operation: "simpleenroll",
      path: "est/simpleenroll",
      policy: "role:web",
      decider: "manual",
      accessor: "auth_userpass_1",
      displayName: `userpass-device-${number}`,
      csr: Uint8Array.of(1, 2, 3),
      csrSha256: "ab".repeat(32),
      subject: "CN=printer",
      names: ["printer", "printer.example"],
      state: "pending",
      createdAt: now,
      expiresAt: now + dayMs,
      retryAfterMs: 60_000,
      askedAt: now,
      decidedAt: null,
      decidedBy: "",
      comment: "",
      serialNumber: null,
      ...change,
    }
  }
  const insert = (one: Enrolment) => storage().transact(({ enrolments }) => enrolments.insert(one), repeatableRead)
  const find = ({ id }: Enrolment) => storage().read(({ enrolments }) => enrolments.find(stored.mountId, id))
  const mark = (one: Enrolment, at = now) =>
    storage().transact(({ enrolments }) => enrolments.markIssued(one.id, newSerialNumber(random), at), repeatableRead)

  test("an enrolment is returned as it was stored, by id and by request", async () => {
    const one = enrolment()
    expect(await insert(one)).toBe(true)
    expect(await find(one)).toEqual(one)
    expect(await storage().read(({ enrolments }) => enrolments.findByRequest(one))).toEqual(one)
  })

  test("a request has one current enrolment, until that one is superseded", async () => {
    const [one, other] = [enrolment({ displayName: "same" }), enrolment({ displayName: "same" })]
    expect([await insert(one), await insert(other)]).toEqual([true, false])
    await storage().transact(({ enrolments }) => enrolments.supersede(one, now))
    expect(await insert(other)).toBe(true)
    expect(await find(one)).toBeUndefined()
    const issued = { ...other, state: "issued" as const }
    await storage().transact(({ enrolments }) => enrolments.supersede(issued, now))
    expect(await find(other)).toBeDefined()
    expect(await storage().read(({ enrolments }) => enrolments.findByRequest(other))).toBeUndefined()
  })

  test("of concurrent inserts of the same request, one succeeds", async () => {
    const inserted = await Promise.all(
      [1, 2, 3, 4].map(() => insert(enrolment({ displayName: "at once" })).catch(() => false)),
    )
    expect(inserted.filter(Boolean)).toHaveLength(1)
  })

  test("markIssued succeeds once, and only for an approved enrolment that has not expired", async () => {
    const [pending, approved, denied] = [enrolment(), enrolment({ state: "approved" }), enrolment({ state: "denied" })]
    for (const one of [pending, approved, denied]) await insert(one)
    expect([await mark(pending), await mark(denied), await mark(approved, approved.expiresAt)]).toEqual([
      false,
      false,
      false,
    ])
    const marked = await Promise.all([mark(approved), mark(approved), mark(approved)])
    expect(marked.filter(Boolean)).toHaveLength(1)
    expect(await find(approved)).toMatchObject({ state: "issued", serialNumber: expect.any(String) as string })
  })

  test("markIssued succeeds for an enrolment that waits for the external policy service", async () => {
    const one = enrolment({ decider: "external-policy" })
    await insert(one)
    expect([await mark(one), await mark(one)]).toEqual([true, false])
  })

  test("decide changes a pending enrolment once", async () => {
    const one = enrolment()
    await insert(one)
    const decide = (state: "approved" | "denied", decidedAt = now) =>
      storage().transact(({ enrolments }) =>
        enrolments.decide(one.id, { state, decidedAt, decidedBy: "ada", comment: "ticket 7" }),
      )
    expect(await decide("approved", one.expiresAt)).toBe(false)
    expect([await decide("approved"), await decide("denied")]).toEqual([true, false])
    expect(await find(one)).toMatchObject({ state: "approved", decidedAt: now, decidedBy: "ada", comment: "ticket 7" })
  })

  test("postpone changes pending enrolments only", async () => {
    const [pending, denied] = [enrolment(), enrolment({ state: "denied" })]
    for (const one of [pending, denied]) await insert(one)
    const postpone = (one: Enrolment) =>
      storage().transact(({ enrolments }) => enrolments.postpone(one.id, { askedAt: now + 5, retryAfterMs: 7_000 }))
    expect([await postpone(pending), await postpone(denied)]).toEqual([true, false])
    expect(await find(pending)).toMatchObject({ askedAt: now + 5, retryAfterMs: 7_000 })
  })

  test("lists and counts leave expired enrolments out, and sweep deletes them", async () => {
    await storage().transact(({ enrolments }) => enrolments.sweep(now + 2 * dayMs, 1_000))
    const requester = { accessor: "auth_userpass_2", displayName: "userpass-many" }
    const of = (csrSha256: string, change: Partial<Enrolment> = {}) => enrolment({ ...requester, csrSha256, ...change })
    const all = [
      of("a"),
      of("b", { createdAt: now - 5 }),
      of("c", { expiresAt: now }),
      of("d", { state: "approved" }),
      enrolment(),
    ]
    for (const one of all) await insert(one)
    const { mountId } = stored
    const listed = (page: { state?: "pending"; after?: string; limit?: number }) =>
      storage().readReplica(async ({ enrolments }) =>
        (await enrolments.list(mountId, { now, after: "", limit: 10, ...page })).map(({ id }) => id),
      )
    const [a, b, , d, e] = all.map(({ id }) => id)
    expect(await listed({})).toEqual([a, b, d, e])
    expect(await listed({ state: "pending" })).toEqual([a, b, e])
    expect(await listed({ state: "pending", after: a ?? "", limit: 1 })).toEqual([b])
    const counted = await storage().read(async ({ enrolments }) => [
      await enrolments.countPending(mountId, { requester, now, limit: 10 }),
      await enrolments.countPending(mountId, { now, limit: 10 }),
      await enrolments.countPending(mountId, { now, limit: 2 }),
      await enrolments.pending(mountId, now),
      await enrolments.pending(mountId, now + dayMs),
    ])
    expect(counted).toEqual([2, 3, 2, { count: 3, oldestAt: now - 5 }, undefined])
    expect(await storage().transact(({ enrolments }) => enrolments.sweep(now, 10))).toBe(1)
    expect(await listed({})).toHaveLength(4)
  })
})
