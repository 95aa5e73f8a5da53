import { type Fetch, FetchFailure } from "../../core/fetch.ts"
import { type Clock, secondMs } from "../../core/time.ts"
import type { WebhookClient } from "../../events/webhooks/webhook-delivery.ts"
import { outcomeOf } from "../../events/webhooks/webhook-progress.ts"
import { retryAfterMs } from "../retry-after.ts"

/** Timeout of one whole attempt. */
const timeoutMs = 10 * secondMs

/**
 * Returns a client that delivers events. `sign` returns the HMAC-SHA256 under a secret, in hex. Redirects are not followed. Only the
 * status, `Retry-After` and `Date` of the response are read.
 */
export const webhookClient = (
  fetch: Fetch,
  clock: Clock,
  sign: (secret: string, message: string) => string,
): WebhookClient => ({
  async body(event) {
    const { event: document } = await import("../../contracts/tfe/event.ts")
    return JSON.stringify({ data: document.encode(event) })
  },
  async deliver({ id, webhookId, url, secret, body }) {
    const seconds = Math.floor(clock.now() / secondMs)
    try {
      const { status, headers } = await fetch({
        method: "POST",
        url,
        headers: {
          "content-type": "application/vnd.api+json",
          "user-agent": "chancery-webhook",
          "x-chancery-webhook": webhookId,
          "x-chancery-delivery": id,
          "x-chancery-signature": `t=${seconds},v1=${sign(secret, `${seconds}.${body}`)}`,
        },
        body,
        timeoutMs,
        maxAnswerBytes: 0,
        dropsBody: true,
      })
      return outcomeOf(status, retryAfterMs(headers["retry-after"], headers["date"]))
    } catch (error) {
      if (error instanceof FetchFailure) return outcomeOf(error.kind)
      throw error
    }
  },
})
