// Roles (https://developer.hashicorp.com/vault/api-docs/secret/pki#create-update-role).
import { z } from "zod"
import { parseNestedJson } from "../../core/json-bounds.ts"
import { type Instant, parseInstant } from "../../core/time.ts"
import { type PolicyIdentifier, roleDefaults } from "../../pki/roles/role.ts"
import { isDocument } from "./format/parameters.ts"
import { encode } from "../codec.ts"
import { contract, data, keyPage, keys, nothing, warned } from "./endpoint.ts"
import { subject } from "./certificate-parameters.ts"
import { parameter, record } from "./record.ts"
import {
  duration,
  flag,
  instant,
  integer,
  integers,
  mistyped,
  type ParameterType,
  problem,
  text,
  texts,
} from "./types.ts"

/** Keyword or instant. */
const bound: ParameterType<string | Instant> = {
  schema: z.codec(text.schema, z.custom<string | Instant>(), {
    decode: (value) => parseInstant(value) ?? value,
    encode: (value) => (typeof value === "number" ? (encode(instant.schema, value) as string) : value),
  }),
  expected: "a string",
  type: "string",
}

/**
 * List of object identifiers, list of objects with qualifiers, or JSON text of either list. Vault clients decode a list of strings: if a
 * policy has qualifiers, each item is a string with JSON, and requests may send it back in this form.
 */
const policyIdentifiers: ParameterType<readonly PolicyIdentifier[]> = {
  schema: z.codec(z.unknown(), z.custom<readonly PolicyIdentifier[]>(), {
    decode(value, context) {
      const given: unknown =
        typeof value === "string" && value.trimStart().startsWith("[") ? parseNestedJson(value) : value
      const items: unknown = Array.isArray(given) ? given.map(parsedIfObject) : given
      if (!Array.isArray(items) || items.every((item) => typeof item === "string")) {
        const oids = texts.schema.safeParse(items)
        if (oids.success) return oids.data.map((oid) => ({ oid }))
        const [issue] = oids.error.issues
        return issue?.code === "custom" ? problem(context, value, issue.message) : mistyped(context, value)
      }
      const policies = items.map(policyOf)
      return policies.every((policy) => policy !== undefined) ? policies : mistyped(context, value)
    },
    encode: (value) => (haveQualifiers(value) ? value : value.map(({ oid }) => oid)),
  }),
  expected: 'an array of object identifiers, or of objects with "oid", "notice" and "cps"',
  type: "slice",
  vault: (value) =>
    haveQualifiers(value) ? value.map((policy) => JSON.stringify(policy)) : value.map(({ oid }) => oid),
}

const haveQualifiers = (policies: readonly PolicyIdentifier[]): boolean =>
  policies.some((policy) => Object.keys(policy).length > 1)

const parsedIfObject = (item: unknown): unknown =>
  typeof item === "string" && item.startsWith("{") ? parseNestedJson(item) : item

function policyOf(item: unknown): PolicyIdentifier | undefined {
  if (typeof item === "string") return { oid: item }
  if (!isDocument(item)) return undefined
  const { oid, notice, cps } = item
  if (typeof oid !== "string") return undefined
  if ((notice !== undefined && typeof notice !== "string") || (cps !== undefined && typeof cps !== "string"))
    return undefined
  // Vault clients send an empty string for an absent qualifier.
  return { oid, ...(notice ? { notice } : {}), ...(cps ? { cps } : {}) }
}

