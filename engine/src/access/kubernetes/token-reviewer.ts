// TokenReview of the API server: it verifies a token and returns its account.
import type { Trust } from "../../core/fetch.ts"
import type { ServiceAccount } from "./service-account-token.ts"

export interface ReviewQuestion {
  /** URL of the API server: https, without a slash at its end. */
  readonly url: string
  /** Trusted CAs; those of the operating system if omitted. */
  readonly trust?: Trust
  /** Token that this server authenticates with. */
  readonly bearer: string
  readonly token: string
  /** Accepted audiences of the token; the API server's own if empty. */
  readonly audiences: readonly string[]
}

export type Review =
  | {
      readonly kind: "genuine"
      readonly account: ServiceAccount
      /** Accepted audiences that the token has; empty if the API server does not report them. */
      readonly audiences: readonly string[]
    }
  | { readonly kind: "not-genuine" }
  /** The API server does not know the bearer (401), or does not allow it to review tokens (403). */
  | { readonly kind: "refused"; readonly status: number }
  /** No usable answer. The reason is a sentence for the server's log. */
  | { readonly kind: "unanswered"; readonly reason: string }

export type TokenReviewer = (question: ReviewQuestion) => Promise<Review>

/** Service account that Kubernetes mounts into every pod unless disabled. */
export interface PodAccount {
  /** PEM, of the CAs of the API server. */
  readonly certificates: string
  readonly token: string
}

/** Reads the current account; Kubernetes replaces both members from time to time. Returns undefined outside of a pod. */
export type ReadPodAccount = () => Promise<PodAccount | undefined>
