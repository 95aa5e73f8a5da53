// Decides which RSA key is generated next. Keys of one size are interchangeable: the request that has waited longest for a size gets the
// next key. Keys without a waiting request stay in stock.
import { busy, unavailable } from "../core/errors.ts"
import type { RsaKeyOctets, RsaKeySource } from "../x509/key-generation.ts"

export interface KeyPoolOptions {
  /** Generates one key; rejects on failure. */
  readonly make: (bits: number) => Promise<RsaKeyOctets>
  /** Number of keys generated concurrently; at least one. */
  readonly slotCount: number
  /** Number of keys to keep ready, by size. They stay in memory, and are generated only while no request waits. */
  readonly stock?: ReadonlyMap<number, number>
}

/** Twenty seconds of work for two cores at 2048 bits; waiting longer helps no client. */
const maxWaiting = 1_000

/** Larger keys take minutes, so they must not occupy every slot. */
const maxCommonBits = 4096

interface Waiter {
  readonly bits: number
  resolve(key: RsaKeyOctets): void
  reject(error: unknown): void
}

export class KeyPool implements RsaKeySource {
  readonly #make: KeyPoolOptions["make"]
  readonly #slotCount: number
  readonly #stock: ReadonlyMap<number, number>
  readonly #ready = new Map<number, RsaKeyOctets[]>()
  /** Sizes of the keys that are being generated. */
  readonly #making: number[] = []
  #waiting: Waiter[] = []
  #closed = false
  /** False from a failure until the next request, so that a broken machine does not retry endlessly. */
  #stocking = true

  constructor({ make, slotCount, stock = new Map<number, number>() }: KeyPoolOptions) {
    this.#make = make
    this.#slotCount = slotCount
    this.#stock = stock
    this.#fillSlots()
  }

  async generate(bits: number): Promise<RsaKeyOctets> {
    if (this.#closed) throw closing()
    this.#stocking = true
    const ready = this.#ready.get(bits)?.shift()
    if (ready === undefined && this.#waiting.length >= maxWaiting)
      throw busy(`${maxWaiting} requests for RSA keys are waiting already; retry later.`)
    const key = ready ?? new Promise<RsaKeyOctets>((resolve, reject) => this.#waiting.push({ bits, resolve, reject }))
    this.#fillSlots()
    return key
  }

  /** Returns the number of keys of this size that are ready. */
  readyCount(bits: number): number {
    return this.#ready.get(bits)?.length ?? 0
  }

  /** Rejects the waiting requests and discards the ready keys. */
  close(): void {
    this.#closed = true
    this.#ready.clear()
    for (const waiter of this.#waiting.splice(0)) waiter.reject(closing())
  }

  #fillSlots(): void {
    while (!this.#closed && this.#making.length < this.#slotCount) {
      const bits = this.#nextWanted() ?? this.#nextForStock()
      if (bits === undefined) return
      this.#making.push(bits)
      this.#make(bits).then(
        (key) => this.#made(bits, key),
        (error: unknown) => this.#failed(bits, error),
      )
    }
  }

  /** Returns the size for the first waiting request that no key in generation will serve. */
  #nextWanted(): number | undefined {
    const unclaimed = [...this.#making]
    return this.#waiting.find(({ bits }) => {
      const claimed = unclaimed.indexOf(bits)
      if (claimed >= 0) unclaimed.splice(claimed, 1)
      return claimed < 0 && (bits <= maxCommonBits || this.#largeCount() < this.#halfOfSlots())
    })?.bits
  }

  /** Returns a size that is short in stock. Half of the slots stay free for the next requests. */
  #nextForStock(): number | undefined {
    if (!this.#stocking || this.#waiting.length > 0 || this.#making.length >= this.#halfOfSlots()) return undefined
    const isShort = ([bits, target]: readonly [number, number]) =>
      this.readyCount(bits) + this.#making.filter((making) => making === bits).length < target
    return [...this.#stock].find(isShort)?.[0]
  }

  #largeCount(): number {
    return this.#making.filter((bits) => bits > maxCommonBits).length
  }

  #halfOfSlots(): number {
    return Math.max(1, Math.floor(this.#slotCount / 2))
  }

  #made(bits: number, key: RsaKeyOctets): void {
    const waiter = this.#end(bits)
    if (waiter !== undefined) waiter.resolve(key)
    else if (!this.#closed) {
      const ready = this.#ready.get(bits)
      if (ready === undefined) this.#ready.set(bits, [key])
      else ready.push(key)
    }
    this.#fillSlots()
  }

  #failed(bits: number, error: unknown): void {
    const waiter = this.#end(bits)
    if (waiter === undefined) this.#stocking = false
    else waiter.reject(error)
    this.#fillSlots()
  }

  /** Frees the slot. Returns the request that has waited longest for this size. */
  #end(bits: number): Waiter | undefined {
    this.#making.splice(this.#making.indexOf(bits), 1)
    const at = this.#waiting.findIndex((waiter) => waiter.bits === bits)
    return at < 0 ? undefined : this.#waiting.splice(at, 1)[0]
  }
}

const closing = () => unavailable("The engine is closing.")