export const role = record(
  {
    ttlMs: parameter(
      duration,
      "Lifetime of certificates whose request has no ttl. 0s: the default of the mount. At most max_ttl.",
      { example: "72h" },
    ),
    maxTtlMs: parameter(
      duration,
      "Maximum lifetime. A longer ttl is cut to it, with a warning. 0s: the maximum of the mount.",
      { example: "720h" },
    ),
    notBeforeDurationMs: parameter(duration, "Back-dating of notBefore.", { example: "5m" }),
    notBefore: parameter(instant, "notBefore of every certificate. Overrides the request and not_before_duration.", {
      example: "2030-01-31T12:00:00Z",
    }),
    notBeforeBound: parameter(
      bound,
      "Earliest not_before of a request: permit (any), duration (now less not_before_duration), forbid, or a time.",
      { example: "forbid" },
    ),
    notAfter: parameter(instant, "notAfter of every certificate. Overrides the request and every ttl.", {
      example: "2031-01-31T12:00:00Z",
    }),
    notAfterBound: parameter(
      bound,
      "Latest not_after of a request: permit (any), ttl-limited (cut to max_ttl, with a warning), forbid, or a time, which bounds a ttl too.",
      { example: "permit" },
    ),
    allowLocalhost: parameter(flag, "Allow localhost and localdomain."),
    allowedDomains: parameter(
      texts,
      "Domains that allow_bare_domains, allow_subdomains and allow_glob_domains apply to.",
      { example: ["example.com"] },
    ),
    allowedDomainsTemplate: parameter(flag, "Fill in identity templates in allowed_domains."),
    allowBareDomains: parameter(flag, "Allow the entries of allowed_domains themselves."),
    allowSubdomains: parameter(flag, "Allow subdomains of the entries of allowed_domains."),
    allowGlobDomains: parameter(
      flag,
      "Allow names that match an entry of allowed_domains with a *, which stands for any text with dots.",
    ),
    allowWildcardCertificates: parameter(flag, "Allow names with a wildcard."),
    allowPartialWildcards: parameter(
      flag,
      "Allow a * beside other characters of a label, such as w*.example.com (RFC 9525, section 6.3).",
    ),
    allowAnyName: parameter(flag, "Allow every well-formed name."),
    enforceHostnames: parameter(flag, "Require host names or e-mail addresses."),
    allowIpSans: parameter(flag, "Allow IP SANs."),
    allowedIpSansCidr: parameter(texts, "CIDR ranges of IP SANs. Empty: any address.", { example: ["10.0.0.0/8"] }),
    allowedUriSans: parameter(texts, "Allowed URI SANs. A * stands for any text. Empty: none.", {
      example: ["spiffe://example.com/*"],
    }),
    allowedUriSansTemplate: parameter(flag, "Fill in identity templates in allowed_uri_sans."),
    allowGlobsInIdentityTemplates: parameter(
      flag,
      "Treat a * in the values of an identity as a wildcard in templates.",
    ),
    allowedOtherSans: parameter(
      texts,
      "Allowed other SANs as <oid>;UTF8:<value>. A * stands for any text; the single entry * allows all. Empty: none.",
      { example: ["1.3.6.1.4.1.311.20.2.3;UTF8:*@example.com"] },
    ),
    allowedSerialNumbers: parameter(
      texts,
      "Allowed serial numbers in the subject. A * stands for any text. Empty: none.",
      { example: ["host-*"] },
    ),
    allowedUserIds: parameter(texts, "Allowed user ids in the subject. A * stands for any text. Empty: none.", {
      example: ["ada"],
    }),
    serverFlag: parameter(flag, "Add the extended key usage serverAuth."),
    clientFlag: parameter(flag, "Add the extended key usage clientAuth."),
    codeSigningFlag: parameter(flag, "Add the extended key usage codeSigning."),
    emailProtectionFlag: parameter(flag, "Add the extended key usage emailProtection."),
    keyUsage: parameter(
      texts,
      "Key usages, such as DigitalSignature. Unknown names are ignored. Empty: no extension.",
      { example: ["DigitalSignature"] },
    ),
    extKeyUsage: parameter(texts, "Extended key usages, such as ServerAuth. Unknown names are ignored.", {
      example: ["ServerAuth"],
    }),
    extKeyUsageOids: parameter(texts, "Extended key usages as object identifiers.", {
      example: ["1.3.6.1.5.5.7.3.17"],
    }),
    keyType: parameter(text, "Type of keys: rsa, ec, ed25519, or any. With any, requests to issue need key_type.", {
      example: "ec",
    }),
    keyBits: parameter(
      integer,
      "Size of keys: rsa 2048, 3072, 4096 or 8192; ec 224, 256, 384 or 521. 0: 2048 or 256.",
      { example: 256 },
    ),
    signatureBits: parameter(integer, "Hash of signatures by RSA issuers: 256, 384 or 512. 0: chosen by the key.", {
      example: 384,
    }),
    allowedRsaExponents: parameter(integers, "Public exponents of RSA keys in CSRs.", { example: [3, 65_537] }),
    usePss: parameter(flag, "Sign with PSS if the issuer has an RSA key."),
    useCsrCommonName: parameter(flag, "Take the common name of a CSR, if it has one."),
    useCsrSans: parameter(flag, "Take the SANs of a CSR and ignore those of the request."),
    serialNumberSource: parameter(
      text,
      "Source of the serial number in the subject: json (the request), or json-csr (the request, else the CSR).",
      { example: "json" },
    ),
    requireCn: parameter(flag, "Require a common name."),
    cnValidations: parameter(
      texts,
      "Allowed forms of the common name: email, hostname, or disabled alone, which skips their checks.",
      { example: ["hostname"] },
    ),
    ...subject,
    policyIdentifiers: parameter(
      policyIdentifiers,
      "Certificate policies: object identifiers, or objects with oid, notice and cps.",
      { example: ["2.23.140.1.2.1"] },
    ),
    basicConstraintsValidForNonCa: parameter(flag, "Add basicConstraints CA:FALSE."),
    issuerRef: parameter(text, "Issuer that signs: name, id or default. Resolved at each use.", {
      example: "issuing-2030",
    }),
    generateLease: parameter(flag, "Make a lease for every stored certificate."),
    noStore: parameter(flag, "Do not store certificates. They can be revoked only by presenting the certificate."),
    noStoreMetadata: parameter(flag, "Refuse cert_metadata."),
  },
  // Roles in Vault have this read-only member.
  { defaults: roleDefaults, constants: { allow_token_displayname: false } },
)

export const roles = contract({
  list: {
    operation: "list",
    path: "/roles",
    summary: "Lists the names of roles.",
    rights: "list",
    body: keyPage,
    answers: keys,
  },
  get: { operation: "read", path: "/roles/:name", summary: "Returns a role.", rights: "read", answers: data(role) },
  save: {
    operation: "write",
    path: "/roles/:name",
    summary: "Creates or replaces a role: parameters left out get their defaults.",
    rights: "create or update",
    body: role.input,
    answers: warned(role, "role"),
  },
  update: {
    operation: "patch",
    path: "/roles/:name",
    summary: "Changes a role: parameters left out keep their values, and null restores the default.",
    rights: "patch",
    body: role.patch,
    answers: warned(role, "role"),
  },
  delete: {
    operation: "delete",
    path: "/roles/:name",
    summary: "Deletes a role. A role that does not exist is deleted already.",
    rights: "delete",
    answers: nothing,
  },
})
