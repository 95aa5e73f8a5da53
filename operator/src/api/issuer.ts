import { z } from "zod"
import { connectionRef } from "./connection-spec.ts"
import type { Kind } from "./definition.ts"
import { type Rule, ruled } from "./rules.ts"
import { mountPath, named, roleName } from "./descriptions.ts"

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
      "What the directory of the mount itself issues by: forbid, sign-verbatim, role:NAME, external-policy or external-policy:NAME. Left as it is in the engine unless given.",
    ),
  eabPolicy: z
    .enum(["NotRequired", "NewAccountRequired", "AlwaysRequired"])
    .optional()
    .describe("Whether accounts must be bound to somebody by a token. Left as it is in the engine unless given."),
  eabSecretName: named(
    "A Secret to hand out one such token in, under kid and key, with the directory; in the namespace of the Issuer, or of the operator for a ClusterIssuer. Whoever deletes it gets another.",
  ).optional(),
})

export type AcmeOfferSpec = z.output<typeof acme>

const spec = z
  .object({
    connectionRef: connectionRef.describe("The connection to the engine that the authority is in."),
    mount: mountPath,
    issuerRef: z
      .string()
      .min(1)
      .max(128)
      .regex(/^[A-Za-z0-9_.-]+$/)
      .default("default")
      .describe("Which authority of the mount: its id, its name, or default."),
    defaultRole: roleName.optional().describe("The role of Certificates that name none."),
    pathMode: z
      .enum(["RoleDecides", "PathOverride"])
      .default("RoleDecides")
      .describe("RoleDecides: the role's own issuer issues. PathOverride: issuerRef does, whatever the role says."),
    acme: acme
      .optional()
      .describe(
        "Has the mount serve ACME, with these settings. What is taken away again stays as it is in the engine.",
      ),
    caChainConfigMap: named(
      "A ConfigMap to publish the authority's chain in, under ca.crt; in the namespace of the Issuer, or of the operator for a ClusterIssuer.",
    ).optional(),
  })
  .describe("Which authority of which engine issues.")

export type IssuerSpec = z.output<typeof spec>

const clusterWide: Rule<IssuerSpec> = {
  rule: "has(self.connectionRef.kind) && self.connectionRef.kind == 'ClusterConnection'",
  message: "connectionRef.kind of a ClusterIssuer must be ClusterConnection",
  fieldPath: ".connectionRef.kind",
  holds: ({ connectionRef }) => connectionRef.kind === "ClusterConnection",
}

const status = {
  acmeDirectory: z.string().max(2_048).optional().describe("Where ACME clients begin, if the spec has it offered."),
  caNotAfter: z
    .string()
    .max(64)
    .optional()
    .describe("When the authority's certificate ends.")
    .meta({ format: "date-time" }),
  caSerial: z.string().max(128).optional().describe("The serial number of the authority's certificate."),
  caFingerprint: z.string().max(64).optional().describe("SHA-256 of the authority's chain, in hexadecimal."),
  caChain: z.string().max(131_072).optional().describe("The authority's chain (PEM), itself first."),
}

const columns: Kind<IssuerSpec>["columns"] = [
  { name: "Mount", type: "string", jsonPath: ".spec.mount", description: "Where the authority is mounted." },
  {
    name: "CA Expires",
    type: "string",
    jsonPath: ".status.caNotAfter",
    description: "When its certificate ends.",
    priority: 1,
  },
  {
    name: "Connection",
    type: "string",
    jsonPath: ".spec.connectionRef.name",
    description: "The connection to its engine.",
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
  description: "Issuer is a certificate authority of an engine, for the Certificates of one namespace.",
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
    "ClusterIssuer is a certificate authority of an engine, for Certificates of all namespaces that its ClusterConnection allows.",
  spec: ruled(spec, clusterWide),
}
