import { describe, expect, test } from "vitest"
import { newNonce, readNonce } from "../../../acme/nonces/nonce.ts"
import { systemRuntime } from "../../../core/runtime.ts"
import { minuteMs } from "../../../core/time.ts"
import { sharedDatabaseKinds, storedMount } from "../../../../testing/stored-mount.ts"
import { SqlAcmeNonceRepository } from "./acme-nonce-repository.ts"
import { hmacSigner } from "../../sealing/hmac-signer.ts"

const { random } = systemRuntime()
const authority = { signer: hmacSigner(Buffer.alloc(32, 1)), scope: "mnt-1 acme" }
const usedAt = (now: number) => readNonce(newNonce(authority, random, now), authority, now)

describe.each(sharedDatabaseKinds)("used nonces on $name", (kind) => {
  const stored = storedMount(kind)
  const nonces = <T>(work: (rows: SqlAcmeNonceRepository) => Promise<T>) =>
    stored.database.transact((session) => work(new SqlAcmeNonceRepository(session)))
  const isRedeemed = ({ digest, expiresAt }: ReturnType<typeof usedAt>) =>
    nonces((rows) => rows.redeem(digest, expiresAt))

  test("count once, and are deleted after they expire, the oldest first", async () => {
    // Near the epoch, so that all other nonces of this database are later.
    const [first, second, third] = [usedAt(0), usedAt(1), usedAt(2)]
    for (const one of [third, first, second]) expect(await isRedeemed(one)).toBe(true)
    for (const one of [third, first, second]) expect(await isRedeemed(one)).toBe(false)
    expect(await nonces((rows) => rows.sweep(60 * minuteMs - 1, 10))).toBe(0)
    expect(await nonces((rows) => rows.sweep(60 * minuteMs + 1, 1))).toBe(1)
    expect(await isRedeemed(first)).toBe(true)
    expect(await isRedeemed(second)).toBe(false)
    expect(await nonces((rows) => rows.sweep(60 * minuteMs + 1, 10))).toBe(2)
    expect(await isRedeemed(third)).toBe(false)
    expect(await nonces((rows) => rows.sweep(60 * minuteMs + 2, 10))).toBe(1)
  })
})
