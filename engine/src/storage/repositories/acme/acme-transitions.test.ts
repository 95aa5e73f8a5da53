// Every state of RFC 8555, section 7.1.6, with every event: transitions that the figures there allow lead to the state they show, and all
// other events change nothing. Expiry is tested in `acme/orders/order.test.ts`.
import { describe, expect, test } from "vitest"
import type { AcmeAccountId } from "../../../acme/accounts/account.ts"
import {
  type AcmeOrder,
  type Authorization,
  type Challenge,
  type ChallengeStatus,
  orderStatusOf,
  type OrderStatus,
} from "../../../acme/orders/order.ts"
import type { Problem } from "../../../acme/problem.ts"
import { newId } from "../../../core/ids.ts"
import { systemRuntime } from "../../../core/runtime.ts"
import { newSerialNumber } from "../../../x509/serial-number.ts"
import { SqlAcmeAccountRepository } from "./acme-account-repository.ts"
import { SqlAcmeAuthorizationRepository } from "./acme-authorization-repository.ts"
import { SqlAcmeOrderRepository } from "./acme-order-repository.ts"
import { sharedDatabaseKinds, storedMount } from "../../../../testing/stored-mount.ts"

const { random } = systemRuntime()
const error: Problem = { type: "unauthorized", detail: "No." }
const csr = Uint8Array.of(1, 2, 3)
const [now, later] = [1_000_000, 2_000_000]
const taken = { attempts: 1, attemptAt: later }

