import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { addDeadLetter } from "../../../testing/dead-letter.ts"
import { recordedMetrics } from "../../../testing/recorded-metrics.ts"
import { startWebhookReceiver } from "../../../testing/webhook-receiver.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"

const metrics = recordedMetrics()
let testEngine: TestEngine
beforeAll(async () => {
  testEngine = await openTestEngine({ metrics, outgoing: { kinds: ["loopback"], ranges: [] } })
  await testEngine.request("POST", "/organizations", {
    body: { data: { type: "organizations", attributes: { name: "acme", email: "a@example.com" } } },
  })
})
afterAll(() => testEngine[Symbol.asyncDispose]())

const webhooks = "/organizations/acme/webhooks"
const documentOf = (attributes: object) => ({ data: { type: "webhooks", attributes } })
let count = 0
const post = (attributes: object) =>
  testEngine.request("POST", webhooks, {
    body: documentOf({ name: `hook-${(count += 1)}`, url: "https://receiver.example", enabled: false, ...attributes }),
  })

describe("a webhook", () => {
  test("is created, and its secret is only in that response", async () => {
    const { status, body } = await post({ name: "made", kinds: ["run.*"], tags: ["prod"] })
    expect(status).toBe(201)
    const { id } = body.data
    const attributes = {
      name: "made",
      url: "https://receiver.example",
      enabled: false,
      kinds: ["run.*"],
      workspaces: [],
      tags: ["prod"],
      "disabled-reason": null,
      "last-delivered-at": null,
      "last-error": null,
      "failing-since": null,
      "created-at": expect.stringMatching(/Z$/),
    }
    expect(body.data).toEqual({
      id: expect.stringMatching(/^whk-/),
      type: "webhooks",
      attributes: { ...attributes, secret: expect.stringMatching(/^whsec_[0-9a-f]{64}$/) },
      links: { self: `/api/v2${webhooks}/${id}` },
    })
    const read = await testEngine.request("GET", `${webhooks}/${id}`)
    expect([read.status, read.body.data.attributes]).toEqual([200, attributes])
    const listed = await testEngine.request("GET", webhooks)
    expect(listed.body.data).toContainEqual(read.body.data)
    expect(listed.body.meta.pagination["total-count"]).toBeGreaterThan(0)
    const changed = await testEngine.request("PATCH", `${webhooks}/${id}`, {
      body: documentOf({ enabled: true, secret: "0123456789abcdef" }),
    })
    expect([changed.status, changed.body.data.attributes]).toEqual([200, { ...attributes, enabled: true }])
    expect((await testEngine.request("DELETE", `${webhooks}/${id}`)).status).toBe(204)
    expect((await testEngine.request("GET", `${webhooks}/${id}`)).status).toBe(404)
  })

  test("has no secret in a response when the client sent the secret", async () => {
    const secret = "a secret of the caller"
    const { status, body } = await post({ secret })
    expect(status).toBe(201)
    expect(JSON.stringify(body)).not.toContain(secret)
    expect(body.data.attributes).not.toHaveProperty("secret")
  })

  test.each([
    [{ name: "" }, "name"],
    [{ url: "ftp://receiver.example" }, "url"],
    [{ url: "https://user:word@receiver.example" }, "url"],
    [{ kinds: ["nothing"] }, "kinds/0"],
    [{ kinds: "run.*" }, "kinds"],
    [{ tags: [7] }, "tags/0"],
    [{ enabled: "yes" }, "enabled"],
    [{ secret: "short" }, "secret"],
  ])("is rejected with %o, with a fault for it", async (attributes, place) => {
    const made = await post({ name: `refused-${place}`, ...attributes })
    expect([made.status, made.body.errors[0].source]).toEqual([422, { pointer: `/data/attributes/${place}` }])
    const { body } = await post({})
    const patched = await testEngine.request("PATCH", `${webhooks}/${body.data.id}`, { body: documentOf(attributes) })
    expect([patched.status, patched.body.errors[0].source]).toEqual([422, { pointer: `/data/attributes/${place}` }])
    expect((await testEngine.request("GET", `${webhooks}/${body.data.id}`)).body.data.attributes.url).toBe(
      "https://receiver.example",
    )
  })

  test("is rejected with a name that is taken", async () => {
    await post({ name: "taken" })
    const { status, body } = await post({ name: "taken" })
    expect([status, body.errors[0].source]).toEqual([422, { pointer: "/data/attributes/name" }])
  })

  test("is found only in its own organization", async () => {
    await testEngine.request("POST", "/organizations", {
      body: { data: { type: "organizations", attributes: { name: "other", email: "a@example.com" } } },
    })
    const { id } = (await post({})).body.data
    for (const method of ["GET", "DELETE"])
      expect((await testEngine.request(method, `/organizations/other/webhooks/${id}`)).status).toBe(404)
    expect((await testEngine.request("GET", `/organizations/other/webhooks/${id}/dead-letters`)).status).toBe(404)
    expect((await testEngine.request("GET", `${webhooks}/${id}`)).status).toBe(200)
  })
})

