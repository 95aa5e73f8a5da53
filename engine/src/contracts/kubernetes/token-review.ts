// TokenReview of `authentication.k8s.io/v1`, which every API server has had since 1.6.
import { z } from "zod"
import { parseBoundedJson } from "../../core/json-bounds.ts"
import type { ReviewQuestion } from "../../access/kubernetes/token-reviewer.ts"

const type = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview" } as const

export const tokenReviewPath = "/apis/authentication.k8s.io/v1/tokenreviews"

export const encodeTokenReview = ({ token, audiences }: Pick<ReviewQuestion, "token" | "audiences">): string =>
  JSON.stringify({ ...type, spec: { token, ...(audiences.length === 0 ? {} : { audiences }) } })

/** What is asked of it; servers of every version have more. */
const review = z.object({
  kind: z.literal(type.kind),
  status: z.object({
    authenticated: z.boolean().optional(),
    user: z.object({ username: z.string().optional(), uid: z.string().optional() }).optional(),
    audiences: z.array(z.string()).nullish(),
    error: z.string().optional(),
  }),
})

export interface DecodedReview {
  readonly authenticated: boolean
  readonly username: string
  readonly uid: string
  readonly audiences: readonly string[]
}

/** Undefined for what is no TokenReview. */
export function decodeTokenReview(body: Uint8Array): DecodedReview | undefined {
  const read = review.safeParse(parsed(body))
  if (!read.success) return undefined
  const { authenticated = false, user = {}, audiences, error = "" } = read.data.status
  const { username = "", uid = "" } = user
  // A server that could not find out says so and leaves the rest as it was.
  return { authenticated: authenticated && error === "", username, uid, audiences: audiences ?? [] }
}

function parsed(body: Uint8Array): unknown {
  try {
    return parseBoundedJson(body)
  } catch {
    return undefined
  }
}
