import type { Counter, Meter } from "@opentelemetry/api"
import { createCounter } from "../../core/metrics.ts"

export interface WebhookMetrics {
  readonly deliveries: Counter<{ outcome: "delivered" | "failed" }>
  readonly deadLetters: Counter
  readonly disabled: Counter
}

export const createWebhookMetrics = (meter: Meter): WebhookMetrics => ({
  deliveries: createCounter(
    meter,
    "chancery_webhook_deliveries_total",
    "Attempts to deliver an event to a webhook, by outcome (delivered, failed).",
    [{ outcome: "delivered" }, { outcome: "failed" }],
  ),
  deadLetters: createCounter(
    meter,
    "chancery_webhook_dead_letters_total",
    "Events dropped after their last delivery attempt failed.",
    [{}],
  ),
  disabled: createCounter(
    meter,
    "chancery_webhooks_disabled_total",
    "Webhooks disabled because too many events in a row were dropped.",
    [{}],
  ),
})
