import type { Counter, Histogram, Meter } from "@opentelemetry/api"
import { createCounter } from "../core/metrics.ts"
import { secondMs } from "../core/time.ts"

export interface AcmeMetrics {
  readonly orders: Counter<{ status: OrderStatus }>
  readonly orderSeconds: Histogram
  readonly validations: Counter<{ type: ValidatedType; result: ValidationResult }>
  readonly validationSeconds: Histogram<{ type: ValidatedType }>
  readonly shortenedCertificates: Counter
}

/** `invalid` counts orders that failed in finalization, had a failed or deactivated authorization, or expired before finalization. */
const orderStatuses = ["made", "valid", "invalid"] as const
type OrderStatus = (typeof orderStatuses)[number]

const validatedTypes = ["http-01", "dns-01", "tls-alpn-01"] as const
type ValidatedType = (typeof validatedTypes)[number]
const validationResults = ["valid", "retried", "invalid"] as const
type ValidationResult = (typeof validationResults)[number]

/** Clients, or people, may need long to prepare a challenge. */
const orderBounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600]
/** An attempt takes no longer than a few consecutive timeouts. */
const validationBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export const createAcmeMetrics = (meter: Meter): AcmeMetrics => ({
  orders: createCounter(
    meter,
    "chancery_acme_orders_total",
    "ACME orders on this server, by status: made, valid, invalid (not signed, a name not validated or deactivated, or not finalized in time).",
    orderStatuses.map((status) => ({ status })),
  ),
  orderSeconds: meter.createHistogram("chancery_acme_order_duration_seconds", {
    description: "Time from new order to certificate, for valid orders.",
    advice: { explicitBucketBoundaries: orderBounds },
  }),
  validations: createCounter(
    meter,
    "chancery_acme_validations_total",
    "ACME validation attempts of this server, by type and result (valid, retried, invalid).",
    validatedTypes.flatMap((type) => validationResults.map((result) => ({ type, result }))),
  ),
  validationSeconds: meter.createHistogram("chancery_acme_validation_duration_seconds", {
    description: "Duration of ACME validation attempts, by type.",
    advice: { explicitBucketBoundaries: validationBounds },
  }),
  shortenedCertificates: createCounter(
    meter,
    "chancery_acme_certificates_shortened_total",
    "ACME certificates of this server that expire with their issuer, before the expiry that role and settings give.",
    [{}],
  ),
})

export function recordOrder(metrics: AcmeMetrics, status: "valid" | "invalid", durationMs: number): void {
  metrics.orders.add(1, { status })
  if (status === "valid") metrics.orderSeconds.record(durationMs / secondMs)
}

export function recordValidation(
  { validations, validationSeconds }: AcmeMetrics,
  type: ValidatedType,
  result: ValidationResult,
  durationMs: number,
): void {
  validations.add(1, { type, result })
  validationSeconds.record(durationMs / secondMs, { type })
}
