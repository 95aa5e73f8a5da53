import * as fc from "fast-check"
import { expect, test } from "vitest"
import { isEngineError } from "../core/errors.ts"
import type { RsaKeyOctets } from "../x509/key-generation.ts"
import { KeyPool, type KeyPoolOptions } from "./key-pool.ts"

interface Making {
  readonly bits: number
  readonly key: RsaKeyOctets
  done(): Promise<void>
  fail(error: Error): Promise<void>
}

/** Waits until the callbacks of settled promises have run. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Creates a pool whose keys are ready when the test finishes them. */
function manualPool(options: Omit<KeyPoolOptions, "make">) {
  const making: Making[] = []
  let made = 0
  const pool = new KeyPool({
    ...options,
    make(bits) {
      made += 1
      const key = { secret: Uint8Array.of(made), spki: Uint8Array.of(made) }
      const { promise, resolve, reject } = Promise.withResolvers<RsaKeyOctets>()
      const end = (settle: () => void) => {
        making.splice(making.indexOf(entry), 1)
        settle()
        return settled()
      }
      const entry: Making = {
        bits,
        key,
        done: () => end(() => resolve(key)),
        fail: (error) => end(() => reject(error)),
      }
      making.push(entry)
      return promise
    },
  })
  return { pool, making, sizes: () => making.map(({ bits }) => bits) }
}

const stock = (...targets: readonly (readonly [number, number])[]) => new Map(targets)

test("keys are generated in all slots at once, and requests are served in order", async () => {
  const { pool, making, sizes } = manualPool({ slotCount: 2 })
  const served: string[] = []
  const requests = ["a", "b", "c"].map((name) => pool.generate(2048).then(() => served.push(name)))
  expect(sizes()).toEqual([2048, 2048])
  await making[1]?.done()
  expect(served).toEqual(["a"])
  expect(sizes()).toEqual([2048, 2048])
  await making[0]?.done()
  await making[0]?.done()
  await Promise.all(requests)
  expect(served).toEqual(["a", "b", "c"])
  expect(sizes()).toEqual([])
})

test("a key is delivered to a request for its size", async () => {
  const { pool, making, sizes } = manualPool({ slotCount: 2 })
  const large = pool.generate(4096)
  const small = pool.generate(2048)
  expect(sizes()).toEqual([4096, 2048])
  const [forLarge, forSmall] = [...making]
  await forSmall?.done()
  expect(await small).toBe(forSmall?.key)
  await forLarge?.done()
  expect(await large).toBe(forLarge?.key)
})

test("slow keys occupy at most half of the slots", async () => {
  const { pool, making, sizes } = manualPool({ slotCount: 4 })
  const requests = [8192, 8192, 8192, 2048, 2048].map((bits) => pool.generate(bits))
  expect(sizes()).toEqual([8192, 8192, 2048, 2048])
  await making[3]?.done()
  expect(sizes()).toEqual([8192, 8192, 2048])
  await making[0]?.done()
  expect(sizes()).toEqual([8192, 2048, 8192])
  for (let left = 3; left > 0; left -= 1) await making[0]?.done()
  await Promise.all(requests)
})

test("a pool of one slot generates keys of every size", async () => {
  const { pool, making, sizes } = manualPool({ slotCount: 1 })
  const requests = [8192, 2048].map((bits) => pool.generate(bits))
  expect(sizes()).toEqual([8192])
  await making[0]?.done()
  expect(sizes()).toEqual([2048])
  await making[0]?.done()
  await Promise.all(requests)
})

test("the stock is filled in half of the slots while no request waits, up to its target", async () => {
  const { pool, making, sizes } = manualPool({ slotCount: 4, stock: stock([2048, 3], [4096, 1]) })
  expect(sizes()).toEqual([2048, 2048])
  await making[0]?.done()
  expect(sizes()).toEqual([2048, 2048])
  await making[0]?.done()
  expect(sizes()).toEqual([2048, 4096])
  await making[0]?.done()
  await making[0]?.done()
  expect(sizes()).toEqual([])
  expect([pool.readyCount(2048), pool.readyCount(4096), pool.readyCount(8192)]).toEqual([3, 1, 0])
})

