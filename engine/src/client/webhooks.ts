import type { Webhooks } from "../events/webhook.ts"
import { decodeCreatedWebhook, decodeDeadLetter, decodeWebhook, encodeWebhookPatch } from "../wire/jsonapi/webhook.ts"
import type { Calls } from "./calls.ts"
import { path } from "./transport.ts"

export const remoteWebhooks = ({ one, page, done }: Calls): Webhooks => ({
  create: async (organization, input) =>
    one(decodeCreatedWebhook, {
      method: "POST",
      path: path`/organizations/${organization}/webhooks`,
      document: encodeWebhookPatch(input),
    }),
  list: async (organization, request) => page(decodeWebhook, path`/organizations/${organization}/webhooks`, request),
  get: async (organization, id) =>
    one(decodeWebhook, { method: "GET", path: path`/organizations/${organization}/webhooks/${id}` }),
  update: async (organization, id, patch) =>
    one(decodeWebhook, {
      method: "PATCH",
      path: path`/organizations/${organization}/webhooks/${id}`,
      document: encodeWebhookPatch(patch),
    }),
  delete: async (organization, id) =>
    done({ method: "DELETE", path: path`/organizations/${organization}/webhooks/${id}` }),
  deadLetters: async (organization, id, request) =>
    page(decodeDeadLetter, path`/organizations/${organization}/webhooks/${id}/dead-letters`, request),
  redeliver: async (organization, id, letterId) =>
    one(decodeDeadLetter, {
      method: "POST",
      path: path`/organizations/${organization}/webhooks/${id}/dead-letters/${letterId}/actions/redeliver`,
    }),
  deleteDeadLetter: async (organization, id, letterId) =>
    done({ method: "DELETE", path: path`/organizations/${organization}/webhooks/${id}/dead-letters/${letterId}` }),
})
