// Works that wait for a connection share the next commit, so that a store under load begins and commits once for many of them.
// One that comes alone is done alone. What spoils a shared transaction spoils it for all; then they are done one by one, and so
// no work is run again, or refused, because of another for longer than once.
import { setImmediate as nextTurn } from "node:timers/promises"
import type { Isolation } from "../core/storage.ts"
import type { Span } from "../core/tracing.ts"
import type { Session } from "./session.ts"

export interface QueuedWork {
  /** Works share a transaction only with works of the same isolation. */
  readonly isolation: Isolation
  /** Shares with none. */
  readonly alone: boolean
  readonly span: Span | undefined
  readonly work: (session: Session) => Promise<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

export interface Commits {
  /** In one transaction; the answer are those who have heard nothing yet, and are to be done one by one. Never rejects. */
  together(works: readonly QueuedWork[]): Promise<readonly QueuedWork[]>
  /** In a transaction of its own, begun as often as it takes. Never rejects. */
  alone(work: QueuedWork): Promise<void>
}

/** All of them wait for the slowest, and hold what it has locked. */
export const largestShare = 32

export class CommitQueue {
  readonly #commits: Commits
  readonly #committersMaximum: number
  readonly #waiting: QueuedWork[] = []
  #committers = 0
  /** So many of the next are taken one by one. */
  #alone = 0

  constructor(commits: Commits, committersMaximum: number) {
    this.#commits = commits
    this.#committersMaximum = committersMaximum
  }

  add(work: QueuedWork): void {
    this.#waiting.push(work)
    if (this.#committers < this.#committersMaximum) void this.#drain()
  }

  /** Whether it has not been taken yet, and now never is. */
  withdraw(work: QueuedWork): boolean {
    const place = this.#waiting.indexOf(work)
    if (place === -1) return false
    this.#waiting.splice(place, 1)
    // One of those that are taken one by one stands before all others.
    if (place < this.#alone) this.#alone -= 1
    return true
  }

  async #drain(): Promise<void> {
    this.#committers += 1
    // At the end of this turn, so that all its requests may share.
    await nextTurn()
    for (let taken = this.#take(); taken.length > 0; taken = this.#take()) {
      const [only] = taken
      if (taken.length === 1 && only !== undefined) await this.#commits.alone(only)
      else {
        const left = await this.#commits.together(taken)
        this.#waiting.unshift(...left)
        this.#alone += left.length
      }
    }
    this.#committers -= 1
  }

  #take(): QueuedWork[] {
    if (this.#alone > 0) {
      this.#alone -= 1
      return this.#waiting.splice(0, 1)
    }
    const share = Math.min(Math.ceil(this.#waiting.length / this.#committersMaximum), largestShare)
    const [first] = this.#waiting
    if (first?.alone === true) return this.#waiting.splice(0, 1)
    const other = this.#waiting.findIndex(({ isolation, alone }) => alone || isolation !== first?.isolation)
    return this.#waiting.splice(0, other < 0 ? share : Math.min(share, other))
  }
}
