// OpenAPI description of ACME below each directory of a mount. Requests are described by the payload of their JWS.
import { challengeTypes } from "../../acme/orders/order.ts"
import {
  content,
  described,
  inPath,
  type Json,
  listOf,
  object,
  operationId,
  pascalCased,
  type Paths,
  referenceTo,
  templateOf,
} from "../openapi.ts"
import { acme, directories } from "./directory.ts"
import type { AcmeEndpoint } from "./endpoint.ts"

/** Returns operations by path. `prefix` and `parameters` are those of the mount. */
export function acmePaths(prefix: string, parameters: readonly Json[]): Paths {
  const paths: Paths = {}
  for (const { name: directory, path: base } of directories)
    for (const [name, endpoint] of Object.entries<AcmeEndpoint>(acme)) {
      const path = `${base}${endpoint.path}`
      ;(paths[`${prefix}${templateOf(path)}`] ??= {})[endpoint.method.toLowerCase()] = {
        operationId: operationId("acme", `${name}${directory === "" ? "" : `Of${directory}`}`),
        tags: ["acme"],
        summary: endpoint.summary,
        description: endpoint.method === "GET" ? "Needs no token." : `Signed with the key of: ${endpoint.signer ?? ""}`,
        security: [],
        parameters: [...parameters, ...inPath(path)],
        ...(endpoint.method === "POST" && {
          requestBody: { required: true, ...content("application/jose+json", payloadSchema(name, endpoint)) },
        }),
        responses: {
          ...Object.fromEntries(
            (endpoint.answers.statuses ?? [200]).map((status) => [
              status,
              { description: "Success", ...answerContent(endpoint) },
            ]),
          ),
          default: { description: "Refused", ...content("application/problem+json", referenceTo("Problem")) },
        },
      }
    }
  return paths
}

const answerContent = ({ answers: { document, mediaType = "application/json" } }: AcmeEndpoint) =>
  document === undefined ? {} : content(mediaType, document === "Pem" ? text : referenceTo(document))

/** Returns the schema of the JWS payload. An empty string means no payload (RFC 8555, section 6.3). */
function payloadSchema(name: string, { payload, payloadOptional }: AcmeEndpoint): Json {
  if (payload === undefined) return { const: "" }
  const schema = referenceTo(payloadName(name))
  return payloadOptional === true ? { anyOf: [schema, { const: "" }] } : schema
}
const payloadName = (name: string): string => `Acme${pascalCased(name)}Payload`

const payloadSchemas = Object.fromEntries(
  Object.entries<AcmeEndpoint>(acme).flatMap(([name, { payload }]) => {
    if (payload === undefined) return []
    const members = Object.entries(payload.members)
    const schema = object(
      Object.fromEntries(members.map(([member, one]) => [member, described(one.schema, one)])),
      members.filter(([, one]) => one.required === true).map(([member]) => member),
    )
    return [[payloadName(name), schema]]
  }),
)

const text = { type: "string" }
const url = { type: "string", format: "uri" }
const time = { type: "string", format: "date-time" }
const problem = referenceTo("Problem")
const identifier = object({ type: { enum: ["dns", "ip"] }, value: text }, ["type", "value"])

/** RFC 8555, sections 7.1.1 to 7.1.6 and 8; RFC 7807; RFC 9773, section 4.2. */
export const acmeSchemas: Readonly<Record<string, Json>> = {
  ...payloadSchemas,
  Problem: object(
    {
      type: url,
      detail: text,
      status: { type: "integer" },
      subproblems: listOf(object({ type: url, detail: text, identifier })),
    },
    ["type"],
  ),
  AcmeDirectory: object(
    {
      newNonce: url,
      newAccount: url,
      newOrder: url,
      newAuthz: url,
      revokeCert: url,
      keyChange: url,
      renewalInfo: url,
      meta: object({
        termsOfService: url,
        website: url,
        caaIdentities: listOf(text),
        externalAccountRequired: { type: "boolean" },
        profiles: { type: "object", additionalProperties: text },
      }),
    },
    ["newNonce", "newAccount", "newOrder", "revokeCert", "keyChange"],
  ),
  AcmeAccount: object(
    {
      status: { enum: ["valid", "deactivated", "revoked"] },
      contact: listOf(text),
      termsOfServiceAgreed: { type: "boolean" },
      orders: url,
      externalAccountBinding: { type: "object" },
    },
    ["status", "orders"],
  ),
  AcmeOrders: object({ orders: listOf(url) }, ["orders"]),
  AcmeOrder: object(
    {
      status: { enum: ["pending", "ready", "processing", "valid", "invalid"] },
      expires: time,
      identifiers: listOf(identifier),
      notBefore: time,
      notAfter: time,
      profile: text,
      replaces: text,
      authorizations: listOf(url),
      finalize: url,
      certificate: url,
      error: problem,
    },
    ["status", "identifiers", "authorizations", "finalize"],
  ),
  AcmeAuthorization: object(
    {
      identifier,
      status: { enum: ["pending", "valid", "invalid", "deactivated", "expired"] },
      expires: time,
      challenges: listOf(referenceTo("AcmeChallenge")),
      wildcard: { type: "boolean" },
    },
    ["identifier", "status", "challenges"],
  ),
  AcmeChallenge: object(
    {
      type: { enum: challengeTypes },
      url,
      status: { enum: ["pending", "processing", "valid", "invalid"] },
      token: text,
      validated: time,
      error: problem,
    },
    ["type", "url", "status"],
  ),
  AcmeRenewalInfo: object(
    { suggestedWindow: object({ start: time, end: time }, ["start", "end"]), explanationURL: url },
    ["suggestedWindow"],
  ),
}
