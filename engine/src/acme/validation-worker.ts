// Looks at challenges whose turn has come. The queue is the table: a claim puts off the next look until this one must have
// ended, so that what a server was at when it died is taken up by another, and by itself after a restart.
import { type Instant, dayMs, secondMs } from "../core/time.ts"
import type { Timers } from "../core/timers.ts"
import type { Authority } from "../pki/authority.ts"
import type { PkiContext } from "../pki/authority-service.ts"
import type { ClaimedChallenge } from "./acme-store.ts"
import type { Problem } from "./problem.ts"
import { type AcmeNetwork, attempt, caaProblem, type NetworkTerms } from "./validation.ts"

export interface ValidationContext extends Pick<PkiContext, "storage" | "runtime" | "mountDirectory" | "authorities"> {
  readonly network: AcmeNetwork
  readonly timers: Timers
}

/** At one time. */
const concurrencyMaximum = 64
/** Longer than any attempt takes. */
const leaseMs = 60 * secondMs
/** Waits after the first and the second attempt; then it has failed. */
const retryDelaysMs = [3 * secondMs, 10 * secondMs]
/** How soon what other servers have left is found. */
const pollMs = 10 * secondMs
/** For which orders of the same account may use it again. */
const validityMs = 30 * dayMs

export class ValidationWorker {
  readonly #context: ValidationContext
  readonly #running = new Set<Promise<void>>()
  #looking: Promise<void> | undefined
  #again = false
  #stopped = false
  #cancel = () => {}

  constructor(context: ValidationContext) {
    this.#context = context
    this.#schedule(pollMs)
  }

  /** Something may be due. */
  kick(): void {
    if (this.#stopped) return
    if (this.#looking !== undefined) {
      this.#again = true
      return
    }
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined
      if (this.#again) {
        this.#again = false
        this.kick()
      }
    })
  }

  /** Ends when what is under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancel()
    await this.#looking
    await Promise.all(this.#running)
  }

  async #look(): Promise<void> {
    const { storage, runtime } = this.#context
    this.#cancel()
    let waitMs = pollMs
    try {
      const now = runtime.clock.now()
      const next = await storage.read(({ acmeAuthorizations }) => acmeAuthorizations.nextAttemptAt())
      const free = concurrencyMaximum - this.#running.size
      if (next !== undefined && next <= now && free > 0) {
        const claimed = await storage.transact(({ acmeAuthorizations }) =>
          acmeAuthorizations.claim(now, now + leaseMs, free),
        )
        for (const challenge of claimed) this.#start(challenge)
        this.#again ||= claimed.length === free
      } else if (next !== undefined) waitMs = Math.min(pollMs, Math.max(next - now, 0))
    } catch (error) {
      if (!this.#stopped) runtime.log.error("acme-queue-unread", { error })
    }
    this.#schedule(waitMs)
  }

  #schedule(delayMs: number): void {
    this.#cancel()
    if (!this.#stopped) this.#cancel = this.#context.timers.after(Math.ceil(delayMs), () => this.kick())
  }

  #start(challenge: ClaimedChallenge): void {
    const work = this.#attempt(challenge)
      .catch((error: unknown) => {
        // Its turn comes again when the claim has run out.
        this.#context.runtime.log.error("acme-attempt-failed", { authorization: challenge.authorizationId, error })
      })
      .finally(() => {
        this.#running.delete(work)
        this.kick()
      })
    this.#running.add(work)
  }

  async #attempt(challenge: ClaimedChallenge): Promise<void> {
    const { storage, runtime, network } = this.#context
    const authority = await this.#authorityOf(challenge)
    if (authority === undefined) return
    const { acme, cluster } = authority.settings
    const terms: NetworkTerms = { permittedRanges: acme.challengePermittedIpRanges, resolver: acme.dnsResolver }
    const { identifier, type, token, thumbprint, accountId, directory } = challenge
    let problem = await attempt({ identifier, type, token, thumbprint }, network, terms)
    if (problem === undefined && acme.caaIdentities.length > 0 && identifier.type === "dns") {
      const accountUrl = `${cluster.path}/${directory}/account/${accountId}`
      problem = await caaProblem(
        identifier,
        { identities: acme.caaIdentities, method: type, accountUrl },
        network,
        terms,
      )
    }
    const now = runtime.clock.now()
    await storage.transact(async ({ acmeAuthorizations }) => {
      if (problem === undefined) return acmeAuthorizations.succeed(challenge, now, now + validityMs)
      const retryAt = retryTime(challenge.attempts, problem, now)
      return retryAt === undefined
        ? acmeAuthorizations.failChallenge(challenge, problem)
        : acmeAuthorizations.retry(challenge, problem, retryAt)
    })
  }

  async #authorityOf({ mountId }: ClaimedChallenge): Promise<Authority | undefined> {
    const { mountDirectory, authorities, storage } = this.#context
    const mount = (await mountDirectory.current()).mounts.find(({ id }) => id === mountId)
    return mount && authorities.read(storage, mount)
  }
}

/** What the owner of a name has decided does not change by itself within seconds. */
const retryTime = (attempts: number, { type }: Problem, now: Instant): Instant | undefined => {
  const delayMs = type === "caa" ? undefined : retryDelaysMs[attempts - 1]
  return delayMs === undefined ? undefined : now + delayMs
}
