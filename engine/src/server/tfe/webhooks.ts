import { webhooks } from "../../contracts/tfe/webhook.ts"
import { mapPage } from "../../core/page.ts"
import { implement } from "./implement.ts"

export const webhookRoutes = implement(webhooks, {
  create: async ({ engine }, organizationName, input) => ({
    ...(await engine.webhooks.create(organizationName, input)),
    organizationName,
  }),
  list: async ({ engine }, organizationName, page) =>
    mapPage(await engine.webhooks.list(organizationName, page), (webhook) => ({ ...webhook, organizationName })),
  get: async ({ engine }, organizationName, id) => ({
    ...(await engine.webhooks.get(organizationName, id)),
    organizationName,
  }),
  update: async ({ engine }, organizationName, id, patch) => ({
    ...(await engine.webhooks.update(organizationName, id, patch)),
    organizationName,
  }),
  delete: ({ engine }, organizationName, id) => engine.webhooks.delete(organizationName, id),
  deadLetters: ({ engine }, organizationName, id, page) => engine.webhooks.deadLetters(organizationName, id, page),
  redeliver: ({ engine }, organizationName, id, letterId) => engine.webhooks.redeliver(organizationName, id, letterId),
  deleteDeadLetter: ({ engine }, organizationName, id, letterId) =>
    engine.webhooks.deleteDeadLetter(organizationName, id, letterId),
})
