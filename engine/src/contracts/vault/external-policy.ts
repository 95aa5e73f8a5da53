// External policy services: their settings, and the parameters that this server reads itself. All other members of a request go to the
// service unchanged (docs/compatibility.md, "External policy services").
import { z } from "zod"
import { formatDuration, formatInstant, type Instant, parseInstant } from "../../core/time.ts"
import type { ExternalPolicyView } from "../../pki/external-policy/external-policy.ts"
import { decodeAnswer, encodeMembers } from "./format/parameters.ts"
import { issued } from "./certificate.ts"
import { certificateText, newKey, presentation, removeRootsFromChain } from "./certificate-parameters.ts"
import { type Answer, contract, dataOf, type Endpoint } from "./endpoint.ts"
import { bodyOf, fields, parameter } from "./record.ts"
import { duration, enumOf, flag, mistyped, type ParameterType, text } from "./types.ts"

const nanosecondsPerMs = 1_000_000
const timeout: ParameterType<number> = { ...duration, vault: (value) => value * nanosecondsPerMs }

const timeOr = (none: string): ParameterType<Instant | null> => ({
  schema: z.codec(z.string(), z.custom<Instant | null>(), {
    decode: (value, context) => (value === none ? null : (parseInstant(value) ?? mistyped(context, value))),
    encode: (value) => (value === null ? none : formatInstant(value)),
  }),
  expected: "an RFC 3339 timestamp",
  type: "string",
})
/** Go's zero time. */
const never = "0001-01-01T00:00:00Z"

const members = {
  enabled: parameter(flag, "Ask the service. Otherwise external-policy endpoints refuse.", {
    default: false,
    example: true,
  }),
  externalServiceUrl: parameter(text, "URL of the service. https only.", { example: "https://policy.example.com/v1" }),
  timeoutMs: parameter(timeout, "Longest wait for an answer. Nanoseconds in answers to Vault clients.", {
    wireName: "timeout",
    default: formatDuration(15_000),
    example: "5s",
  }),
  trustedCa: parameter(certificateText, "Authorities that the service's certificate must come from, in PEM."),
  trustedLeafCertificateBundle: parameter(certificateText, "Certificates that the service may have, in PEM."),
}
const settingsMembers = {
  entityJmespath: parameter(text, 'Part of the entity that is sent: "@" (all) or empty (nothing).', { example: "@" }),
  groupJmespath: parameter(text, 'Part of the groups that is sent: "@" (all) or empty (nothing).', { example: "@" }),
}
const settingsTable = fields({
  ...members,
  clientCertBundle: parameter(certificateText, "Client certificate and its private key, in PEM.", {
    wireName: "vault_client_cert_bundle",
  }),
  ...settingsMembers,
})

const part = enumOf("", "@")
const viewTable = fields({
  ...members,
  clientCertificates: parameter(certificateText, "Client certificate without its private key.", {
    wireName: "vault_client_cert_bundle_no_keys",
  }),
  entityJmespath: { ...settingsMembers.entityJmespath, type: part },
  groupJmespath: { ...settingsMembers.groupJmespath, type: part },
  updatedAt: parameter(timeOr(never), `Last change of the settings. ${never}: never.`, {
    wireName: "external_service_last_updated",
  }),
  validated: parameter(flag, "The service has answered this server since the last change.", {
    wireName: "external_service_validated",
  }),
  lastSuccessfulRequest: parameter(
    timeOr(""),
    "Last answer of the service to this server. Empty: none since its start.",
  ),
})
const view = dataOf(
  viewTable,
  ({ settings, ...rest }: ExternalPolicyView, dialect) => ({
    data: encodeMembers(viewTable, { ...settings, ...rest }, dialect),
  }),
  ({ data }): ExternalPolicyView => {
    const { validated, lastSuccessfulRequest, ...settings } = decodeAnswer(viewTable, data)
    return { settings, validated, lastSuccessfulRequest }
  },
)

const csr = parameter(text, "Certificate signing request (PKCS #10) in PEM. Required.")
const shared = { ...presentation, removeRootsFromChain }
const issue = bodyOf(fields({ ...shared, keyType: newKey.keyType, keyBits: newKey.keyBits }))
const sign = bodyOf(fields({ ...shared, csr }))
const signIntermediate = bodyOf(
  fields({
    ...shared,
    // There is no key that could have a format. Vault's documentation has a default here that no other endpoint accepts.
    privateKeyFormat: parameter(enumOf("der", "pkcs8", "pem"), "Ignored: there is no key."),
    csr,
  }),
)

/** Limit of bodies, which the policy service reads as well. */
const bodyLimitBytes = 1024 * 1024

interface Form<B> {
  readonly summary: string
  readonly body: B
}
/** Returns the endpoints with and without a policy, each with the default issuer and with the issuer in the path. */
const everyForm = <const Verb extends string, B extends NonNullable<Endpoint["body"]>>(
  verb: Verb,
  { summary, body }: Form<B>,
) => {
  const endpoint = {
    operation: "write",
    summary: `${summary} policy: name that the service gets.`,
    rights: "create or update",
    bodyLimitBytes,
    body,
    answers: issued as Answer<Parameters<typeof issued.encode>[0], ReturnType<typeof issued.decode>>,
  } as const
  return contract({
    byMount: { ...endpoint, path: `/external-policy/${verb}` as const },
    byPolicy: { ...endpoint, path: `/external-policy/${verb}/:policy` as const },
    byIssuer: { ...endpoint, path: `/issuer/:issuer_ref/external-policy/${verb}` as const },
    byIssuerAndPolicy: { ...endpoint, path: `/issuer/:issuer_ref/external-policy/${verb}/:policy` as const },
  })
}

export const externalPolicy = contract({
  get: {
    operation: "read",
    path: "/config/external-policy",
    summary: "Returns the settings of the external policy service.",
    rights: "read",
    answers: view,
  },
  configure: {
    operation: "write",
    path: "/config/external-policy",
    summary: "Changes the settings of the external policy service: parameters left out keep their values.",
    rights: "create or update",
    body: bodyOf(settingsTable),
    answers: view,
  },
})
export const policyIssue = everyForm("issue", {
  summary: "Generates a key and issues the certificate that the policy service decides on.",
  body: issue,
})
export const policySign = everyForm("sign", {
  summary: "Signs a CSR as the policy service decides.",
  body: sign,
})
export const policySignIntermediate = everyForm("sign-intermediate", {
  summary: "Signs the CSR of an intermediate as the policy service decides.",
  body: signIntermediate,
})
