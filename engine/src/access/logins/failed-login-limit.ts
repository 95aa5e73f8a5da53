// Limit of failed logins for each client address. The lockout of users does not stop a client that tries one password with many names, and
// the rate limit of requests (server/http/rate-limit.ts) allows many guesses an hour. Each server counts separately, in memory.
import { LRUCache } from "lru-cache"
import { EngineError } from "../../core/errors.ts"
import { type Clock, type Instant, secondMs } from "../../core/time.ts"
import { parseIpAddress } from "../../pki/names/ip-address.ts"

/** Failures that an address has at once. Enough for an office behind one address in which many people mistype. */
const maxFailures = 100
/** Time after which one failure is forgotten: 600 guesses an hour. */
const forgetMs = 6 * secondMs
/** The least recently used addresses are forgotten first. */
const maxAddresses = 20_000

interface Failures {
  readonly level: number
  readonly at: Instant
}

export class FailedLoginLimit {
  readonly #clock: Clock
  readonly #failures = new LRUCache<string, Failures>({ max: maxAddresses })

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Throws `rate-limited` if the address has too many failures. Clients without an address are not limited. */
  assertAllowed(address: string | undefined): void {
    const network = networkOf(address)
    if (network === undefined) return
    const excess = this.#level(network) - (maxFailures - 1)
    if (excess <= 0) return
    throw new EngineError("rate-limited", "too many failed logins from this address", {
      retryAfterMs: Math.ceil(excess * forgetMs),
    })
  }

  count(address: string | undefined): void {
    const network = networkOf(address)
    if (network !== undefined) this.#failures.set(network, { level: this.#level(network) + 1, at: this.#clock.now() })
  }

  #level(network: string): number {
    const { level, at } = this.#failures.get(network) ?? { level: 0, at: 0 }
    // A clock that steps back must not forget failures.
    return Math.max(0, level - Math.max(0, this.#clock.now() - at) / forgetMs)
  }
}

/** Returns the network that counts as one address: an IPv4 address, or an IPv6 /64, which one host usually has as a whole. */
function networkOf(address: string | undefined): string | undefined {
  const octets = address === undefined ? undefined : parseIpAddress(address)
  return octets && Buffer.from(octets.length === 4 ? octets : octets.slice(0, 8)).toString("hex")
}
