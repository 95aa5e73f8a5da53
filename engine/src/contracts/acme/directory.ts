// Endpoints of an ACME directory (RFC 8555, section 7; RFC 9773) and their payloads.
import { type Identifier, readIdentifier } from "../../acme/orders/identifier.ts"
import { AcmeProblem, malformed } from "../../acme/problem.ts"
import { type Instant, parseInstant } from "../../core/time.ts"
import { isLeftOut, isObject, readBase64url, text as textMember } from "./object.ts"
import { revocationReasons, type RevocationReason } from "../../x509/certificate-list.ts"
import type { Documentation } from "../codec.ts"
import { acmeContract, payload, type PayloadMember } from "./endpoint.ts"

const issuers = { "": "", Issuer: "/issuer/:issuer_ref" }
const deciders = {
  "": "",
  Role: "/roles/:role",
  PolicyService: "/external-policy",
  Policy: "/external-policy/:policy",
}
/** Paths of directories below a mount, with suffixes for operation ids in OpenAPI. */
export const directories = Object.entries(issuers).flatMap(([issuer, above]) =>
  Object.entries(deciders).map(([decider, below]) => ({ name: `${issuer}${decider}`, path: `${above}${below}/acme` })),
)
export const directoryPaths: readonly string[] = directories.map(({ path }) => path)

const member = <T>(
  schema: PayloadMember<T>["schema"],
  read: PayloadMember<T>["read"],
  rule: string,
  documentation: Omit<Documentation, "rule"> & { readonly required?: true } = {},
): PayloadMember<T> => ({ schema, read, rule, ...documentation })

const text = (value: unknown, name: string): string | null => textMember({ [name]: value }, name) ?? null

function flag(value: unknown, name: string): boolean {
  if (isLeftOut(value)) return false
  if (typeof value !== "boolean") throw malformed(`${JSON.stringify(name)} must be a boolean.`)
  return value
}

function instant(value: unknown, name: string): Instant | null {
  const given = text(value, name)
  if (given === null) return null
  const parsed = parseInstant(given)
  if (parsed === undefined)
    throw malformed(`${JSON.stringify(name)} must be a timestamp, such as "2030-01-31T12:00:00Z".`)
  return parsed
}

const anything = (value: unknown): unknown => value ?? undefined

const string = { type: "string" }
const time = { type: "string", format: "date-time" }
const identifierSchema = {
  type: "object",
  properties: { type: { enum: ["dns", "ip"] }, value: string },
  required: ["type", "value"],
}

function readIdentifierObject(value: unknown): Identifier {
  if (!isObject(value)) throw malformed(`An identifier must be an object with "type" and "value".`)
  return readIdentifier(value["type"], value["value"])
}

const maxIdentifiersRead = 1_000

