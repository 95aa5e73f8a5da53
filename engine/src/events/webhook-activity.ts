/** What this process has done for webhooks: for metrics; counting on. */
export interface WebhookActivity {
  deliveredCount: number
  /** Attempts that came to nothing. */
  failedCount: number
  /** Events given up. */
  deadCount: number
  /** Webhooks that were disabled for what could not be delivered. */
  disabledCount: number
}

export const newWebhookActivity = (): WebhookActivity => ({
  deliveredCount: 0,
  failedCount: 0,
  deadCount: 0,
  disabledCount: 0,
})
