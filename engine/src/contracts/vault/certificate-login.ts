// Logins with client certificates.
import type { CertificateLogin, RevocationListInput } from "../../access/certificates/certificate-login-api.ts"
import { initialCertificateLoginConfig } from "../../access/certificates/certificate-login-config.ts"
import {
  type CertificateRoleInput,
  initialCertificateRole,
  maxBundleLength,
} from "../../access/certificates/certificate-role.ts"
import { maxRevocationListBytes } from "../../access/certificates/revocation-list.ts"
import { encodeMembers } from "./format/parameters.ts"
import { contract, data, keyPage, keys, nothing } from "./endpoint.ts"
import { type Body, fields, parameter, record } from "./record.ts"
import { issuedToken } from "./service-token.ts"
import { tokenTermsMembers, unsupportedTerms } from "./token-terms.ts"
import { anything, flag, instant, integer, mapped, seconds, text, texts, textUpTo, unsupported } from "./types.ts"

/** Room for two bundles of certificates, and for lists of names. */
const roleLimitBytes = 2 * 1024 * 1024
const listLimitBytes = 2 * maxRevocationListBytes

const config = record(
  {
    disableBinding: parameter(flag, "Allow renewals of tokens without the certificate of the login."),
    enableIdentityAliasMetadata: parameter(flag, "Returned as it was set; has no effect."),
    enableMetadataOnFailures: parameter(flag, "Name the certificate in the error of a failed login."),
    ocspCacheSize: parameter(integer, "Returned as it was set; the server has one cache.", { example: 200 }),
    roleCacheSize: parameter(integer, "Returned as it was set; the server has one cache.", { example: 400 }),
  },
  { defaults: initialCertificateLoginConfig },
)

export const certificateRole = record(
  {
    certificate: parameter(
      textUpTo(maxBundleLength),
      "Certificates as PEM: of CAs whose certificates may log in, or of clients.",
      { example: "-----BEGIN CERTIFICATE-----…" },
    ),
    allowedNames: parameter(texts, "Common names, DNS names or e-mail addresses. A * stands for any text.", {
      example: ["*.example.com"],
    }),
    allowedCommonNames: parameter(texts, "Common names. A * stands for any text. Empty: any.", {
      example: ["printer-*"],
    }),
    allowedDnsSans: parameter(texts, "DNS names. A * stands for any text. Empty: any.", {
      example: ["*.example.com"],
    }),
    allowedEmailSans: parameter(texts, "E-mail addresses. A * stands for any text. Empty: any.", {
      example: ["*@example.com"],
    }),
    allowedUriSans: parameter(texts, "URIs. A * stands for any text. Empty: any.", {
      example: ["spiffe://example.com/*"],
    }),
    allowedOrganizationalUnits: parameter(texts, "Organizational units. A * stands for any text. Empty: any.", {
      example: ["printing"],
    }),
    requiredExtensions: parameter(texts, "Extensions, each as OID:value or hex:OID:value. A * stands for any text.", {
      example: ["1.3.6.1.4.1.32473.1:printer-*"],
    }),
    allowedMetadataExtensions: parameter(texts, "OIDs of extensions that become metadata of tokens.", {
      example: ["1.3.6.1.4.1.32473.1"],
    }),
    ocspEnabled: parameter(flag, "Ask OCSP servers for the status of certificates."),
    ocspCaCertificates: parameter(
      textUpTo(maxBundleLength),
      "Further CAs of OCSP servers, as PEM. Those of the issuer are always accepted.",
      { example: "-----BEGIN CERTIFICATE-----…" },
    ),
    ocspServersOverride: parameter(texts, "URLs of OCSP servers. Empty: those that certificates name.", {
      example: ["http://ocsp.example.com"],
    }),
    ocspFailOpen: parameter(flag, "Allow logins if no OCSP server knows the status."),
    ocspQueryAllServers: parameter(flag, "Query all OCSP servers, which must agree."),
    ocspThisUpdateMaxAgeMs: parameter(seconds, "Maximum age of OCSP responses. 0: any.", {
      wireName: "ocsp_this_update_max_age",
      example: "1h",
    }),
    ocspMaxRetries: parameter(integer, "Retries for each OCSP server, from 0 to 10.", { example: 2 }),
    displayName: parameter(text, "Name in the audit log. Empty: the name of the role.", { example: "printers" }),
    ...tokenTermsMembers,
    ttlMs: { ...tokenTermsMembers.ttlMs, alias: "ttl" },
    maxTtlMs: { ...tokenTermsMembers.maxTtlMs, alias: "max_ttl" },
    periodMs: { ...tokenTermsMembers.periodMs, alias: "period" },
    policies: { ...tokenTermsMembers.policies, alias: "policies" },
    boundCidrs: { ...tokenTermsMembers.boundCidrs, alias: "bound_cidrs" },
  },
  {
    defaults: initialCertificateRole,
    unsupported: {
      lease: parameter(unsupported(seconds, '; use "token_ttl"'), "Not supported: use token_ttl."),
      ...unsupportedTerms,
    },
  },
)
const roleInput: Body<CertificateRoleInput> = certificateRole.input

