import { unavailable } from "../../core/errors.ts"
import { type Fetch, FetchFailure, type OutgoingAnswer } from "../../core/fetch.ts"
import type { PolicyClient } from "../../pki/external-policy/external-policy.ts"

/** Enough for a certificate and a few messages. */
const maxAnswerBytes = 1024 * 1024

/** Returns a client that sends each request once, because retries are the caller's decision. It follows no redirects. */
export const webhookPolicyClient =
  (fetch: Fetch): PolicyClient =>
  async ({ url, timeoutMs, trust, identity }, question) => {
    // Imported at the first request, like the HTTP client, because most embedded engines send none.
    const { decodePolicyAnswer, encodePolicyQuestion } = await import("../../contracts/vault/format/policy-webhook.ts")
    const answer = await answered(
      fetch({
        method: "POST",
        url,
        headers: { "content-type": "application/json", accept: "application/json" },
        body: encodePolicyQuestion(question),
        timeoutMs,
        maxAnswerBytes,
        trust,
        ...(identity === undefined ? {} : { identity }),
      }),
    )
    // The body of an error is not shown: it may be a proxy's page or contain confidential data.
    if (answer.status !== 200) throw undecided(`it answered with status ${answer.status} instead of 200`)
    const decision = decodePolicyAnswer(answer.body, question.id)
    if (typeof decision === "string") throw undecided(`its answer ${decision}`)
    return decision
  }

async function answered(answer: Promise<OutgoingAnswer>): Promise<OutgoingAnswer> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof FetchFailure) throw undecided(error.message.replace(/\.$/, ""), error)
    throw error
  }
}

const undecided = (why: string, cause?: unknown) =>
  unavailable(`The external policy service gave no decision: ${why}.`, cause)
