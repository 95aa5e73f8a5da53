// Queues of work without a request. The database stores them, and every server processes them.
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

/** Final state of a challenge. */
export type SettledChallenge =
  | { readonly status: "valid"; readonly validatedAt: Instant }
  | { readonly status: "invalid"; readonly error: Problem }

/** Order with the parsed CSR and its approval, if the same process has just handled the request. */
export type FinalizableOrder = ClaimedOrder & { readonly request?: ReadCsr; readonly approval?: Approval | undefined }

export type Finalized =
  | { readonly status: "valid"; readonly expiresAt: Instant }
  | { readonly status: "invalid"; readonly error: Problem }
