// TokenReview of `authentication.k8s.io/v1`, which every API server supports since 1.6.
import { z } from "zod"
import { parseBoundedJson } from "../../core/json-bounds.ts"
import type { ReviewQuestion } from "../../access/kubernetes/token-reviewer.ts"

const type = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview" } as const

export const tokenReviewPath = "/apis/authentication.k8s.io/v1/tokenreviews"

export const encodeTokenReview = ({ token, audiences }: Pick<ReviewQuestion, "token" | "audiences">): string =>
  JSON.stringify({ ...type, spec: { token, ...(audiences.length === 0 ? {} : { audiences }) } })

/** Members that are read; servers of every version send more. */
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

/** Decodes a TokenReview. Returns undefined for any other document. */
export function decodeTokenReview(body: Uint8Array): DecodedReview | undefined {
  const read = review.safeParse(parsed(body))
  if (!read.success) return undefined
  const { authenticated = false, user = {}, audiences, error = "" } = read.data.status
  const { username = "", uid = "" } = user
  // A server that fails to authenticate the token sets `error` and leaves other members unchanged.
  return { authenticated: authenticated && error === "", username, uid, audiences: audiences ?? [] }
}

function parsed(body: Uint8Array): unknown {
  try {
    return parseBoundedJson(body)
  } catch {
    return undefined
  }
}