test("is rejected when the organization has 200 webhooks", async () => {
  await testEngine.request("POST", "/organizations", {
    body: { data: { type: "organizations", attributes: { name: "many", email: "a@example.com" } } },
  })
  const make = (name: string) =>
    testEngine.request("POST", "/organizations/many/webhooks", {
      body: documentOf({ name, url: "https://receiver.example", enabled: false }),
    })
  for (let number = 0; number < 200; number += 1) expect((await make(`hook-${number}`)).status).toBe(201)
  expect((await make("one-more")).status).toBe(422)
})

test("has dead letters, which show the event, are redelivered, and are then deleted", async () => {
  await using receiver = await startWebhookReceiver()
  const { id } = (await post({ url: receiver.url })).body.data
  await addDeadLetter(testEngine.engine, id, "whd-shown")
  const letters = `${webhooks}/${id}/dead-letters`
  const { status, body } = await testEngine.request("GET", letters)
  const letter = {
    id: "whd-shown",
    type: "webhook-dead-letters",
    attributes: {
      "event-id": "c0-1",
      kind: "workspace.locked",
      attempts: 8,
      "last-error": "timeout",
      "failed-at": expect.stringMatching(/Z$/),
      redelivering: false,
      document: { data: { type: "events", id: "c0-1" } },
    },
  }
  expect([status, body.data]).toEqual([200, [letter]])
  const asked = await testEngine.request("POST", `${letters}/whd-shown/actions/redeliver`)
  expect([asked.status, asked.body.data.attributes.redelivering]).toEqual([202, true])
  await expect.poll(async () => (await testEngine.request("GET", letters)).body.data, { timeout: 10_000 }).toEqual([])
  expect(receiver.seen.map(({ body: sent }) => JSON.parse(sent))).toEqual([letter.attributes.document])
  expect((await testEngine.request("POST", `${letters}/whd-shown/actions/redeliver`)).status).toBe(404)
  expect((await testEngine.request("DELETE", `${letters}/whd-shown`)).status).toBe(404)
})

test("receives events soon after they are committed, and counts them", async () => {
  await using receiver = await startWebhookReceiver()
  const { id } = (await post({ url: receiver.url, enabled: true, kinds: ["workspace.created"] })).body.data
  await testEngine.request("POST", "/organizations/acme/workspaces", {
    body: { data: { type: "workspaces", attributes: { name: "told" } } },
  })
  await expect.poll(() => receiver.seen.length, { timeout: 10_000 }).toBe(1)
  const [seen] = receiver.seen
  expect(JSON.parse(seen?.body ?? "").data.attributes).toMatchObject({
    kind: "workspace.created",
    "workspace-name": "told",
    actor: { type: "users" },
  })
  await expect
    .poll(async () => (await testEngine.request("GET", `${webhooks}/${id}`)).body.data.attributes["last-delivered-at"])
    .not.toBeNull()
  expect(metrics.value("chancery_webhook_deliveries_total", { outcome: "delivered" })).toBeGreaterThan(0)
  await testEngine.request("DELETE", `${webhooks}/${id}`)
})
