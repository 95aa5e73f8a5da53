// What stands in ACME's documents (RFC 8555, section 7; RFC 9773). Addresses all begin with the directory's.
import type {
  AccountView,
  AuthorizationView,
  ChallengeView,
  DirectoryView,
  NewAccount,
  NewOrder,
  OrderPage,
  OrderView,
  RenewalInfo,
  Revocation,
} from "../../acme/acme.ts"
import type { AcmeAccountId } from "../../acme/account.ts"
import { type Identifier, readIdentifier } from "../../acme/identifier.ts"
import { type AcmeOrderId, type ChallengeType, challengeTypes } from "../../acme/order.ts"
import { AcmeProblem, malformed, type Problem, problemStatuses } from "../../acme/problem.ts"
import { formatInstant, type Instant, parseInstant } from "../../core/time.ts"
import { revocationReasons, type RevocationReason } from "../../x509/certificate-list.ts"
import { flag, isLeftOut, isObject, type JsonObject, readBase64url, readObject, text } from "./object.ts"

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

/** Of what went wrong before, with the status it would have been refused with. */
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

/** The account that a `kid` names; undefined for what is none of this directory's. */
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

/** Of a POST that is none in the place of a GET. */
export const readPayload = (payload: Uint8Array | undefined): JsonObject => {
  if (payload === undefined) throw malformed("The payload is empty.")
  return readObject(payload, "The payload")
}

export function decodeNewAccount(
  payload: JsonObject,
): Omit<NewAccount, "binding" | "address"> & { readonly sentBinding: unknown } {
  return {
    contact: payload["contact"] ?? undefined,
    termsOfServiceAgreed: flag(payload, "termsOfServiceAgreed"),
    onlyReturnExisting: flag(payload, "onlyReturnExisting"),
    sentBinding: payload["externalAccountBinding"] ?? undefined,
  }
}

export function decodeAccountChange(payload: JsonObject): { readonly contact: unknown; readonly deactivate: boolean } {
  const status = text(payload, "status")
  // What else clients send back of the document counts for nothing (RFC 8555, section 7.3.2).
  if (status !== undefined && status !== "valid" && status !== "deactivated")
    throw malformed(`"status" of an account is changed to "deactivated", and to nothing else.`)
  return { contact: payload["contact"] ?? undefined, deactivate: status === "deactivated" }
}

export function decodeNewOrder(payload: JsonObject): NewOrder {
  const given = payload["identifiers"]
  if (!Array.isArray(given)) throw malformed(`"identifiers" is no list.`)
  return {
    identifiers: decodeIdentifiers(given),
    notBefore: instant(payload, "notBefore"),
    notAfter: instant(payload, "notAfter"),
    profile: text(payload, "profile") ?? null,
    replaces: text(payload, "replaces") ?? null,
  }
}

const identifiersReadMaximum = 1_000

/** With a subproblem for each that cannot be read (RFC 8555, section 6.7.1). */
function decodeIdentifiers(given: readonly unknown[]): readonly Identifier[] {
  if (given.length > identifiersReadMaximum) throw malformed(`"identifiers" is too long.`)
  const problems: { readonly problem: AcmeProblem; readonly identifier: { type: string; value: string } }[] = []
  const identifiers = given.flatMap((one) => {
    try {
      return [decodeIdentifier(one)]
    } catch (error) {
      if (!(error instanceof AcmeProblem)) throw error
      const { type = "", value = "" } = isObject(one) ? one : {}
      problems.push({
        problem: error,
        identifier: { type: String(type).slice(0, 32), value: String(value).slice(0, 255) },
      })
      return []
    }
  })
  const [first] = problems
  if (first === undefined) return identifiers
  const { type, detail } = first.problem.problem
  if (problems.length === 1 && given.length === 1) throw first.problem
  throw new AcmeProblem(type, problems.length === 1 ? detail : `${problems.length} identifiers cannot be taken.`, {
    subproblems: problems.map(({ problem, identifier }) => ({ ...problem.problem, identifier })),
  })
}

export function decodeIdentifier(value: unknown): Identifier {
  if (!isObject(value)) throw malformed(`An identifier is an object of "type" and "value".`)
  return readIdentifier(value["type"], value["value"])
}

function instant(payload: JsonObject, name: string): Instant | null {
  const value = text(payload, name)
  if (value === undefined) return null
  const parsed = parseInstant(value)
  if (parsed === undefined) throw malformed(`${JSON.stringify(name)} is no time, such as "2030-01-31T12:00:00Z".`)
  return parsed
}

export const decodeFinalize = (payload: JsonObject): Uint8Array => {
  const csr = payload["csr"]
  if (typeof csr !== "string" || !/^[\w-]+$/.test(csr))
    throw new AcmeProblem("badCSR", `"csr" is not in base64url without padding.`)
  return readBase64url(csr, `"csr"`)
}

/** Whether the holder gives up an authorization, which is all that may be changed of one. */
export function decodeDeactivation(payload: JsonObject): void {
  if (text(payload, "status") !== "deactivated")
    throw malformed(`"status" of an authorization is changed to "deactivated", and to nothing else.`)
}

export function decodeRevocation(payload: JsonObject): Revocation {
  return {
    certificate: readBase64url(payload["certificate"], `"certificate"`),
    reason: decodeReason(payload["reason"]),
  }
}

/** What is final; a hold could be lifted (RFC 5280, section 5.3.1). */
const reasons = (Object.entries(revocationReasons) as [RevocationReason, number][]).filter(
  ([name]) => name !== "certificateHold" && name !== "removeFromCrl",
)

function decodeReason(value: unknown): RevocationReason {
  if (isLeftOut(value)) return "unspecified"
  const [found] = reasons.find(([, number]) => number === value) ?? []
  if (found !== undefined) return found
  const known = reasons.map(([name, number]) => `${number} (${name})`).join(", ")
  throw new AcmeProblem("badRevocationReason", `"reason" is none of ${known}.`)
}

export const parseChallengeType = (value: string): ChallengeType | undefined =>
  challengeTypes.find((type) => type === value)
