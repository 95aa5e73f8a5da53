import { z } from "zod"
import { type Kind, rules } from "./definition.ts"

const tokenSecretRef = z
  .object({
    name: z
      .string()
      .min(1)
      .max(253)
      .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
      .describe("The Secret's name; it is in the operator's own namespace."),
    key: z
      .string()
      .min(1)
      .max(253)
      .regex(/^[-._a-zA-Z0-9]+$/)
      .default("token")
      .describe("Under which key of the Secret the token is."),
  })
  .describe("Where the token is that the operator shows to the engine.")

const spec = z
  .object({
    baseURL: z
      .string()
      .min(1)
      .max(2_048)
      .describe("Where the engine is served, such as https://chancery.example.com.")
      .meta(
        rules({
          rule: "isURL(self) && url(self).getScheme() in ['http', 'https'] && url(self).getHost() != ''",
          message: "baseURL must be an http or https URL with a host",
        }),
      ),
    tokenSecretRef,
    caBundle: z
      .string()
      .min(1)
      .max(65_536)
      .optional()
      .describe("Certificates (PEM) to trust beside those of the system.")
      .meta(
        rules({
          rule: "self.contains('-----BEGIN CERTIFICATE-----')",
          message: "caBundle must hold certificates in PEM",
        }),
      ),
    organization: z
      .string()
      .min(3)
      .max(40)
      .regex(/^[A-Za-z0-9_-]+$/)
      .optional()
      .describe("The organization of objects that name none themselves. It must exist, and the token must see it."),
  })
  .describe("Where an engine is and how the operator shows who it is.")

export type ClusterConnectionSpec = z.output<typeof spec>

export const clusterConnection: Kind<ClusterConnectionSpec> = {
  group: "chancery.dev",
  version: "v1alpha1",
  kind: "ClusterConnection",
  plural: "clusterconnections",
  singular: "clusterconnection",
  shortNames: ["eclconn"],
  scope: "Cluster",
  description: "ClusterConnection is the way to a Chancery engine, for the whole cluster.",
  spec,
  columns: [
    { name: "URL", type: "string", jsonPath: ".spec.baseURL", description: "Where the engine is served." },
    {
      name: "Organization",
      type: "string",
      jsonPath: ".spec.organization",
      description: "The organization of objects that name none.",
      priority: 1,
    },
  ],
}
