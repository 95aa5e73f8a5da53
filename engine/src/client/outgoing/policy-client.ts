import { unavailable } from "../../core/errors.ts"
import { type Fetch, FetchFailure, type OutgoingAnswer } from "../../core/fetch.ts"
import type { PolicyClient } from "../../pki/external-policy/external-policy.ts"

/** A certificate, and some sentences. */
const answerBytesMaximum = 1024 * 1024

/** Asks once: whether to ask again is for whoever wants the certificate to say. Redirects are no answer. */
export const webhookPolicyClient =
  (fetch: Fetch): PolicyClient =>
  async ({ url, timeoutMs, trust, identity }, question) => {
    // Loaded with the first question, before anybody is asked, as what dials is: most engines that are opened ask nobody.
    const { decodePolicyAnswer, encodePolicyQuestion } = await import("../../contracts/vault/format/policy-webhook.ts")
    const answer = await answered(
      fetch({
        method: "POST",
        url,
        headers: { "content-type": "application/json", accept: "application/json" },
        body: encodePolicyQuestion(question),
        timeoutMs,
        answerBytesMaximum,
        trust,
        ...(identity === undefined ? {} : { identity }),
      }),
    )
    // What it says besides is not shown: it may be a proxy's page, or hold what is nobody's business.
    if (answer.status !== 200) throw undecided(`it answered with the status ${answer.status} and not 200`)
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