test("a burst is served from the stock at once, oldest key first, and the stock is refilled", async () => {
  const { pool, making, sizes } = manualPool({ slotCount: 2, stock: stock([2048, 2]) })
  const keys = [making[0]?.key]
  await making[0]?.done()
  keys.push(making[0]?.key)
  await making[0]?.done()
  expect([await pool.generate(2048), await pool.generate(2048)]).toEqual(keys)
  expect(pool.readyCount(2048)).toBe(0)
  expect(sizes()).toEqual([2048])
})

test("a request during stocking receives the key in generation, and the stock waits", async () => {
  const { pool, making, sizes } = manualPool({ slotCount: 2, stock: stock([2048, 5]) })
  expect(sizes()).toEqual([2048])
  const [forStock] = [...making]
  const one = pool.generate(2048)
  expect(sizes()).toEqual([2048])
  const other = pool.generate(3072)
  expect(sizes()).toEqual([2048, 3072])
  await forStock?.done()
  expect(await one).toBe(forStock?.key)
  expect(sizes()).toEqual([3072])
  await making[0]?.done()
  await other
  expect(sizes()).toEqual([2048])
})

test("a failure rejects the waiting request, and the next key is generated", async () => {
  const { pool, making, sizes } = manualPool({ slotCount: 1 })
  const [first, second] = [pool.generate(2048), pool.generate(2048)]
  await Promise.all([expect(first).rejects.toThrow("out of luck"), making[0]?.fail(new Error("out of luck"))])
  expect(sizes()).toEqual([2048])
  await making[0]?.done()
  await second
})

test("the stock is not filled after a failure until the next request", async () => {
  const { pool, making, sizes } = manualPool({ slotCount: 1, stock: stock([2048, 1]) })
  await making[0]?.fail(new Error("out of luck"))
  expect(sizes()).toEqual([])
  const requests = pool.generate(2048)
  await making[0]?.done()
  await requests
  expect(sizes()).toEqual([2048])
})

test("a request is rejected with busy when a thousand wait", async () => {
  const { pool } = manualPool({ slotCount: 1 })
  const refusals: unknown[] = []
  for (let index = 0; index < 1_000; index += 1) pool.generate(2048).catch((error: unknown) => refusals.push(error))
  await expect(pool.generate(2048)).rejects.toMatchObject({ code: "busy", retryAfterMs: 1_000 })
  expect(refusals).toEqual([])
  pool.close()
  await settled()
  expect(refusals).toHaveLength(1_000)
})

test("a closed pool rejects waiting and new requests, and generates nothing", async () => {
  const { pool, making, sizes } = manualPool({ slotCount: 2, stock: stock([2048, 2]) })
  await making[0]?.done()
  const waiting = Promise.allSettled([pool.generate(4096)])
  pool.close()
  expect(await waiting).toMatchObject([{ reason: { code: "unavailable" } }])
  expect(pool.readyCount(2048)).toBe(0)
  for (const { done } of [...making]) await done()
  expect(sizes()).toEqual([])
  expect(pool.readyCount(2048)).toBe(0)
  await expect(pool.generate(2048)).rejects.toMatchObject({ code: "unavailable" })
})

test("every request receives a key of its own and the stock fills, in any order of completion", async () => {
  const sizes = fc.constantFrom(2048, 3072, 8192)
  const steps = fc.array(fc.oneof(fc.record({ ask: sizes }), fc.record({ finish: fc.nat(9) })), { maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 5 }), async (steps, slotCount) => {
      const targets = stock([2048, 3], [3072, 2])
      const { pool, making } = manualPool({ slotCount, stock: targets })
      const requests: Promise<RsaKeyOctets>[] = []
      for (const step of steps) {
        if ("ask" in step) requests.push(pool.generate(step.ask))
        else await making[step.finish % making.length]?.done()
        if (making.length > slotCount) throw new Error("more keys are made than there are slots")
      }
      // Finishes one key for each caller, and the whole stock.
      for (let left = requests.length + 5; making.length > 0 && left >= 0; left -= 1) await making[0]?.done()
      expect(new Set(await Promise.all(requests)).size).toBe(requests.length)
      expect(making).toEqual([])
      for (const [bits, target] of targets) expect(pool.readyCount(bits)).toBe(target)
    }),
  )
})

test("rejections are errors of the engine", async () => {
  const { pool } = manualPool({ slotCount: 1 })
  pool.close()
  const rejection: unknown = await pool.generate(2048).catch((error: unknown) => error)
  expect(isEngineError(rejection, "unavailable")).toBe(true)
})