describe.each(sharedDatabaseKinds)("on $name", (kind) => {
  const stored = storedMount(kind)

  const orders = <T>(work: (rows: SqlAcmeOrderRepository) => Promise<T>) =>
    stored.database.transact((session) => work(new SqlAcmeOrderRepository(session)))
  const authorizations = <T>(work: (rows: SqlAcmeAuthorizationRepository) => Promise<T>) =>
    stored.database.transact((session) => work(new SqlAcmeAuthorizationRepository(session)))

  async function newAccount(): Promise<AcmeAccountId> {
    const id: AcmeAccountId = newId("acct", random)
    const account = {
      id,
      mountId: stored.mountId,
      directory: "acme",
      thumbprint: id,
      jwk: {},
      status: "valid",
      contact: [],
      termsOfServiceAgreed: false,
      externalAccountBinding: null,
      bindingId: null,
      createdAt: now,
      statusAt: now,
    } as const
    // Accounts have no sealed values.
    await stored.database.transact((session) =>
      new SqlAcmeAccountRepository(session, undefined as never).insert(account),
    )
    return id
  }

  async function newAuthorization() {
    const authorization: Authorization = {
      id: newId("authz", random),
      mountId: stored.mountId,
      accountId: await newAccount(),
      identifier: { type: "dns", value: "example.com", wildcard: false },
      state: "pending",
      createdAt: now,
      expiresAt: later,
    }
    const challenge: Challenge = {
      authorizationId: authorization.id,
      type: "http-01",
      token: "token",
      status: "pending",
      validatedAt: null,
      error: null,
      attempts: 0,
    }
    await authorizations((rows) => rows.insert(authorization, [challenge]))
    return { authorization, challenge: { ...challenge, attempts: 1 } }
  }
  type Proving = Awaited<ReturnType<typeof newAuthorization>>

  const statesOf = async ({ authorization: { accountId, id } }: Proving) => {
    const found = await authorizations(
      async (rows) => [await rows.find(stored.mountId, accountId, id), (await rows.challenges(id))[0]] as const,
    )
    return { authorization: found[0]?.state, challenge: found[1]?.status }
  }

  const begin = ({ authorization: { id } }: Proving) =>
    authorizations((rows) => rows.beginChallenge(id, "http-01", taken))
  const succeed = ({ challenge }: Proving) => authorizations((rows) => rows.succeed(challenge, now, later))
  const retry = ({ challenge }: Proving) => authorizations((rows) => rows.retry(challenge, error, later))
  const fail = ({ challenge }: Proving) => authorizations((rows) => rows.failChallenge(challenge, error))
  const deactivate = ({ authorization: { id } }: Proving) => authorizations((rows) => rows.deactivate(id))

  describe("a challenge", () => {
    const reach: Record<ChallengeStatus, (one: Proving) => Promise<unknown>> = {
      pending: async () => undefined,
      processing: begin,
      valid: async (one) => [await begin(one), await succeed(one)],
      invalid: async (one) => [await begin(one), await fail(one)],
    }
    const events = {
      "its client is ready": begin,
      "it was looked at, and is right": succeed,
      "it was looked at in vain, and will be again": retry,
      "it was looked at in vain for the last time": fail,
    }
    const allowed: Partial<Record<`${ChallengeStatus}: ${keyof typeof events}`, ChallengeStatus>> = {
      "pending: its client is ready": "processing",
      "processing: it was looked at, and is right": "valid",
      "processing: it was looked at in vain, and will be again": "processing",
      "processing: it was looked at in vain for the last time": "invalid",
    }
    const cases = (Object.keys(reach) as ChallengeStatus[]).flatMap((status) =>
      (Object.keys(events) as (keyof typeof events)[]).map((event) => {
        const to = allowed[`${status}: ${event}`]
        return { status, event, to, becomes: to ?? "what it is, untouched" }
      }),
    )
    test.each(cases)("that is $status, when $event, becomes $becomes", async ({ status, event, to }) => {
      const one = await newAuthorization()
      await reach[status](one)
      expect((await statesOf(one)).challenge).toBe(status)
      expect(await events[event](one)).toBe(to !== undefined)
      expect((await statesOf(one)).challenge).toBe(to ?? status)
    })

    test("[F-P15] is claimed when a server postponed it while its clock was ahead", async () => {
      const one = await newAuthorization()
      await begin(one)
      const claim = async (leasedUntil: number) =>
        (await authorizations((rows) => rows.claim(now, leasedUntil, 10_000))).some(
          ({ authorizationId }) => authorizationId === one.authorization.id,
        )
      expect(await claim(later)).toBe(false)
      expect(await claim(now + 60_000)).toBe(true)
      expect(await claim(now + 60_000)).toBe(false)
    })

    test("is settled only by the server whose turn has not expired", async () => {
      const one = await newAuthorization()
      await begin(one)
      const claimed = await authorizations((rows) => rows.claim(later, later + 1, 10_000))
      const mine = claimed.find(({ authorizationId }) => authorizationId === one.authorization.id)
      expect(mine?.attempts).toBe(2)
      expect([await succeed(one), await retry(one), await fail(one)]).toEqual([false, false, false])
      expect((await statesOf(one)).challenge).toBe("processing")
    })
  })

  describe("an authorization", () => {
    const reach: Record<Authorization["state"], (one: Proving) => Promise<unknown>> = {
      pending: begin,
      valid: async (one) => [await begin(one), await succeed(one)],
      invalid: async (one) => [await begin(one), await fail(one)],
      deactivated: async (one) => [await begin(one), await deactivate(one)],
    }
    const events = {
      "a challenge is right": succeed,
      "a challenge has failed": fail,
      "its holder gives it up": deactivate,
      "its account is given up": async ({ authorization: { accountId } }: Proving) =>
        authorizations((rows) => rows.deactivateAll(accountId)),
    }
    const allowed: Partial<Record<`${Authorization["state"]}: ${keyof typeof events}`, Authorization["state"]>> = {
      "pending: a challenge is right": "valid",
      "pending: a challenge has failed": "invalid",
      "pending: its holder gives it up": "deactivated",
      "pending: its account is given up": "deactivated",
      "valid: its holder gives it up": "deactivated",
      "valid: its account is given up": "deactivated",
    }
    const cases = (Object.keys(reach) as Authorization["state"][]).flatMap((state) =>
      (Object.keys(events) as (keyof typeof events)[]).map((event) => {
        const to = allowed[`${state}: ${event}`]
        return { state, event, to, becomes: to ?? "what it is, untouched" }
      }),
    )
    test.each(cases)("that is $state, when $event, becomes $becomes", async ({ state, event, to }) => {
      const one = await newAuthorization()
      await reach[state](one)
      expect((await statesOf(one)).authorization).toBe(state)
      await events[event](one)
      expect((await statesOf(one)).authorization).toBe(to ?? state)
    })
  })

  describe("an account", () => {
    const accounts = <T>(work: (rows: SqlAcmeAccountRepository) => Promise<T>) =>
      stored.database.transact((session) => work(new SqlAcmeAccountRepository(session, undefined as never)))
    const revokeUnused = () =>
      accounts((rows) => rows.revokeUnused(stored.mountId, { before: later, now: later, limit: 10_000 }))

    // Requests of an account that is not valid are refused before any change: `server/acme/acme-accounts.test.ts`.
    test.each([
      ["valid", "revoked"],
      ["deactivated", "deactivated"],
      ["revoked", "revoked"],
    ] as const)("that is %s, when it is tidied, becomes %s", async (status, to) => {
      const id = await newAccount()
      await accounts((rows) => rows.change(id, { status, statusAt: now, contact: [] }))
      await revokeUnused()
      const found = await accounts((rows) => rows.find(stored.mountId, id))
      expect([found?.status, found?.statusAt]).toEqual([to, status === to ? now : later])
    })
  })

  describe("an order", () => {
    async function newOrder() {
      const { authorization, challenge } = await newAuthorization()
      const order: AcmeOrder = {
        id: newId("order", random),
        mountId: stored.mountId,
        accountId: authorization.accountId,
        state: "open",
        createdAt: now,
        expiresAt: later,
        identifiers: [{ type: "dns", value: "example.com" }],
        notBefore: null,
        notAfter: null,
        profile: null,
        replaces: null,
        csr: null,
        serialNumber: null,
        error: null,
      }
      await orders((rows) => rows.insert(order, [authorization.id]))
      return { order, authorization, challenge }
    }
    type Ordered = Awaited<ReturnType<typeof newOrder>>

    const statusOf = async ({ order: { accountId, id }, ...proving }: Ordered): Promise<OrderStatus | undefined> => {
      const found = await orders((rows) => rows.find(stored.mountId, accountId, id))
      const { authorization } = await statesOf(proving)
      return found && orderStatusOf(found, [authorization ?? "expired"], now)
    }

    const proved = async (one: Ordered) => [await begin(one), await succeed(one)]
    const finalize = ({ order: { id } }: Ordered) => orders((rows) => rows.beginFinalizing(id, csr, taken))
    const turn = ({ order: { id } }: Ordered) => ({ id, attempts: 1 })
    const complete = (one: Ordered) =>
      orders((rows) => rows.complete(turn(one), { serialNumber: newSerialNumber(random), keptUntil: later }))
    const giveUp = (one: Ordered) => orders((rows) => rows.fail(turn(one), error))
    const processing = async (one: Ordered) => [await proved(one), await finalize(one)]

    const reach: Record<OrderStatus, (one: Ordered) => Promise<unknown>> = {
      pending: async () => undefined,
      ready: proved,
      processing,
      valid: async (one) => [await processing(one), await complete(one)],
      invalid: async (one) => [await processing(one), await giveUp(one)],
    }
    const events = {
      "its authorization becomes valid": proved,
      "its authorization fails": async (one: Ordered) => [await begin(one), await fail(one)],
      "its authorization is given up": deactivate,
      "its certificate is written": complete,
      "signing is put off": (one: Ordered) => orders((rows) => rows.retry(turn(one), later)),
      "signing has failed": giveUp,
      "its account is given up": async ({ order: { accountId } }: Ordered) => {
        await authorizations((rows) => rows.deactivateAll(accountId))
        await orders((rows) => rows.failAll(accountId, error))
      },
    }
    const allowed: Partial<Record<`${OrderStatus}: ${keyof typeof events}`, OrderStatus>> = {
      "pending: its authorization becomes valid": "ready",
      "pending: its authorization fails": "invalid",
      "pending: its authorization is given up": "invalid",
      "pending: its account is given up": "invalid",
      "ready: its authorization is given up": "invalid",
      "ready: its account is given up": "invalid",
      "processing: its certificate is written": "valid",
      "processing: signing has failed": "invalid",
      "processing: its account is given up": "invalid",
    }
    const cases = (Object.keys(reach) as OrderStatus[]).flatMap((status) =>
      (Object.keys(events) as (keyof typeof events)[]).map((event) => {
        const to = allowed[`${status}: ${event}`]
        return { status, event, to, becomes: to ?? "what it is, untouched" }
      }),
    )
    test.each(cases)("that is $status, when $event, becomes $becomes", async ({ status, event, to }) => {
      const one = await newOrder()
      await reach[status](one)
      expect(await statusOf(one)).toBe(status)
      await events[event](one)
      expect(await statusOf(one)).toBe(to ?? status)
    })

    test.each(["processing", "valid", "invalid"] as const)("that is %s is not finalized again", async (status) => {
      const one = await newOrder()
      await reach[status](one)
      expect(await finalize(one)).toBe(false)
      expect(await statusOf(one)).toBe(status)
    })

    test("ends with its first failed authorization, unless it has expired", async () => {
      const [one, other] = [await newOrder(), await newAuthorization()]
      const both = { ...one.order, id: newId("order", random) }
      await orders((rows) => rows.insert(both, [one.authorization.id, other.authorization.id]))
      const endedWith = ({ authorization: { id } }: Proving, at: number) => orders((rows) => rows.endedWith(id, at))
      await begin(one)
      await fail(one)
      expect([await endedWith(one, now), await endedWith(one, later)]).toEqual([2, 0])
      await begin(other)
      await fail(other)
      expect(await endedWith(other, now)).toBe(0)
    })

    test("ends when it expires, and is counted unless an authorization ended it before", async () => {
      const [one, lost, proved, proving] = [await newOrder(), await newOrder(), await newOrder(), await newOrder()]
      await begin(lost)
      await fail(lost)
      await reach.ready(proved)
      await processing(proving)
      // Gives the orders of this test an expiry that no other order has.
      const [before, at] = [later + 41_000, later + 42_000]
      for (const { order } of [one, lost, proved, proving])
        await stored.database.transact((session) =>
          session.execute(session.db.updateTable("acme_orders").set({ expires_at: at }).where("id", "=", order.id)),
        )
      const end = (after: number, until: number, limit = 10) =>
        orders((rows) => rows.endExpired(stored.mountId, { after, until }, limit))
      expect(await end(before, at - 1)).toEqual({ ended: 0, newly: 0 })
      expect(await end(at, at + 1)).toEqual({ ended: 0, newly: 0 })
      const [first, second] = [await end(before, at, 2), await end(before, at, 2)]
      expect([first.ended, second.ended, first.newly + second.newly]).toEqual([2, 1, 2])
      expect(await end(before, at)).toEqual({ ended: 0, newly: 0 })
      for (const ended of [one, lost, proved]) expect(await statusOf(ended)).toBe("invalid")
      expect(await statusOf(proving)).toBe("processing")
    })

    test("[F-P15] is claimed when a server postponed it while its clock was ahead", async () => {
      const one = await newOrder()
      await processing(one)
      const claim = async (leasedUntil: number) =>
        (await orders((rows) => rows.claim(now, leasedUntil, 10_000))).some(({ id }) => id === one.order.id)
      expect(await claim(later)).toBe(false)
      expect(await claim(now + 60_000)).toBe(true)
      expect(await claim(now + 60_000)).toBe(false)
    })

    test("is settled only by the server whose turn has not expired", async () => {
      const one = await newOrder()
      await processing(one)
      const claimed = await orders((rows) => rows.claim(later, later + 1, 10_000))
      const mine = claimed.find(({ id }) => id === one.order.id)
      expect(mine).toMatchObject({ attempts: 2, directory: "acme", state: "processing" })
      expect([await complete(one), await giveUp(one)]).toEqual([false, false])
      expect(await orders((rows) => rows.fail({ id: one.order.id, attempts: 2 }, error))).toBe(true)
      const found = await orders((rows) => rows.find(stored.mountId, one.order.accountId, one.order.id))
      expect(found).toMatchObject({ state: "invalid", error, serialNumber: null })
      expect(await orders((rows) => rows.claim(later + 2, later + 3, 10_000))).not.toContainEqual(
        expect.objectContaining({ id: one.order.id }),
      )
    })
  })
})
