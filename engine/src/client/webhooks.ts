import { webhooks } from "../contracts/tfe/webhook.ts"
import type { Webhooks } from "../events/webhook.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"

export const remoteWebhooks = (transport: Transport): Webhooks => remote(webhooks, transport)
