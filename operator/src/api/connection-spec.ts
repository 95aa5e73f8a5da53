// Parts that Connection and ClusterConnection share.
import { z } from "zod"
import { type Rule, ruled } from "./rules.ts"

export const objectName = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)

export const dataKey = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[-._a-zA-Z0-9]+$/)

export const organizationName = z
  .string()
  .min(3)
  .max(40)
  .regex(/^[A-Za-z0-9_-]+$/)

const isHttpUrl = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && (url.protocol === "http:" || url.protocol === "https:") && url.hostname !== ""
}

const httpUrl = (name: string): Rule<string> => ({
  rule: "isURL(self) && url(self).getScheme() in ['http', 'https'] && url(self).getHost() != ''",
  message: `${name} must be an http or https URL with a host`,
  holds: isHttpUrl,
})

const noCredentials = (name: string): Rule<string> => ({
  rule: "!self.contains('@')",
  message: `${name} must not contain a user name or password`,
  holds: (text) => !text.includes("@"),
})

/** Returns the members of the spec. `where` describes the namespace of the Secrets in descriptions. */
export const connectionMembers = (where: string) => ({
  baseURL: ruled(
    z
      .string()
      .min(1)
      .max(2_048)
      .describe(
        "URL of the engine (http or https), without user name or password. Example: https://chancery.example.com.",
      ),
    httpUrl("baseURL"),
    noCredentials("baseURL"),
  ),
  tokenSecretRef: z
    .object({
      name: objectName.describe(`Name of the Secret, in ${where}.`),
      key: dataKey.default("token").describe("Key of the token in the Secret. Default: token."),
    })
    .describe("Secret with the token for requests to the engine. The operator uses a changed token immediately."),
  caBundle: ruled(
    z
      .string()
      .min(1)
      .max(65_536)
      .describe(
        "CA certificates (PEM) to trust in addition to those of the system. Cannot be set together with caSecretRef.",
      ),
    {
      rule: "self.contains('-----BEGIN CERTIFICATE-----')",
      message: "caBundle must contain certificates (PEM)",
      holds: (text) => text.includes("-----BEGIN CERTIFICATE-----"),
    },
  ).optional(),
  caSecretRef: z
    .object({
      name: objectName.describe(`Name of the Secret, in ${where}.`),
      key: dataKey.default("ca.crt").describe("Key of the certificates in the Secret. Default: ca.crt."),
    })
    .optional()
    .describe(
      "Secret with CA certificates (PEM) to trust in addition to those of the system. Cannot be set together with caBundle.",
    ),
  organization: organizationName
    .optional()
    .describe("Organization of objects that do not set one. It must exist and be visible to the token."),
  proxyURL: ruled(
    z
      .string()
      .min(1)
      .max(2_048)
      .describe(
        "HTTP proxy for requests to the engine, without user name or password. Example: http://proxy.example.com:3128.",
      ),
    httpUrl("proxyURL"),
    noCredentials("proxyURL"),
  ).optional(),
  rateLimit: ruled(
    z.object({
      rps: z.int().min(1).max(10_000).describe("Sustained requests per second, from 1 to 10000."),
      burst: z
        .int()
        .min(1)
        .max(10_000)
        .default(10)
        .describe("Requests that may be sent at once, from 1 to 10000. Default: 10."),
    }),
  )
    .optional()
    .describe("Limit on requests to the engine, shared by all objects of this connection. Default: no limit."),
})

export const oneBundle: Rule<{ readonly caBundle?: unknown; readonly caSecretRef?: unknown }> = {
  rule: "!(has(self.caBundle) && has(self.caSecretRef))",
  message: "caBundle and caSecretRef are mutually exclusive",
  fieldPath: ".caSecretRef",
  holds: ({ caBundle, caSecretRef }) => caBundle === undefined || caSecretRef === undefined,
}

export const connectionStatus = {
  apiVersion: z.string().max(64).optional().describe("Version of the engine's workspace API. Example: 2.6."),
  tokenExpiresAt: z
    .string()
    .max(64)
    .optional()
    .describe("Expiry of the token. Absent if the token does not expire, or its expiry is unknown.")
    .meta({ format: "date-time" }),
  references: z
    .int()
    .min(0)
    .optional()
    .describe("Number of objects that used this connection at the last reconciliation."),
}

export const connectionColumns = [
  { name: "URL", type: "string", jsonPath: ".spec.baseURL", description: "URL of the engine." },
  {
    name: "Organization",
    type: "string",
    jsonPath: ".spec.organization",
    description: "Organization of objects that do not set one.",
    priority: 1,
  },
  {
    name: "Expires",
    type: "string",
    jsonPath: ".status.tokenExpiresAt",
    description: "Expiry of the token.",
    priority: 1,
  },
  {
    name: "API",
    type: "string",
    jsonPath: ".status.apiVersion",
    description: "Version of the engine's workspace API.",
    priority: 1,
  },
  {
    name: "References",
    type: "integer",
    jsonPath: ".status.references",
    description: "Number of objects that use the connection.",
    priority: 1,
  },
] as const

/** Reference to a connection, in the spec of every object that exists in an engine. */
export const connectionRef = z.object({
  kind: z
    .enum(["Connection", "ClusterConnection"])
    .default("Connection")
    .describe(
      "Kind of the connection: Connection (in the same namespace) or ClusterConnection (cluster-scoped). Default: Connection.",
    ),
  name: objectName.describe("Name of the connection."),
})

export type ConnectionRef = z.output<typeof connectionRef>
