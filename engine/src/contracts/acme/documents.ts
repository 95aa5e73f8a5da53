// Documents of ACME (RFC 8555, section 7; RFC 9773). All URLs begin with that of the directory.
import type {
  AccountView,
  AuthorizationView,
  ChallengeView,
  DirectoryView,
  OrderPage,
  OrderView,
  RenewalInfo,
} from "../../acme/acme.ts"
import type { AcmeAccountId } from "../../acme/accounts/account.ts"
import { type AcmeOrderId, type ChallengeType, challengeTypes } from "../../acme/orders/order.ts"
import { malformed, type Problem, problemStatuses } from "../../acme/problem.ts"
import { formatInstant, type Instant } from "../../core/time.ts"
import { type JsonObject, readObject } from "./object.ts"

/** RFC 7807. */
export const problemType = "application/problem+json"
const problemNamespace = "urn:ietf:params:acme:error:"

export function encodeProblem(problem: Problem, status?: number): JsonObject {
  const { type, detail, subproblems = [] } = problem
  return {
    type: `${problemNamespace}${type}`,
    detail,
    ...(status === undefined ? {} : { status }),
    ...(subproblems.length === 0
      ? {}
      : { subproblems: subproblems.map((sub) => ({ ...encodeProblem(sub), identifier: sub.identifier })) }),
  }
}

/** Encodes a stored problem with the status of its type. */
const encodeKeptProblem = (problem: Problem): JsonObject => encodeProblem(problem, problemStatuses[problem.type])

export function encodeDirectory(view: DirectoryView): JsonObject {
  const { base, profiles } = view
  const meta = {
    ...(view.termsOfService === "" ? {} : { termsOfService: view.termsOfService }),
    ...(view.website === "" ? {} : { website: view.website }),
    ...(view.caaIdentities.length === 0 ? {} : { caaIdentities: view.caaIdentities }),
    externalAccountRequired: view.externalAccountRequired,
    ...(profiles.size === 0 ? {} : { profiles: Object.fromEntries(profiles) }),
  }
  return {
    newNonce: `${base}/new-nonce`,
    newAccount: `${base}/new-account`,
    newOrder: `${base}/new-order`,
    newAuthz: `${base}/new-authz`,
    revokeCert: `${base}/revoke-cert`,
    keyChange: `${base}/key-change`,
    renewalInfo: `${base}/renewal-info`,
    meta,
  }
}

export const accountUrl = (base: string, id: AcmeAccountId): string => `${base}/account/${id}`
export const orderUrl = (base: string, id: AcmeOrderId): string => `${base}/order/${id}`
export const authorizationUrl = (base: string, id: string): string => `${base}/authorization/${id}`
export const challengeUrl = (
  base: string,
  { authorizationId, type }: Pick<ChallengeView, "authorizationId" | "type">,
) => `${base}/challenge/${authorizationId}/${type}`

/** Returns the account id in a `kid`, or undefined if the URL is not one of this directory. */
export function accountIdIn(base: string, kid: string): AcmeAccountId | undefined {
  const prefix = `${base}/account/`
  return kid.startsWith(prefix) ? parseAccountId(kid.slice(prefix.length)) : undefined
}

export const parseAccountId = (text: string): AcmeAccountId | undefined =>
  /^acct-\w+$/.test(text) ? (text as AcmeAccountId) : undefined

export const encodeAccount = (base: string, account: AccountView): JsonObject => ({
  status: account.status,
  contact: account.contact,
  termsOfServiceAgreed: account.termsOfServiceAgreed,
  orders: `${accountUrl(base, account.id)}/orders`,
  ...(account.externalAccountBinding === null ? {} : { externalAccountBinding: account.externalAccountBinding }),
})

export const encodeOrderPage = (base: string, { orders }: OrderPage): JsonObject => ({
  orders: orders.map((id) => orderUrl(base, id)),
})

export const encodeOrder = (base: string, order: OrderView): JsonObject => ({
  status: order.status,
  expires: timestamp(order.expiresAt),
  identifiers: order.identifiers,
  ...(order.notBefore === null ? {} : { notBefore: timestamp(order.notBefore) }),
  ...(order.notAfter === null ? {} : { notAfter: timestamp(order.notAfter) }),
  ...(order.profile === null ? {} : { profile: order.profile }),
  ...(order.replaces === null ? {} : { replaces: order.replaces }),
  authorizations: order.authorizations.map((id) => authorizationUrl(base, id)),
  finalize: `${orderUrl(base, order.id)}/finalize`,
  ...(order.status === "valid" ? { certificate: `${orderUrl(base, order.id)}/cert` } : {}),
  ...(order.error === null ? {} : { error: encodeKeptProblem(order.error) }),
})

export const encodeAuthorization = (base: string, authorization: AuthorizationView): JsonObject => {
  const { type, value, wildcard } = authorization.identifier
  return {
    identifier: { type, value },
    status: authorization.status,
    expires: timestamp(authorization.expiresAt),
    challenges: authorization.challenges.map((challenge) => encodeChallenge(base, challenge)),
    ...(wildcard ? { wildcard } : {}),
  }
}

export const encodeChallenge = (base: string, challenge: ChallengeView): JsonObject => ({
  type: challenge.type,
  url: challengeUrl(base, challenge),
  status: challenge.status,
  token: challenge.token,
  ...(challenge.validatedAt === null ? {} : { validated: timestamp(challenge.validatedAt) }),
  ...(challenge.error === null ? {} : { error: encodeKeptProblem(challenge.error) }),
})

export const encodeRenewalInfo = ({ start, end, explanationUrl }: RenewalInfo): JsonObject => ({
  suggestedWindow: { start: timestamp(start), end: timestamp(end) },
  ...(explanationUrl === null ? {} : { explanationURL: explanationUrl }),
})

/** RFC 3339, in whole seconds. */
const timestamp = (instant: Instant): string => formatInstant(instant).replace(/\.\d+Z$/, "Z")

/** Reads the payload of a POST that is not a POST-as-GET. Throws `malformed`. */
export const readPayload = (payload: Uint8Array | undefined): JsonObject => {
  if (payload === undefined) throw malformed("The payload is empty.")
  return readObject(payload, "The payload")
}

export const parseChallengeType = (value: string): ChallengeType | undefined =>
  challengeTypes.find((type) => type === value)
