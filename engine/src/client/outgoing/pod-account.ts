import { readFile } from "node:fs/promises"
import { join } from "node:path"
import type { ReadPodAccount, Review, TokenReviewer } from "../../access/kubernetes/token-reviewer.ts"
import { type Fetch, FetchFailure } from "../../core/fetch.ts"
import { secondMs } from "../../core/time.ts"

/** Where Kubernetes mounts it in each container. */
const usualFolder = "/var/run/secrets/kubernetes.io/serviceaccount"

/** Read for each login: two small files, which the kubelet replaces before they run out. */
export const podAccount =
  (folder = usualFolder): ReadPodAccount =>
  async () => {
    try {
      const [certificates, token] = await Promise.all(
        ["ca.crt", "token"].map((name) => readFile(join(folder, name), "utf8")),
      )
      return certificates === undefined || token === undefined ? undefined : { certificates, token: token.trim() }
    } catch {
      // No pod, or one without an account (`automountServiceAccountToken: false`).
      return undefined
    }
  }

/** Whoever logs in waits for it. */
const timeoutMs = 10 * secondMs
/** A TokenReview has 2 KB, with the token that it repeats. */
const answerBytesMaximum = 256 * 1024
/** Anybody may ask for a login: the API server is not flooded, and nobody's memory is filled with those that wait for it. */
const maxInFlight = 64

/** Each token is shown once; redirects are no answer, and of what is answered nothing goes on but whose the token is. */
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
  // Loaded with the first login: most engines that are opened have none.
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
    answerBytesMaximum,
    ...(trust === undefined ? {} : { trust }),
  })
  const { status, body } = answer
  if (status === 401 || status === 403) return { kind: "refused", status }
  if (status !== 200 && status !== 201)
    return { kind: "unanswered", reason: `The API server answered with the status ${status}.` }
  const decoded = decodeTokenReview(body)
  if (decoded === undefined) return { kind: "unanswered", reason: "The API server's answer is no TokenReview." }
  if (!decoded.authenticated) return { kind: "not-genuine" }
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(decoded.username) ?? []
  // Genuine, but of a person or a node.
  if (namespace === undefined || name === undefined) return { kind: "not-genuine" }
  return { kind: "genuine", account: { namespace, name, uid: decoded.uid }, audiences: decoded.audiences }
}
