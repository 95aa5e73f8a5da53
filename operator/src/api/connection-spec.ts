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
  message: `${name} must hold no user name or password`,
  holds: (text) => !text.includes("@"),
})

/** Returns the members of the spec. `where` describes the namespace of the Secrets in descriptions. */
export const connectionMembers = (where: string) => ({
  baseURL: ruled(
    z.string().min(1).max(2_048).describe("Where the engine is served, such as https://chancery.example.com."),
    httpUrl("baseURL"),
    noCredentials("baseURL"),
  ),
  tokenSecretRef: z
    .object({
      name: objectName.describe(`The Secret's name; it is in ${where}.`),
      key: dataKey.default("token").describe("Under which key of the Secret the token is."),
    })
    .describe(
      "Where the token is that the operator shows to the engine. A token that is changed there is used at once.",
    ),
  caBundle: ruled(z.string().min(1).max(65_536).describe("Certificates (PEM) to trust beside those of the system."), {
    rule: "self.contains('-----BEGIN CERTIFICATE-----')",
    message: "caBundle must hold certificates in PEM",
    holds: (text) => text.includes("-----BEGIN CERTIFICATE-----"),
  }).optional(),
  caSecretRef: z
    .object({
      name: objectName.describe(`The Secret's name; it is in ${where}.`),
      key: dataKey.default("ca.crt").describe("Under which key of the Secret the certificates are."),
    })
    .optional()
    .describe("Where certificates (PEM) to trust beside those of the system are, in place of caBundle."),
  organization: organizationName
    .optional()
    .describe("The organization of objects that name none themselves. It must exist, and the token must see it."),
  proxyURL: ruled(
    z
      .string()
      .min(1)
      .max(2_048)
      .describe("The HTTP proxy that requests go through, such as http://proxy.example.com:3128."),
    httpUrl("proxyURL"),
    noCredentials("proxyURL"),
  ).optional(),
  rateLimit: ruled(
    z.object({
      rps: z.int().min(1).max(10_000).describe("Requests a second, over time."),
      burst: z.int().min(1).max(10_000).default(10).describe("That many at once, after a silence."),
    }),
  )
    .optional()
    .describe("How often the engine is asked at most, for all objects of this connection together."),
})

export const oneBundle: Rule<{ readonly caBundle?: unknown; readonly caSecretRef?: unknown }> = {
  rule: "!(has(self.caBundle) && has(self.caSecretRef))",
  message: "caBundle and caSecretRef exclude each other",
  fieldPath: ".caSecretRef",
  holds: ({ caBundle, caSecretRef }) => caBundle === undefined || caSecretRef === undefined,
}

export const connectionStatus = {
  apiVersion: z
    .string()
    .max(64)
    .optional()
    .describe("The version of the interface for workspaces that the engine speaks, such as 2.6."),
  tokenExpiresAt: z
    .string()
    .max(64)
    .optional()
    .describe("When the token expires, if it does.")
    .meta({ format: "date-time" }),
  references: z.int().min(0).optional().describe("How many objects used this connection when it was looked at last."),
}

export const connectionColumns = [
  { name: "URL", type: "string", jsonPath: ".spec.baseURL", description: "Where the engine is served." },
  {
    name: "Organization",
    type: "string",
    jsonPath: ".spec.organization",
    description: "The organization of objects that name none.",
    priority: 1,
  },
  {
    name: "Expires",
    type: "string",
    jsonPath: ".status.tokenExpiresAt",
    description: "When the token expires.",
    priority: 1,
  },
  {
    name: "API",
    type: "string",
    jsonPath: ".status.apiVersion",
    description: "The version of the engine's interface for workspaces.",
    priority: 1,
  },
  {
    name: "References",
    type: "integer",
    jsonPath: ".status.references",
    description: "How many objects use it.",
    priority: 1,
  },
] as const

/** Reference to a connection, in the spec of every object that exists in an engine. */
export const connectionRef = z.object({
  kind: z
    .enum(["Connection", "ClusterConnection"])
    .default("Connection")
    .describe("Connection for one of the same namespace, ClusterConnection for one of the whole cluster."),
  name: objectName.describe("The name of the connection."),
})

export type ConnectionRef = z.output<typeof connectionRef>
