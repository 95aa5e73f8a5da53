// Logins of Kubernetes service accounts.
import type { KubernetesConfigInput } from "../../access/kubernetes/kubernetes-config.ts"
import { aliasNameSources, type KubernetesRoleInput } from "../../access/kubernetes/kubernetes-role.ts"
import type { KubernetesLogin, SavedKubernetesRole } from "../../access/kubernetes/kubernetes-login-api.ts"
import { initialTokenTerms } from "../../access/logins/token-terms.ts"
import { encodeMembers, maxImportBytes } from "./format/parameters.ts"
import { type Answer, contract, data, keyPage, keys, nothing, warnings } from "./endpoint.ts"
import { type Body, fields, parameter, record } from "./record.ts"
import { issuedToken } from "./service-token.ts"
import { tokenTermsMembers, unsupportedTerms } from "./token-terms.ts"
import { enumOf, flag, text, texts, textUpTo, unsupported } from "./types.ts"

/** Room for a CA bundle and the signing keys of a cluster. */
const configLimitBytes = 2 * 1024 * 1024

const config = record(
  {
    kubernetesHost: parameter(text, "URL of the API server, which reviews tokens. Empty: pem_keys verify them.", {
      example: "https://10.96.0.1:443",
    }),
    kubernetesCaCert: parameter(
      textUpTo(maxImportBytes),
      "CA certificates of the API server, as PEM. Empty: those of the pod, or else of the system.",
      { example: "-----BEGIN CERTIFICATE-----…" },
    ),
    pemKeys: parameter(texts, "Public keys or certificates that tokens are signed with, as PEM.", {
      example: ["-----BEGIN PUBLIC KEY-----…"],
    }),
    issuer: parameter(text, "Issuer of tokens. Empty: kubernetes/serviceaccount.", {
      example: "https://kubernetes.default.svc",
    }),
    disableIssValidation: parameter(flag, "Do not check the issuer of tokens.", { default: true }),
    disableLocalCaJwt: parameter(flag, "Do not use the CA certificates and the token of the pod.", { default: false }),
  },
  {
    readOnly: { tokenReviewerJwtSet: parameter(flag, "A token for the API server is stored.", { example: true }) },
    writeOnly: {
      tokenReviewerJwt: parameter(text, "Token for the API server. Stored sealed, and never returned.", {
        example: "eyJhbGciOi…",
      }),
    },
    unsupported: {
      useAnnotationsAsAliasMetadata: parameter(
        unsupported(flag, ": tokens have no entity alias"),
        "Not supported: tokens have no entity alias.",
      ),
    },
    constants: { use_annotations_as_alias_metadata: false },
  },
)
const configInput: Body<KubernetesConfigInput> = config.change

const role = record(
  {
    boundServiceAccountNames: parameter(texts, "Names of service accounts; a * stands for any text.", {
      example: ["web"],
    }),
    boundServiceAccountNamespaces: parameter(texts, "Namespaces of service accounts; a * stands for any text.", {
      example: ["production"],
    }),
    audience: parameter(text, "Audience of tokens. Empty: any.", { example: "https://pki.example.com" }),
    aliasNameSource: parameter(enumOf(...aliasNameSources), "Returned as it was set; has no effect.", {
      example: "serviceaccount_name",
    }),
    ...tokenTermsMembers,
    ttlMs: { ...tokenTermsMembers.ttlMs, alias: "ttl" },
    maxTtlMs: { ...tokenTermsMembers.maxTtlMs, alias: "max_ttl" },
    periodMs: { ...tokenTermsMembers.periodMs, alias: "period" },
    policies: { ...tokenTermsMembers.policies, alias: "policies" },
    numUses: { ...tokenTermsMembers.numUses, alias: "num_uses" },
    boundCidrs: { ...tokenTermsMembers.boundCidrs, alias: "bound_cidrs" },
  },
  {
    defaults: { ...initialTokenTerms, audience: "", aliasNameSource: "serviceaccount_uid" },
    constants: { bound_service_account_namespace_selector: "" },
    unsupported: {
      boundServiceAccountNamespaceSelector: parameter(
        unsupported(text, '; use "bound_service_account_namespaces"'),
        "Not supported: name the namespaces.",
      ),
      ...unsupportedTerms,
    },
  },
)
const roleInput: Body<KubernetesRoleInput> = role.input

/** Answer to the change of a role. Vault clients receive no role. */
const savedRole: Answer<SavedKubernetesRole> = {
  kind: "data",
  encode: (saved, dialect) => ({
    data: dialect === "vault" ? undefined : role.encode(saved.role, dialect),
    warnings: saved.warnings,
  }),
  decode: (envelope) => ({ role: role.decode(envelope.data), warnings: envelope.warnings }),
  record: role,
  orNothing: true,
}

const loginTable = fields({
  role: parameter(text, "Name of the role.", { example: "web" }),
  jwt: parameter(text, "Token of the service account.", { example: "eyJhbGciOi…" }),
})
const login: Body<KubernetesLogin> = {
  table: loginTable,
  decode: (request) => ({ role: "", jwt: "", ...request.decode(loginTable) }),
  encode: (given) => encodeMembers(loginTable, given, "native"),
}

export const kubernetesLogins = contract({
  getConfig: {
    operation: "read",
    path: "/config",
    summary: "Returns how tokens of service accounts are verified.",
    rights: "read",
    answers: data(config),
  },
  configure: {
    operation: "write",
    path: "/config",
    summary: "Sets how tokens of service accounts are verified: parameters left out get their defaults.",
    rights: "create or update",
    bodyLimitBytes: configLimitBytes,
    body: configInput,
    answers: warnings,
  },
  listRoles: {
    operation: "list",
    path: "/role",
    summary: "Lists the names of roles.",
    rights: "list",
    body: keyPage,
    answers: keys,
  },
  getRole: { operation: "read", path: "/role/:name", summary: "Returns a role.", rights: "read", answers: data(role) },
  saveRole: {
    operation: "write",
    path: "/role/:name",
    summary: "Creates a role, or changes it: parameters left out keep their values.",
    rights: "create or update",
    body: roleInput,
    answers: savedRole,
  },
  deleteRole: {
    operation: "delete",
    path: "/role/:name",
    summary: "Deletes a role. A role that does not exist is deleted already.",
    rights: "delete",
    answers: nothing,
  },
  login: {
    operation: "write",
    path: "/login",
    summary: "Logs in with the token of a service account.",
    rights: "none",
    open: true,
    body: login,
    answers: issuedToken,
  },
})
