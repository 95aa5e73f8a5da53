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

/** From JSON texts; the last value of a name is the one that counts, and the only one. */
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

/** `768h0m0s`: the one form that services written in Go are sure to have met. */
const goDuration = (durationMs: number): string =>
  `${Math.floor(durationMs / hourMs)}h${Math.floor((durationMs % hourMs) / minuteMs)}m${Math.floor((durationMs % minuteMs) / secondMs)}s`

/** Go writes an empty list as null. */
const answer = z.strictObject({
  request_uuid: z.string(),
  error: z.string().max(10_000).nullish(),
  warnings: z.array(z.string().max(1_000)).max(100).nullish(),
  certificate: z.string().nullish(),
  issuer_ref: z.string().max(1_000).nullish(),
  store_certificate: z.boolean().nullish(),
  generate_lease: z.boolean().nullish(),
})

/** What came back; or why it is no answer to the question with this id: the end of a sentence that begins "its answer ". */
export function decodePolicyAnswer(body: Uint8Array, questionId: string): PolicyAnswer | string {
  const document = parsed(body)
  if (document === undefined) return "is not JSON"
  const read = answer.safeParse(document)
  if (!read.success) return problemOf(read.error)
  const { request_uuid: id, error, certificate, issuer_ref: issuerRef } = read.data
  if (id !== questionId) return "repeats another request_uuid than that of the request"
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
    // Who says both has given a certificate, and something to think about.
    warnings: error ? [...warnings, error] : warnings,
  }
}

/** A certificate of the public API's own words nests four levels; the client reads no more than a megabyte. */
const answerBounds: JsonBounds = { ...defaultJsonBounds, depth: 20 }

function parsed(body: Uint8Array): unknown {
  try {
    return parseBoundedJson(body, answerBounds)
  } catch {
    return undefined
  }
}

/** Names the member and nothing of what is in it. */
function problemOf(error: z.ZodError): string {
  const [issue] = error.issues
  if (issue?.code === "unrecognized_keys") return `has a member that is not known: ${issue.keys[0]?.slice(0, 64)}`
  const [member] = issue?.path ?? []
  return member === undefined ? "is no JSON object" : `has a wrong "${String(member)}"`
}
