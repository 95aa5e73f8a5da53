import { createHmac } from "node:crypto"
import { readFile } from "node:fs/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { hmacHex } from "../../storage/sealing/hmac-signer.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { startWebhookReceiver, type WebhookReceiver } from "../../../testing/webhook-receiver.ts"
import type { PermittedAddresses } from "./address-guard.ts"
import { guardedFetch } from "./guarded-fetch.ts"
import { webhookClient } from "./webhook-client.ts"

const { digest } = systemRuntime()
const clock = manualClock(1_700_000_000_999)
const loopback: PermittedAddresses = { kinds: ["private", "loopback"], ranges: [] }
const delivery = { id: "whd-1", webhookId: "whk-1", secret: "0123456789abcdef", body: '{"data":{}}' }

let receiver: WebhookReceiver
beforeAll(async () => {
  receiver = await startWebhookReceiver()
})
afterAll(() => receiver[Symbol.asyncDispose]())

async function delivered(url: string, permitted = loopback) {
  await using outgoing = guardedFetch({ permitted, digest })
  return await webhookClient(outgoing.fetch, clock, hmacHex).deliver({ ...delivery, url })
}

describe("a webhook delivery", () => {
  test("names its webhook and delivery, and signs time and body", async () => {
    expect(await delivered(`${receiver.url}/hooks?team=a`)).toEqual({ delivered: true })
    const seen = receiver.seen.at(-1)
    expect(seen).toMatchObject({ method: "POST", path: "/hooks?team=a", body: delivery.body })
    expect(seen?.headers).toMatchObject({
      "content-type": "application/vnd.api+json",
      "user-agent": "chancery-webhook",
      "x-chancery-webhook": "whk-1",
      "x-chancery-delivery": "whd-1",
      // Computed with OpenSSL: printf '1700000000.{"data":{}}' | openssl dgst -sha256 -hmac 0123456789abcdef
      "x-chancery-signature": "t=1700000000,v1=97df773d169abb8ac6d087c402e9961b4b3086e728284ad43235e1dbc166158b",
    })
  })

  test("is verified by the recipe of docs/webhooks.md, and altered deliveries are not", async () => {
    const page = await readFile(new URL("../../../../docs/webhooks.md", import.meta.url), "utf8")
    const [, recipe = ""] = /```js\n(import [\s\S]*?)```/.exec(page) ?? []
    const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(recipe)}`)
    await delivered(receiver.url)
    const seen = receiver.seen.at(-1)
    const [signature, body] = [seen?.headers["x-chancery-signature"], seen?.body]
    const seconds = 1_700_000_000
    expect(isGenuine(delivery.secret, signature, body, seconds + 299)).toBe(true)
    expect(isGenuine(delivery.secret, signature, body, seconds + 301)).toBe(false)
    expect(isGenuine(delivery.secret, signature, `${body} `, seconds)).toBe(false)
    expect(isGenuine("another secret of it", signature, body, seconds)).toBe(false)
    expect(isGenuine(delivery.secret, "t=1700000000,v1=00", body, seconds)).toBe(false)
    expect(isGenuine(delivery.secret, undefined, body, seconds)).toBe(false)
    const later = createHmac("sha256", delivery.secret).update(`${seconds}.${body}`).digest("hex")
    expect(isGenuine(delivery.secret, `t=${seconds + 9},v1=${later}`, body, seconds)).toBe(false)
  })

  test.each([301, 302, 307, 308])("does not follow a redirect with %i", async (status) => {
    const before = receiver.seen.length
    receiver.answerWith((response) => void response.writeHead(status, { location: `${receiver.url}/elsewhere` }).end())
    expect(await delivered(receiver.url)).toEqual({ delivered: false, error: `status ${status}` })
    expect(receiver.seen.slice(before).map(({ path }) => path)).toEqual(["/"])
  })

  test.each([
    ["120", 120_000],
    ["Tue, 01 Jan 2030 00:02:00 GMT", 120_000],
    ["soon", undefined],
  ])("parses Retry-After: %s", async (retryAfter, retryAfterMs) => {
    const headers = { "retry-after": retryAfter, date: "Tue, 01 Jan 2030 00:00:00 GMT" }
    receiver.answerWith((response) => void response.writeHead(503, headers).end())
    const expected = retryAfterMs === undefined ? {} : { retryAfterMs }
    expect(await delivered(receiver.url)).toEqual({ delivered: false, error: "status 503", ...expected })
  })

  test("does not wait for the body of the response", async () => {
    receiver.answerWith((response) => void response.writeHead(200).write("a".repeat(100_000)))
    expect(await delivered(receiver.url)).toEqual({ delivered: true })
  })

  test("fails with only the failure kind when no server listens", async () => {
    expect(await delivered("http://127.0.0.1:1/secret-path")).toEqual({ delivered: false, error: "unreachable" })
  })

  test.each(["http://127.0.0.1", "http://[::1]", "http://169.254.169.254/latest/meta-data", "http://localhost"])(
    "is not sent to %s unless the server permits it",
    async (url) => {
      const usual: PermittedAddresses = { kinds: ["private"], ranges: [] }
      expect(await delivered(url, usual)).toEqual({ delivered: false, error: "refused-address" })
    },
  )
})
