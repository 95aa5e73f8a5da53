// Decides which RSA key is made next. Keys of one size are as good as each other, so whoever has waited longest for a size
// gets the next one that is ready, and what nobody waits for is kept until somebody asks.
import { busy, unavailable } from "../core/errors.ts"
import type { RsaKeyOctets, RsaKeySource } from "../x509/key-generation.ts"

export interface KeyPoolOptions {
  /** Makes one key; fails when it cannot. */
  readonly make: (bits: number) => Promise<RsaKeyOctets>
  /** Keys made at the same time; at least one. */
  readonly slotCount: number
  /** How many keys of which size to hold ready. They stay in memory, and are made only while nobody waits. */
  readonly stock?: ReadonlyMap<number, number>
}

/** Twenty seconds' work for two cores at 2048 bits; nobody is helped by waiting longer. */
const waitingMaximum = 1_000

/** Larger keys take minutes, so that they may not have every slot. */
const commonBitsMaximum = 4096

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
  /** Sizes of the keys that are being made. */
  readonly #making: number[] = []
  #waiting: Waiter[] = []
  #closed = false
  /** After a failure nothing is put in stock until somebody asks again: a broken machine must not be tried for ever. */
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
    if (ready === undefined && this.#waiting.length >= waitingMaximum)
      throw busy(`${waitingMaximum} RSA keys are waited for already.`)
    const key = ready ?? new Promise<RsaKeyOctets>((resolve, reject) => this.#waiting.push({ bits, resolve, reject }))
    this.#fillSlots()
    return key
  }

  /** How many keys of this size could be handed out at once. */
  readyCount(bits: number): number {
    return this.#ready.get(bits)?.length ?? 0
  }

  /** Whoever waits is refused, and the stock is forgotten. */
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

  /** The size of the first who waits and for whom no key is being made yet. */
  #nextWanted(): number | undefined {
    const unclaimed = [...this.#making]
    return this.#waiting.find(({ bits }) => {
      const claimed = unclaimed.indexOf(bits)
      if (claimed >= 0) unclaimed.splice(claimed, 1)
      return claimed < 0 && (bits <= commonBitsMaximum || this.#largeCount() < this.#halfOfSlots())
    })?.bits
  }

  /** Half of the slots stay free, for whoever asks next. */
  #nextForStock(): number | undefined {
    if (!this.#stocking || this.#waiting.length > 0 || this.#making.length >= this.#halfOfSlots()) return undefined
    const isShort = ([bits, target]: readonly [number, number]) =>
      this.readyCount(bits) + this.#making.filter((making) => making === bits).length < target
    return [...this.#stock].find(isShort)?.[0]
  }

  #largeCount(): number {
    return this.#making.filter((bits) => bits > commonBitsMaximum).length
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

  /** Frees the slot; the answer is who has waited longest for this size. */
  #end(bits: number): Waiter | undefined {
    this.#making.splice(this.#making.indexOf(bits), 1)
    const at = this.#waiting.findIndex((waiter) => waiter.bits === bits)
    return at < 0 ? undefined : this.#waiting.splice(at, 1)[0]
  }
}

const closing = () => unavailable("The engine is closing.")
