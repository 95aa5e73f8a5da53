// What is told of accounts, orders and challenges.
import type { Instant } from "../core/time.ts"
import type { AcmeAccount } from "./account.ts"
import type { AccountView, ChallengeView, OrderView } from "./acme.ts"
import {
  type AcmeOrder,
  type Authorization,
  type AuthorizationStatus,
  authorizationStatusOf,
  type Challenge,
  orderStatusOf,
} from "./order.ts"

/** Of one that is settled, what settled it (RFC 8555, section 7.1.4). */
export function challengesShown(challenges: readonly Challenge[], status: AuthorizationStatus): readonly Challenge[] {
  const settling = challenges.filter(({ status: own }) => own === status)
  return (status === "valid" || status === "invalid") && settling.length > 0 ? settling : challenges
}

export const accountView = ({
  id,
  status,
  contact,
  termsOfServiceAgreed,
  externalAccountBinding,
}: AcmeAccount): AccountView => ({
  id,
  status,
  contact,
  termsOfServiceAgreed,
  externalAccountBinding,
})

export function orderView(order: AcmeOrder, authorizations: readonly Authorization[], now: Instant): OrderView {
  const { id, expiresAt, identifiers, notBefore, notAfter, profile, replaces, error } = order
  const statuses = authorizations.map((one) => authorizationStatusOf(one, now))
  const status = orderStatusOf(order, statuses, now)
  return {
    id,
    status,
    expiresAt,
    identifiers,
    notBefore,
    notAfter,
    profile,
    replaces,
    authorizations: authorizations.map((one) => one.id),
    error: error ?? (status === "invalid" ? orderError(order, authorizations, statuses, now) : null),
  }
}

/** Why an order has come to nothing that nobody has failed. */
function orderError(
  { expiresAt }: AcmeOrder,
  authorizations: readonly Authorization[],
  statuses: readonly AuthorizationStatus[],
  now: Instant,
) {
  if (expiresAt <= now) return { type: "malformed", detail: "The order has expired." } as const
  const failed = authorizations.filter((_one, at) => statuses[at] !== "valid" && statuses[at] !== "pending")
  const detail = (value: string, at: number) => `The authorization for ${value} is ${statuses[at]}.`
  return {
    type: "unauthorized",
    detail:
      failed.length === 1
        ? detail(failed[0]?.identifier.value ?? "", authorizations.indexOf(failed[0] as Authorization))
        : `${failed.length} authorizations have failed.`,
    subproblems: failed.map((one) => ({
      type: "unauthorized" as const,
      detail: detail(one.identifier.value, authorizations.indexOf(one)),
      identifier: { type: one.identifier.type, value: one.identifier.value },
    })),
  } as const
}

export const challengeView = ({
  authorizationId,
  type,
  status,
  token,
  validatedAt,
  error,
}: Challenge): ChallengeView => ({
  authorizationId,
  type,
  status,
  token,
  validatedAt,
  error,
})
