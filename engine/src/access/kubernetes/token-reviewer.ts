// The API server's TokenReview: whether a token is genuine, and whose it is.
import type { Trust } from "../../core/fetch.ts"
import type { ServiceAccount } from "./service-account-token.ts"

export interface ReviewQuestion {
  /** Of the API server, https, without a slash at its end. */
  readonly url: string
  /** The system's authorities unless given. */
  readonly trust?: Trust
  /** With which this server shows itself. */
  readonly bearer: string
  readonly token: string
  /** One of which the token must be meant for; where there are none, the API server's own. */
  readonly audiences: readonly string[]
}

export type Review =
  | {
      readonly kind: "genuine"
      readonly account: ServiceAccount
      /** Those of the question that the token is for; empty where the API server does not say. */
      readonly audiences: readonly string[]
    }
  | { readonly kind: "not-genuine" }
  /** The bearer is nobody whom the API server knows (401), or may not ask (403). */
  | { readonly kind: "refused"; readonly status: number }
  /** No answer that can be used; the reason is a sentence for the server's log. */
  | { readonly kind: "unanswered"; readonly reason: string }

export type TokenReviewer = (question: ReviewQuestion) => Promise<Review>

/** What Kubernetes puts into every pod, unless it is told not to. */
export interface PodAccount {
  /** PEM, of the authorities of the API server. */
  readonly certificates: string
  readonly token: string
}

/** As it is now: both are replaced in time. Undefined where this server is in no pod. */
export type ReadPodAccount = () => Promise<PodAccount | undefined>