/** Serial numbers are the members of an object, as in Vault. */
const serialNumbers = mapped(
  anything,
  (value): readonly string[] => Object.keys(value ?? {}),
  (list) => Object.fromEntries(list.map((serial) => [serial, {}])),
)

const revocationList = record({
  serials: parameter(serialNumbers, "Object whose members are the serial numbers, decimal.", {
    example: { "123456789": {} },
  }),
  url: parameter(text, "URL of the list; empty if it was uploaded.", { example: "http://pki.example.com/crl" }),
  validUntil: parameter(instant, "Next update of the list; empty if it has none.", {
    example: "2030-01-31T12:00:00Z",
  }),
})

const revocationListTable = fields<RevocationListInput>({
  crl: parameter(textUpTo(listLimitBytes), "The CRL, as PEM.", { example: "-----BEGIN X509 CRL-----…" }),
  url: parameter(text, "URL of the CRL, which is fetched now and after its next update.", {
    example: "http://pki.example.com/crl",
  }),
})
const revocationListInput: Body<RevocationListInput> = {
  table: revocationListTable,
  decode: (request) => request.decode(revocationListTable),
  encode: (given) => encodeMembers(revocationListTable, given, "native"),
}

const loginTable = fields({
  name: parameter(text, "Name of the role. Empty: the first role that accepts the certificate.", {
    example: "printers",
  }),
})
const login: Body<CertificateLogin> = {
  table: loginTable,
  decode: (request) => ({ name: "", ...request.decode(loginTable) }),
  encode: (given) => encodeMembers(loginTable, given, "native"),
}

export const certificateLogins = contract({
  getConfig: {
    operation: "read",
    path: "/config",
    summary: "Returns the configuration.",
    rights: "read",
    answers: data(config),
  },
  configure: {
    operation: "write",
    path: "/config",
    summary: "Changes the configuration: parameters left out keep their values.",
    rights: "create or update",
    body: config.change,
    answers: nothing,
  },
  listRoles: {
    operation: "list",
    path: "/certs",
    summary: "Lists the names of roles.",
    rights: "list",
    body: keyPage,
    answers: keys,
  },
  getRole: {
    operation: "read",
    path: "/certs/:name",
    summary: "Returns a role.",
    rights: "read",
    answers: data(certificateRole),
  },
  saveRole: {
    operation: "write",
    path: "/certs/:name",
    summary: "Creates a role, or changes it: parameters left out keep their values.",
    rights: "create or update",
    bodyLimitBytes: roleLimitBytes,
    body: roleInput,
    answers: nothing,
  },
  deleteRole: {
    operation: "delete",
    path: "/certs/:name",
    summary: "Deletes a role. A role that does not exist is deleted already.",
    rights: "delete",
    answers: nothing,
  },
  listRevocationLists: {
    operation: "list",
    path: "/crls",
    summary: "Lists the names of CRLs.",
    rights: "list",
    body: keyPage,
    answers: keys,
  },
  getRevocationList: {
    operation: "read",
    path: "/crls/:name",
    summary: "Returns the serial numbers of a CRL.",
    rights: "read",
    answers: data(revocationList),
  },
  saveRevocationList: {
    operation: "write",
    path: "/crls/:name",
    summary: "Stores a CRL, or fetches it from a URL.",
    rights: "create or update",
    bodyLimitBytes: listLimitBytes,
    body: revocationListInput,
    answers: nothing,
  },
  deleteRevocationList: {
    operation: "delete",
    path: "/crls/:name",
    summary: "Deletes a CRL. A CRL that does not exist is deleted already.",
    rights: "delete",
    answers: nothing,
  },
  login: {
    operation: "write",
    path: "/login",
    summary: "Logs in with the certificate that the client presented to the device listener or to a trusted proxy.",
    rights: "none",
    open: true,
    device: true,
    body: login,
    answers: issuedToken,
  },
})
