import { encodePage } from "../../wire/jsonapi/links.ts"
import { decodePage } from "../../wire/jsonapi/query.ts"
import {
  decodeWebhookInput,
  decodeWebhookPatch,
  encodeCreatedWebhook,
  encodeDeadLetter,
  encodeWebhook,
} from "../../wire/jsonapi/webhook.ts"
import { type ApiRequest, created, noContent, ok, param, type Route } from "../route.ts"

const organization = (request: ApiRequest) => param(request, "organization_name")
const webhook = (request: ApiRequest) => [organization(request), param(request, "webhook_id")] as const
const letter = (request: ApiRequest) => [...webhook(request), param(request, "dead_letter_id")] as const

const all = "/organizations/:organization_name/webhooks"
const one = `${all}/:webhook_id`

/** Where events are brought to, and what could not be delivered. */
export const webhookRoutes: readonly Route[] = [
  {
    method: "POST",
    path: all,
    handle: async (request) => {
      const name = organization(request)
      const input = decodeWebhookInput(await request.body())
      return created({ data: encodeCreatedWebhook(name, await request.engine.webhooks.create(name, input)) })
    },
  },
  {
    method: "GET",
    path: all,
    handle: async (request) => {
      const name = organization(request)
      const found = await request.engine.webhooks.list(name, decodePage(request.query))
      return ok(encodePage(found, encodeWebhook(name), request.url))
    },
  },
  {
    method: "GET",
    path: one,
    handle: async (request) => {
      const found = await request.engine.webhooks.get(...webhook(request))
      return ok({ data: encodeWebhook(organization(request))(found) })
    },
  },
  {
    method: "PATCH",
    path: one,
    handle: async (request) => {
      const patch = decodeWebhookPatch(await request.body())
      const after = await request.engine.webhooks.update(...webhook(request), patch)
      return ok({ data: encodeWebhook(organization(request))(after) })
    },
  },
  {
    method: "DELETE",
    path: one,
    handle: async (request) => {
      await request.engine.webhooks.delete(...webhook(request))
      return noContent
    },
  },
  {
    method: "GET",
    path: `${one}/dead-letters`,
    handle: async (request) => {
      const found = await request.engine.webhooks.deadLetters(...webhook(request), decodePage(request.query))
      return ok(encodePage(found, encodeDeadLetter, request.url))
    },
  },
  {
    method: "POST",
    path: `${one}/dead-letters/:dead_letter_id/actions/redeliver`,
    handle: async (request) => {
      const found = await request.engine.webhooks.redeliver(...letter(request))
      return { status: 202, document: { data: encodeDeadLetter(found) } }
    },
  },
  {
    method: "DELETE",
    path: `${one}/dead-letters/:dead_letter_id`,
    handle: async (request) => {
      await request.engine.webhooks.deleteDeadLetter(...letter(request))
      return noContent
    },
  },
]
