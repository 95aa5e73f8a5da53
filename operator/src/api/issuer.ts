import { z } from "zod"
import { connectionRef } from "./connection-spec.ts"
import type { Kind } from "./definition.ts"
import { type Rule, ruled } from "./rules.ts"
import { atLeast, duration, mountPath, named, roleName, texts } from "./descriptions.ts"

const acme = z.object({
  directory: z
    .string()
    .min(1)
    .max(300)
    .regex(
      /^(forbid|sign-verbatim|role:[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?|external-policy(:[A-Za-z0-9_.-]+)?)$/,
    )
    .optional()
    .describe(
      "Policy of the mount's own ACME directory: forbid, sign-verbatim, role:NAME, external-policy or external-policy:NAME. Not managed if omitted.",
    ),
  eabPolicy: z
    .enum(["NotRequired", "NewAccountRequired", "AlwaysRequired"])
    .optional()
    .describe(
      "ACME accounts that need a token for external account binding: none (NotRequired), new ones (NewAccountRequired) or all (AlwaysRequired). Not managed if omitted.",
    ),
  eabSecretName: named(
    "Secret to create with a token for external account binding of one account, with the keys kid, key and directory. It is in the namespace of the Issuer, or of the operator for a ClusterIssuer. Delete the Secret to get another token.",
  ).optional(),
})

export type AcmeOfferSpec = z.output<typeof acme>

const podCertificates = z.object({
  trustDomain: z
    .string()
    .min(1)
    .max(255)
    .regex(/^[a-z0-9._-]+$/)
    .describe(
      "SPIFFE trust domain. The certificate of a pod has the name spiffe://TRUSTDOMAIN/ns/NAMESPACE/sa/SERVICEACCOUNT. Example: cluster.local.",
    ),
  dnsNames: texts(
    253,
    10,
    "DNS names of the certificates. $(podName), $(namespace) and $(serviceAccountName) are replaced. Example: $(serviceAccountName).$(namespace).svc. Default: none.",
    {
      rule: "self.all(x, x.matches('^([-a-zA-Z0-9.*]|[$][(](podName|namespace|serviceAccountName)[)])+$'))",
      message: "dnsNames must consist of DNS labels and of $(podName), $(namespace) and $(serviceAccountName)",
      holds: (names) => names.every((name) => dnsTemplate.test(name)),
    },
  ).optional(),
})

const dnsTemplate = /^([-a-zA-Z0-9.*]|[$][(](podName|namespace|serviceAccountName)[)])+$/

export type PodCertificatesSpec = z.output<typeof podCertificates>

const spec = z
  .object({
    connectionRef: connectionRef.describe("Connection to the engine of the certificate authority."),
    mount: mountPath,
    issuerRef: z
      .string()
      .min(1)
      .max(128)
      .regex(/^[A-Za-z0-9_.-]+$/)
      .default("default")
      .describe(
        "Issuer within the PKI mount: its id, its name, or the word default for the mount's default issuer. Default: default.",
      ),
    defaultRole: roleName.optional().describe("Role for Certificates that do not set one."),
    allowCertificateAuthorities: z
      .boolean()
      .default(false)
      .describe(
        "Sign Certificates with isCA. Users who may create a Certificate for this issuer then get a certificate authority below it. Default: false.",
      ),
    pathMode: z
      .enum(["RoleDecides", "PathOverride"])
      .default("RoleDecides")
      .describe(
        "RoleDecides: the issuer that the role sets signs certificates. PathOverride: issuerRef signs them, whatever the role sets. Default: RoleDecides.",
      ),
    acme: acme
      .optional()
      .describe(
        "Enables ACME on the mount, with these settings. Removing a setting, or acme itself, changes nothing in the engine.",
      ),
    podCertificates: podCertificates
      .optional()
      .describe(
        "Signs PodCertificateRequests by defaultRole, which must have use_csr_sans and use_csr_common_name set to false. Default: PodCertificateRequests are denied.",
      ),
    trustOverlap: duration(
      "Time for which a replaced root stays in the ClusterTrustBundle of the signer, at least 1m. Default: 24h.",
      atLeast("trustOverlap", "1m"),
    ).default("24h"),
    renewals: z
      .object({
        maxPerHour: z
          .int()
          .min(1)
          .max(10_000)
          .describe(
            "Certificates that are renewed in an hour, from 1 to 10000, spaced evenly. Certificates that expire first are first.",
          ),
      })
      .optional()
      .describe(
        "Pace of renewals that can wait: those that an annotation requests, and those after a change of the authority or of defaultRole. Certificates that are missing, damaged, revoked or due for renewal never wait. Default: no limit.",
      ),
    caChainConfigMap: named(
      "ConfigMap to create with the chain of the certificate authority, under ca.crt. It is in the namespace of the Issuer, or of the operator for a ClusterIssuer.",
    ).optional(),
  })
  .describe("Certificate authority of a Chancery engine, and its settings.")

export type IssuerSpec = z.output<typeof spec>

const clusterWide: Rule<IssuerSpec> = {
  rule: "has(self.connectionRef.kind) && self.connectionRef.kind == 'ClusterConnection'",
  message: "connectionRef.kind of a ClusterIssuer must be ClusterConnection",
  fieldPath: ".connectionRef.kind",
  holds: ({ connectionRef }) => connectionRef.kind === "ClusterConnection",
}

const status = {
  acmeDirectory: z
    .string()
    .max(2_048)
    .optional()
    .describe("URL of the ACME directory. Present if acme is set and applied."),
  caNotAfter: z.string().max(64).optional().describe("Expiry of the CA certificate.").meta({ format: "date-time" }),
  caSerial: z.string().max(128).optional().describe("Serial number of the CA certificate."),
  caFingerprint: z.string().max(64).optional().describe("SHA-256 of the CA chain (DER), in hexadecimal."),
  caChain: z
    .string()
    .max(131_072)
    .optional()
    .describe("Chain of the certificate authority (PEM), its own certificate first."),
}

const columns: Kind<IssuerSpec>["columns"] = [
  { name: "Mount", type: "string", jsonPath: ".spec.mount", description: "Mount of the certificate authority." },
  {
    name: "CA Expires",
    type: "string",
    jsonPath: ".status.caNotAfter",
    description: "Expiry of the CA certificate.",
    priority: 1,
  },
  {
    name: "Connection",
    type: "string",
    jsonPath: ".spec.connectionRef.name",
    description: "Connection to the engine.",
    priority: 1,
  },
]

export const issuer: Kind<IssuerSpec> = {
  group: "chancery.dev",
  version: "v1alpha1",
  kind: "Issuer",
  plural: "issuers",
  singular: "issuer",
  shortNames: ["eiss"],
  categories: ["engine-pki"],
  scope: "Namespaced",
  description: "Issuer provides a certificate authority of a Chancery engine to the Certificates of its namespace.",
  spec,
  status,
  columns,
  selectable: [".spec.connectionRef.name"],
}

export const clusterIssuer: Kind<IssuerSpec> = {
  ...issuer,
  kind: "ClusterIssuer",
  plural: "clusterissuers",
  singular: "clusterissuer",
  shortNames: ["ecliss"],
  scope: "Cluster",
  description:
    "ClusterIssuer provides a certificate authority of a Chancery engine to the Certificates of all namespaces that its ClusterConnection allows.",
  spec: ruled(spec, clusterWide),
}
