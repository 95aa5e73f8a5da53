// Request to the external policy service, version 1, with the member names that services for Vault decode. Their documentation names a
// member `namespace`, HashiCorp's library reads `ns`; both are sent (docs/compatibility.md, "External policy services").
import { z } from "zod"
import { defaultJsonBounds, type JsonBounds, parseBoundedJson } from "../../../core/json-bounds.ts"
import { hourMs, minuteMs, secondMs } from "../../../core/time.ts"
import type { PolicyAnswer, PolicyQuestion, ProposedIssuer } from "../../../pki/external-policy/external-policy.ts"

export function encodePolicyQuestion(question: PolicyQuestion): string {
  const { identity, parameters } = question
  const members: [string, string][] = [
    ["request_version", "1"],
    ["request_uuid", JSON.stringify(question.id)],
    ["synchronous", "true"],
    ["user_request_key_values", object([...parameters, ["csr", JSON.stringify(question.csr)]])],
  ]
  if (identity !== undefined) members.push(["identity_request_key_values", JSON.stringify(encodeIdentity(identity))])
  members.push(["vault_request_values", JSON.stringify(encodeTrusted(question))])
  return object(members)
}

/** Joins names and JSON texts to an object. Of several members with the same name, only the last is written. */
const object = (members: readonly (readonly [string, string])[]): string =>
  `{${[...new Map(members)].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`

const encodeIdentity = ({ entityId, entity, groups }: NonNullable<PolicyQuestion["identity"]>) => ({
  entity_id: entityId,
  ...(entity === undefined ? {} : { entity }),
  ...(groups === undefined ? {} : { groups }),
})

const encodeTrusted = ({ policyName, mountPath, mode, issuer, defaultTtlMs, maxTtlMs }: PolicyQuestion) => ({
  policy_name: policyName,
  mount: `${mountPath}/`,
  ns: "",
  namespace: "",
  vault_is_performance_standby: false,
  vault_is_performance_secondary: false,
  issuance_mode: mode,
  vault_generated_private_key: mode === "issue",
  requested_issuer_name: issuer?.name ?? "",
  requested_issuer_id: issuer?.id ?? "",
  requested_issuer_cert: issuer?.certificate ?? "",
  requested_issuance_config: {
    aia_values: encodeUrls(issuer?.urls),
    leaf_not_after_behavior: issuer?.leafNotAfterBehavior ?? "",
    mount_default_ttl: goDuration(defaultTtlMs),
    mount_max_ttl: goDuration(maxTtlMs),
  },
})

const encodeUrls = (urls: ProposedIssuer["urls"] | undefined) => ({
  issuing_certificates: urls?.issuingCertificates ?? [],
  crl_distribution_points: urls?.crlDistributionPoints ?? [],
  delta_crl_distribution_points: urls?.deltaCrlDistributionPoints ?? [],
  ocsp_servers: urls?.ocspServers ?? [],
})

/** Formats `768h0m0s`, the form in which Go prints durations and which services in Go can parse. */
const goDuration = (durationMs: number): string =>
  `${Math.floor(durationMs / hourMs)}h${Math.floor((durationMs % hourMs) / minuteMs)}m${Math.floor((durationMs % minuteMs) / secondMs)}s`

/** Go encodes an empty list as null. */
const answer = z.strictObject({
  request_uuid: z.string(),
  error: z.string().max(10_000).nullish(),
  warnings: z.array(z.string().max(1_000)).max(100).nullish(),
  certificate: z.string().nullish(),
  issuer_ref: z.string().max(1_000).nullish(),
  store_certificate: z.boolean().nullish(),
  generate_lease: z.boolean().nullish(),
  decision: z.literal("pending").nullish(),
  retry_after: z.int().min(0).nullish(),
})

/**
 * Decodes an answer. Returns a string if it is not a valid answer to this question, which completes a sentence beginning with "its answer
 * ".
 */
export function decodePolicyAnswer(body: Uint8Array, questionId: string): PolicyAnswer | string {
  const document = parsed(body)
  if (document === undefined) return "is not JSON"
  const read = answer.safeParse(document)
  if (!read.success) return problemOf(read.error)
  const { request_uuid: id, error, certificate, issuer_ref: issuerRef } = read.data
  if (id !== questionId) return 'contains a "request_uuid" other than that of the request'
  if (read.data.decision) {
    if (certificate || error) return 'has "decision" together with "certificate" or "error"'
    return { kind: "pending", retryAfterMs: pauseOf(read.data.retry_after) }
  }
  const warnings = read.data.warnings ?? []
  if (!certificate) {
    return error ? { kind: "refused", reason: error, warnings } : 'has neither "certificate" nor "error"'
  }
  return {
    kind: "allowed",
    template: certificate,
    issuerRef: issuerRef || undefined,
    store: read.data.store_certificate ?? false,
    lease: read.data.generate_lease ?? false,
    // An error that comes with a certificate is only a warning.
    warnings: error ? [...warnings, error] : warnings,
  }
}

/** A shorter pause costs more requests than it saves time; clients give up before a longer one ends. */
const pauses = { minMs: secondMs, defaultMs: minuteMs, maxMs: 24 * hourMs }

const pauseOf = (seconds: number | null | undefined): number =>
  Math.min(Math.max((seconds ?? pauses.defaultMs / secondMs) * secondMs, pauses.minMs), pauses.maxMs)

/** A certificate template in Vault's format nests four levels; the client reads no more than a megabyte. */
const answerBounds: JsonBounds = { ...defaultJsonBounds, depth: 20 }

function parsed(body: Uint8Array): unknown {
  try {
    return parseBoundedJson(body, answerBounds)
  } catch {
    return undefined
  }
}

/** Returns the first problem, with the name of the member but not its value. */
function problemOf(error: z.ZodError): string {
  const [issue] = error.issues
  if (issue?.code === "unrecognized_keys") return `contains an unknown member: ${issue.keys[0]?.slice(0, 64)}`
  const [member] = issue?.path ?? []
  return member === undefined ? "is not a JSON object" : `has an invalid "${String(member)}"`
}
