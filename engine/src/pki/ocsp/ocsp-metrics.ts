import type { Counter, Meter } from "@opentelemetry/api"
import { createCounter } from "../../core/metrics.ts"

const ocspOutcomes = [
  "good",
  "revoked",
  "unknown",
  "several",
  "unauthorized",
  "malformed_request",
  "internal_error",
  "try_later",
] as const
/** `several`: the response is about more than one certificate. */
export type OcspOutcome = (typeof ocspOutcomes)[number]

export interface OcspMetrics {
  readonly answers: Counter<{ status: OcspOutcome }>
  readonly cachedAnswers: Counter
}

export const createOcspMetrics = (meter: Meter): OcspMetrics => ({
  answers: createCounter(
    meter,
    "chancery_ocsp_answers_total",
    "OCSP responses of this server, by status: that of the certificate, `several` for several certificates, or the error.",
    ocspOutcomes.map((status) => ({ status })),
  ),
  cachedAnswers: createCounter(
    meter,
    "chancery_ocsp_kept_answers_total",
    "OCSP responses of this server that came from its cache of signed responses.",
    [{}],
  ),
})
