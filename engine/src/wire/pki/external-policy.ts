// Settings of a mount's external policy service, and the members that its endpoints read themselves. All other members go to the
// service unchanged (docs/compatibility.md, "External policy services").
import { formatInstant, type Instant, parseInstant } from "../../core/time.ts"
import type { ExternalPolicyView } from "../../pki/external-policy/external-policy.ts"
import type { Dialect } from "./dialect.ts"
import type { WireNames } from "./errors.ts"
import { format, privateKeyFormat } from "./format.ts"
import {
  decodeAnswer,
  type Document,
  duration,
  durationText,
  flag,
  importMaximumBytes,
  integer,
  parameters,
  text,
  textUpTo,
  unreadable,
  word,
} from "./parameters.ts"

const bundle = textUpTo(importMaximumBytes)

export const externalPolicyWireNames: WireNames = { clientCertBundle: "vault_client_cert_bundle" }

export const externalPolicyParameters = parameters(
  {
    enabled: flag,
    externalServiceUrl: text,
    timeoutMs: duration,
    trustedCa: bundle,
    trustedLeafCertificateBundle: bundle,
    clientCertBundle: bundle,
    entityJmespath: text,
    groupJmespath: text,
  },
  externalPolicyWireNames,
)

const presentation = { format, privateKeyFormat, removeRootsFromChain: flag }
export const policyIssueParameters = parameters({ ...presentation, keyType: text, keyBits: integer })
export const policySignParameters = parameters({ ...presentation, csr: text })
/** There is no key to have a format; its documentation knows a default that nothing else has. */
export const policySignIntermediateParameters = parameters({
  ...presentation,
  privateKeyFormat: word("der", "pkcs8", "pem"),
  csr: text,
})

const nanosecondsPerMs = 1_000_000
/** What Go writes for no time at all. */
const never = "0001-01-01T00:00:00Z"

const viewParameters = parameters(
  {
    enabled: flag,
    externalServiceUrl: text,
    timeoutMs: duration,
    trustedCa: bundle,
    trustedLeafCertificateBundle: bundle,
    clientCertificates: bundle,
    entityJmespath: word("", "@"),
    groupJmespath: word("", "@"),
    updatedAt: text,
    validated: flag,
    lastSuccessfulRequest: text,
  },
  {
    timeoutMs: "timeout",
    clientCertificates: "vault_client_cert_bundle_no_keys",
    updatedAt: "external_service_last_updated",
    validated: "external_service_validated",
  },
)

/** Reads the native dialect. */
export function decodeExternalPolicy(data: unknown): ExternalPolicyView {
  const { updatedAt, validated, lastSuccessfulRequest, ...settings } = decodeAnswer(viewParameters, data)
  return {
    settings: { ...settings, updatedAt: updatedAt === never ? null : timeIn(updatedAt) },
    validated,
    lastSuccessfulRequest: lastSuccessfulRequest === "" ? null : timeIn(lastSuccessfulRequest),
  }
}

function timeIn(told: string): Instant {
  const time = parseInstant(told)
  if (time === undefined) throw unreadable("a time in it is none")
  return time
}

export function encodeExternalPolicy(view: ExternalPolicyView, dialect: Dialect): Document {
  const { settings, validated, lastSuccessfulRequest } = view
  return {
    enabled: settings.enabled,
    external_service_url: settings.externalServiceUrl,
    timeout:
      dialect === "vault" ? settings.timeoutMs * nanosecondsPerMs : durationText.encode(settings.timeoutMs, dialect),
    trusted_ca: settings.trustedCa,
    trusted_leaf_certificate_bundle: settings.trustedLeafCertificateBundle,
    vault_client_cert_bundle_no_keys: settings.clientCertificates,
    entity_jmespath: settings.entityJmespath,
    group_jmespath: settings.groupJmespath,
    external_service_last_updated: settings.updatedAt === null ? never : formatInstant(settings.updatedAt),
    external_service_validated: validated,
    last_successful_request: lastSuccessfulRequest === null ? "" : formatInstant(lastSuccessfulRequest),
  }
}
