import { readFile } from "node:fs/promises"
import { join } from "node:path"
import type { ReadPodAccount, Review, TokenReviewer } from "../../access/kubernetes/token-reviewer.ts"
import { type Fetch, FetchFailure } from "../../core/fetch.ts"
import { secondMs } from "../../core/time.ts"

/** Folder into which Kubernetes mounts the service account of a pod. */
const usualFolder = "/var/run/secrets/kubernetes.io/serviceaccount"

/** Reads the pod's service account. Called for each login, because the kubelet replaces the two small files before they expire. */
export const podAccount =
  (folder = usualFolder): ReadPodAccount =>
  async () => {
    try {
      const [certificates, token] = await Promise.all(
        ["ca.crt", "token"].map((name) => readFile(join(folder, name), "utf8")),
      )
      return certificates === undefined || token === undefined ? undefined : { certificates, token: token.trim() }
    } catch {
      // Not in a pod, or in one without an account (`automountServiceAccountToken: false`).
      return undefined
    }
  }

/** A client waits for the login during this time. */
const timeoutMs = 10 * secondMs
/** A TokenReview has about 2 KB, including the token that it repeats. */
const maxAnswerBytes = 256 * 1024
/** Logins need no authentication. The bound protects the API server from floods, and this server's memory from waiting requests. */
const maxInFlight = 64

/**
 * Returns a reviewer of service account tokens. It sends each token once, follows no redirects, and returns only the account and the
 * audiences from the answer.
 */
export function kubernetesTokenReviewer(fetch: Fetch): TokenReviewer {
  let inFlight = 0

  return async (question) => {
    if (inFlight >= maxInFlight) return { kind: "unanswered", reason: `${maxInFlight} other tokens are being reviewed` }
    inFlight += 1
    try {
      return await review(fetch, question)
    } catch (error) {
      if (error instanceof FetchFailure) return { kind: "unanswered", reason: error.message }
      throw error
    } finally {
      inFlight -= 1
    }
  }
}

async function review(
  fetch: Fetch,
  { url, trust, bearer, token, audiences }: Parameters<TokenReviewer>[0],
): Promise<Review> {
  // Imported at the first login, because most engines have none.
  const { decodeTokenReview, encodeTokenReview, tokenReviewPath } =
    await import("../../contracts/kubernetes/token-review.ts")
  const answer = await fetch({
    method: "POST",
    url: `${url}${tokenReviewPath}`,
    headers: {
      authorization: `Bearer ${bearer}`,
      "content-type": "application/json",
      accept: "application/json",
    },
    body: encodeTokenReview({ token, audiences }),
    timeoutMs,
    maxAnswerBytes,
    ...(trust === undefined ? {} : { trust }),
  })
  const { status, body } = answer
  if (status === 401 || status === 403) return { kind: "refused", status }
  if (status !== 200 && status !== 201)
    return { kind: "unanswered", reason: `The API server answered with status ${status}.` }
  const decoded = decodeTokenReview(body)
  if (decoded === undefined) return { kind: "unanswered", reason: "The API server's response is not a TokenReview." }
  if (!decoded.authenticated) return { kind: "not-genuine" }
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(decoded.username) ?? []
  // The token is genuine, but belongs to a user or a node.
  if (namespace === undefined || name === undefined) return { kind: "not-genuine" }
  return { kind: "genuine", account: { namespace, name, uid: decoded.uid }, audiences: decoded.audiences }
}
