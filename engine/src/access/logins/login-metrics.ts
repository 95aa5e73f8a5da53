import type { Counter, Meter } from "@opentelemetry/api"
import { type EngineErrorCode, isEngineError } from "../../core/errors.ts"
import { createCounter } from "../../core/metrics.ts"
import { type AuthMethodType, authMethodTypes } from "./auth-method.ts"

/** `failed`: the credentials could not be verified, because of the server or of a service that it asks. */
const loginOutcomes = ["success", "wrong_credentials", "denied", "rate_limited", "busy", "failed"] as const
export type LoginOutcome = (typeof loginOutcomes)[number]

/** Labels come from the types of methods only: clients choose names and paths. */
export interface LoginMetrics {
  readonly logins: Counter<{ method: AuthMethodType; outcome: LoginOutcome }>
}

export const createLoginMetrics = (meter: Meter): LoginMetrics => ({
  logins: createCounter(
    meter,
    "chancery_logins_total",
    "Logins to the certificate API on this server, by type of the auth method and outcome. Includes those of EST clients.",
    authMethodTypes.flatMap((method) => loginOutcomes.map((outcome) => ({ method, outcome }))),
  ),
})

const outcomes: Partial<Record<EngineErrorCode, LoginOutcome>> = {
  "bad-request": "wrong_credentials",
  invalid: "wrong_credentials",
  unprocessable: "wrong_credentials",
  unauthenticated: "wrong_credentials",
  "not-found": "wrong_credentials",
  forbidden: "denied",
  "rate-limited": "rate_limited",
  busy: "busy",
}

/** Returns the outcome of a login that threw. Kubernetes methods answer each rejected token as forbidden. */
export function loginOutcomeOf(method: AuthMethodType, error: unknown): LoginOutcome {
  const outcome = (isEngineError(error) ? outcomes[error.code] : undefined) ?? "failed"
  return method === "kubernetes" && outcome === "denied" ? "wrong_credentials" : outcome
}

/** Runs a login and counts its outcome. */
export async function countLogin<T>(
  { logins }: LoginMetrics,
  method: AuthMethodType,
  login: () => Promise<T>,
): Promise<T> {
  try {
    const verified = await login()
    logins.add(1, { method, outcome: "success" })
    return verified
  } catch (error) {
    logins.add(1, { method, outcome: loginOutcomeOf(method, error) })
    throw error
  }
}
