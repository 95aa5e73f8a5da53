// What goes on without a request: whatever lies in these queues is in the store, and any server takes it up.
import type { Instant } from "../core/time.ts"
import type { ClaimedChallenge, ClaimedOrder } from "./acme.ts"
import type { DueQueue } from "./due-queue.ts"
import type { ReadCsr } from "./directory.ts"
import type { Approval } from "./orders/order-policy.ts"
import type { Problem } from "./problem.ts"

export interface AcmeQueues {
  readonly validations: ValidationQueue
  readonly finalizations: FinalizationQueue
}

export type ValidationQueue = DueQueue<ClaimedChallenge, SettledChallenge | undefined>
export type FinalizationQueue = DueQueue<FinalizableOrder, Finalized | undefined>

/** What a challenge stays from then on. */
export type SettledChallenge =
  | { readonly status: "valid"; readonly validatedAt: Instant }
  | { readonly status: "invalid"; readonly error: Problem }

/** With its request as it was read, and what was said to it, by who has just done so. */
export type FinalizableOrder = ClaimedOrder & { readonly request?: ReadCsr; readonly approval?: Approval | undefined }

export type Finalized =
  | { readonly status: "valid"; readonly expiresAt: Instant }
  | { readonly status: "invalid"; readonly error: Problem }