/** Reads identifiers. Throws `AcmeProblem`, with a subproblem for each invalid identifier (RFC 8555, section 6.7.1). */
function readIdentifiers(given: unknown): readonly Identifier[] {
  if (!Array.isArray(given)) throw malformed(`"identifiers" must be an array.`)
  if (given.length > maxIdentifiersRead)
    throw malformed(`"identifiers" must not contain more than ${maxIdentifiersRead} identifiers.`)
  const problems: { readonly problem: AcmeProblem; readonly identifier: { type: string; value: string } }[] = []
  const identifiers = given.flatMap((one: unknown) => {
    try {
      return [readIdentifierObject(one)]
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
  throw new AcmeProblem(
    type,
    problems.length === 1 ? detail : `${problems.length} identifiers are rejected; see "subproblems".`,
    {
      subproblems: problems.map(({ problem, identifier }) => ({ ...problem.problem, identifier })),
    },
  )
}

function readCsr(csr: unknown): Uint8Array {
  if (typeof csr !== "string" || !/^[\w-]+$/.test(csr))
    throw new AcmeProblem("badCSR", `"csr" must be in base64url without padding.`)
  return readBase64url(csr, `"csr"`)
}

/** Permanent reasons. A hold could be lifted (RFC 5280, section 5.3.1), and revocations here are final. */
const reasons = (Object.entries(revocationReasons) as [RevocationReason, number][]).filter(
  ([name]) => name !== "certificateHold" && name !== "removeFromCrl",
)

function readReason(value: unknown): RevocationReason {
  if (isLeftOut(value)) return "unspecified"
  const [found] = reasons.find(([, number]) => number === value) ?? []
  if (found !== undefined) return found
  const known = reasons.map(([name, number]) => `${number} (${name})`).join(", ")
  throw new AcmeProblem("badRevocationReason", `"reason" must be one of ${known}.`)
}

const contact = member({ type: "array", items: string }, anything, "URLs of contact, such as mailto: addresses.", {
  example: ["mailto:ops@example.com"],
})

const newAccount = payload({
  contact,
  termsOfServiceAgreed: member({ type: "boolean" }, flag, "Agree to the terms of service.", {
    default: false,
    example: true,
  }),
  onlyReturnExisting: member({ type: "boolean" }, flag, "Return the account of the key, and make none.", {
    default: false,
    example: true,
  }),
  externalAccountBinding: member(
    { type: "object" },
    anything,
    "JWS of the account's key, signed with the key of a binding.",
  ),
})

const accountChange = payload({
  contact,
  status: member(
    { const: "deactivated" },
    (value, name) => {
      const status = text(value, name)
      // Other members of the document that clients send back are ignored (RFC 8555, section 7.3.2).
      if (status !== null && status !== "valid" && status !== "deactivated")
        throw malformed(`"status" of an account can only be changed to "deactivated".`)
      return status
    },
    "deactivated: give up the account.",
    { example: "deactivated" },
  ),
})

const newOrder = payload({
  identifiers: member({ type: "array", items: identifierSchema }, readIdentifiers, "Names and addresses to certify.", {
    required: true,
    example: [{ type: "dns", value: "www.example.com" }],
  }),
  notBefore: member(time, instant, "Beginning of the validity.", { example: "2030-01-31T12:00:00Z" }),
  notAfter: member(time, instant, "End of the validity.", { example: "2030-03-31T12:00:00Z" }),
  profile: member(string, text, "Profile: a role of the directory.", { example: "web" }),
  replaces: member(string, text, "Identifier of the certificate that is renewed (RFC 9773)."),
})

const finalize = payload({
  csr: member(string, readCsr, "Certificate signing request (PKCS #10), DER in base64url.", { required: true }),
})

const newAuthorization = payload({
  identifier: member(identifierSchema, readIdentifierObject, "Name or address to prove control of.", {
    required: true,
    example: { type: "dns", value: "www.example.com" },
  }),
})

const authorizationChange = payload({
  status: member(
    { const: "deactivated" },
    (value, name) => {
      if (text(value, name) !== "deactivated")
        throw malformed(`"status" of an authorization can only be changed to "deactivated".`)
      return "deactivated"
    },
    "deactivated: give up the authorization.",
    { required: true, example: "deactivated" },
  ),
})

const revocation = payload({
  certificate: member(string, (value) => readBase64url(value, `"certificate"`), "Certificate, DER in base64url.", {
    required: true,
  }),
  reason: member({ enum: reasons.map(([, number]) => number) }, readReason, "Reason code (RFC 5280, section 5.3.1).", {
    default: 0,
    example: 1,
  }),
})

const asAccount = { method: "POST", signer: "account" } as const
const pem = { document: "Pem", mediaType: "application/pem-certificate-chain" }
export const acme = acmeContract({
  directory: {
    method: "GET",
    path: "/directory",
    summary: "Returns the addresses of the directory.",
    answers: { document: "AcmeDirectory" },
  },
  directoryByPost: {
    ...asAccount,
    path: "/directory",
    summary: "Returns the addresses of the directory.",
    answers: { document: "AcmeDirectory" },
  },
  newNonce: {
    method: "GET",
    path: "/new-nonce",
    summary: "Returns a nonce in Replay-Nonce.",
    answers: { statuses: [204] },
  },
  newNonceByPost: {
    ...asAccount,
    path: "/new-nonce",
    summary: "Returns a nonce in Replay-Nonce.",
    answers: { statuses: [204] },
  },
  renewalInfo: {
    method: "GET",
    path: "/renewal-info/:certificate_id",
    summary: "Returns the time in which a certificate should be renewed (RFC 9773).",
    answers: { document: "AcmeRenewalInfo" },
  },
  newAccount: {
    method: "POST",
    path: "/new-account",
    summary: "Makes an account, or returns that of the key.",
    signer: "new key",
    payload: newAccount,
    answers: { document: "AcmeAccount", statuses: [200, 201] },
  },
  account: {
    ...asAccount,
    path: "/account/:id",
    summary: "Returns or changes the account.",
    payload: accountChange,
    payloadOptional: true,
    answers: { document: "AcmeAccount" },
  },
  orders: {
    ...asAccount,
    path: "/account/:id/orders",
    summary: "Lists the orders of the account.",
    answers: { document: "AcmeOrders" },
  },
  newOrder: {
    ...asAccount,
    path: "/new-order",
    summary: "Makes an order.",
    payload: newOrder,
    answers: { document: "AcmeOrder", statuses: [201] },
  },
  order: { ...asAccount, path: "/order/:id", summary: "Returns an order.", answers: { document: "AcmeOrder" } },
  finalize: {
    ...asAccount,
    path: "/order/:id/finalize",
    summary: "Requests the certificate of an order.",
    payload: finalize,
    answers: { document: "AcmeOrder" },
  },
  certificate: {
    ...asAccount,
    path: "/order/:id/cert",
    summary: "Returns the certificate of an order in PEM.",
    answers: pem,
  },
  certificateChain: {
    ...asAccount,
    path: "/order/:id/cert/:chain",
    summary: "Returns the certificate with another chain, by its number.",
    answers: pem,
  },
  newAuthorization: {
    ...asAccount,
    path: "/new-authz",
    summary: "Makes an authorization before an order.",
    payload: newAuthorization,
    answers: { document: "AcmeAuthorization", statuses: [200, 201] },
  },
  authorization: {
    ...asAccount,
    path: "/authorization/:id",
    summary: "Returns or gives up an authorization.",
    payload: authorizationChange,
    payloadOptional: true,
    answers: { document: "AcmeAuthorization" },
  },
  challenge: {
    ...asAccount,
    path: "/challenge/:id/:type",
    summary: "Returns a challenge, or begins its validation.",
    payload: payload({}),
    payloadOptional: true,
    answers: { document: "AcmeChallenge" },
  },
  revoke: {
    method: "POST",
    path: "/revoke-cert",
    summary: "Revokes a certificate.",
    signer: "account or certificate key",
    payload: revocation,
    answers: {},
  },
  keyChange: {
    ...asAccount,
    path: "/key-change",
    summary: "Changes the key of the account. The payload is a JWS, signed by the new key, of account and oldKey.",
    payload: payload({}),
    answers: { document: "AcmeAccount" },
  },
})
