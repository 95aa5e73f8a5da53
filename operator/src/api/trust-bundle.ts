import { z } from "zod"
import { dataKey, objectName } from "./connection-spec.ts"
import type { Kind } from "./definition.ts"
import { atLeast, duration, named } from "./descriptions.ts"
import { labelSelector } from "./label-selector.ts"
import { ruled } from "./rules.ts"

const maxSources = 32
/** The API server estimates the cost of a rule from this bound. It is enough for some 100 certificates. */
const maxPem = 131_072

const issuerRef = ruled(
  z.object({
    kind: z
      .enum(["Issuer", "ClusterIssuer"])
      .default("ClusterIssuer")
      .describe("Kind of the issuer: Issuer or ClusterIssuer. Default: ClusterIssuer."),
    namespace: z
      .string()
      .min(1)
      .max(63)
      .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
      .optional()
      .describe("Namespace of the Issuer. Required for an Issuer, not allowed for a ClusterIssuer."),
    name: named("Name of the issuer."),
  }),
  {
    rule: "(has(self.kind) && self.kind == 'Issuer') == has(self.namespace)",
    message: "namespace is required for an Issuer, and not allowed for a ClusterIssuer",
    fieldPath: ".namespace",
    holds: ({ kind, namespace }) => (kind === "Issuer") === (namespace !== undefined),
  },
)

const source = ruled(
  z.object({
    issuerRef: issuerRef
      .optional()
      .describe(
        "Issuer whose root is published. After a change of its authority, the former root stays for the time of overlap.",
      ),
    pem: ruled(z.string().min(1).max(maxPem).describe("CA certificates (PEM)."), {
      rule: "!self.contains('PRIVATE KEY-----')",
      message: "pem must not contain a private key",
      holds: (text) => !text.includes("PRIVATE KEY-----"),
    }).optional(),
    configMapKeyRef: z
      .object({
        name: named("Name of the ConfigMap, in the operator's namespace."),
        key: dataKey.describe("Key of the ConfigMap with CA certificates (PEM)."),
      })
      .optional()
      .describe("CA certificates in a ConfigMap of the operator's namespace."),
  }),
  {
    rule: "[has(self.issuerRef), has(self.pem), has(self.configMapKeyRef)].filter(x, x).size() == 1",
    message: "exactly one of issuerRef, pem, configMapKeyRef is required",
    holds: ({ issuerRef, pem, configMapKeyRef }) =>
      [issuerRef, pem, configMapKeyRef].filter((member) => member !== undefined).length === 1,
  },
)

const destination = (kind: "ConfigMap" | "Secret") =>
  z.object({
    name: objectName.describe(`Name of the ${kind} in each namespace.`),
    key: dataKey.default("ca.crt").describe(`Key of the ${kind}. Default: ca.crt.`),
  })

const spec = z
  .object({
    sources: z
      .array(source)
      .min(1)
      .max(maxSources)
      .describe("Sources of CA certificates. Expired certificates are left out.")
      .meta({ "x-kubernetes-list-type": "atomic" }),
    target: z
      .object({
        configMap: destination("ConfigMap").describe("ConfigMap to write into each namespace."),
        secret: destination("Secret").optional().describe("Secret to write in addition. Default: none."),
        namespaceSelector: labelSelector
          .optional()
          .describe("Namespaces by label. An empty selector selects all. Default: all namespaces."),
      })
      .describe("Objects that the operator writes, and their namespaces."),
    overlap: duration(
      "Time for which the former root of an issuer stays in the bundle after a change of the authority, at least 1m. It stays longer while Certificates of the issuer use it. Default: 24h.",
      atLeast("overlap", "1m"),
    ).default("24h"),
  })
  .describe("CA certificates, and the namespaces that receive them.")

export type TrustBundleSpec = z.output<typeof spec>

const time = (description: string) => z.string().max(64).optional().describe(description).meta({ format: "date-time" })
const count = (description: string) => z.int().min(0).optional().describe(description)

const status = {
  certificates: count("Number of certificates in the bundle."),
  expired: count("Number of expired certificates that were left out."),
  notAfter: time("Earliest expiry of a certificate in the bundle."),
  fingerprint: z.string().max(64).optional().describe("SHA-256 of the bundle, in hexadecimal."),
  namespacesSelected: count("Number of selected namespaces."),
  namespacesInSync: count("Number of selected namespaces that have the bundle."),
  failures: z
    .array(
      z.object({
        namespace: z.string().max(63).describe("Namespace that does not have the bundle."),
        message: z.string().max(1_024).describe("Reason, as a sentence."),
      }),
    )
    .max(20)
    .optional()
    .describe("Namespaces that do not have the bundle, at most 20.")
    .meta({ "x-kubernetes-list-type": "atomic" }),
  authorities: z
    .array(
      z.object({
        source: z.string().max(330).describe("Issuer: Issuer/namespace/name or ClusterIssuer/name."),
        certificate: z.string().max(16_384).describe("Root of the issuer (PEM)."),
        until: time("End of the overlap. Absent for the present root."),
      }),
    )
    .max(512)
    .optional()
    .describe("Present and former roots of the issuers.")
    .meta({ "x-kubernetes-list-type": "atomic" }),
}

export const trustBundle: Kind<TrustBundleSpec> = {
  group: "chancery.dev",
  version: "v1alpha1",
  kind: "TrustBundle",
  plural: "trustbundles",
  singular: "trustbundle",
  shortNames: ["etb"],
  categories: ["engine-pki"],
  scope: "Cluster",
  description: "TrustBundle publishes CA certificates in the selected namespaces.",
  spec,
  status,
  columns: [
    {
      name: "Certificates",
      type: "integer",
      jsonPath: ".status.certificates",
      description: "Certificates in the bundle.",
    },
    {
      name: "In Sync",
      type: "integer",
      jsonPath: ".status.namespacesInSync",
      description: "Namespaces with the bundle.",
    },
    {
      name: "Selected",
      type: "integer",
      jsonPath: ".status.namespacesSelected",
      description: "Selected namespaces.",
    },
    {
      name: "Expires",
      type: "string",
      jsonPath: ".status.notAfter",
      description: "Earliest expiry of a certificate.",
      priority: 1,
    },
  ],
}
