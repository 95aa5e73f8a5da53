// EST (RFC 7030, RFC 8951): its settings, and the operations at each path policy. Bodies of the operations are base64 of DER.
import { z } from "zod"
import { parseNestedJson } from "../../core/json-bounds.ts"
import { defaultEstSettings, type EstAuthenticators, estAuditFields } from "../../pki/est/est-settings.ts"
import { contract, data, response, warned } from "./endpoint.ts"
import { isDocument } from "./format/parameters.ts"
import { parameter, record } from "./record.ts"
import { flag, instant, mistyped, type ParameterType, problem, someOf, stringMap, text, texts } from "./types.ts"

/** Object by kind of credentials. Vault clients also send it as JSON text. Absent kinds are disabled. */
const authenticators: ParameterType<EstAuthenticators> = {
  schema: z.codec(z.unknown(), z.custom<EstAuthenticators>(), {
    decode(value, context) {
      const given = typeof value === "string" ? parseNestedJson(value) : value
      if (!isDocument(given)) return mistyped(context, value)
      const unknown = Object.keys(given).find((kind) => kind !== "userpass" && kind !== "cert")
      if (unknown !== undefined)
        return problem(context, value, `must not have the member ${JSON.stringify(unknown.slice(0, 64))}`)
      const userpass = membersOf(given["userpass"], ["accessor"])
      const cert = membersOf(given["cert"], ["accessor", "cert_role"])
      if (userpass === undefined || cert === undefined) return mistyped(context, value)
      return {
        userpass: { accessor: userpass["accessor"] ?? "" },
        cert: { accessor: cert["accessor"] ?? "", role: cert["cert_role"] ?? "" },
      }
    },
    encode: ({ userpass, cert }) => ({
      ...(userpass.accessor === "" ? {} : { userpass: { accessor: userpass.accessor } }),
      ...(cert.accessor === "" ? {} : { cert: { accessor: cert.accessor, cert_role: cert.role } }),
    }),
  }),
  expected: 'an object with "userpass" ("accessor") and "cert" ("accessor", "cert_role")',
  type: "map",
}

/** Returns the strings of an object with no other members than these; undefined for anything else. */
function membersOf(value: unknown, names: readonly string[]): Readonly<Record<string, string>> | undefined {
  if (value === undefined || value === null) return {}
  if (!isDocument(value)) return undefined
  const entries = Object.entries(value)
  const isStrings = entries.every(([name, member]) => names.includes(name) && typeof member === "string")
  return isStrings ? (Object.fromEntries(entries) as Readonly<Record<string, string>>) : undefined
}

export const estSettings = record(
  {
    enabled: parameter(flag, "Serve EST."),
    defaultMount: parameter(flag, "Serve /.well-known/est without a label; one mount of a server can."),
    defaultPathPolicy: parameter(
      text,
      "Policy of the path est, and of /.well-known/est: sign-verbatim, role:<name>, external-policy or external-policy:<policy>.",
      { example: "role:printers" },
    ),
    labelToPathPolicy: parameter(stringMap, "Policies of /.well-known/est/<label> by label.", {
      example: { printers: "role:printers" },
    }),
    authenticators: parameter(
      authenticators,
      "Auth methods that verify clients, by kind of credentials. delegated_auth_accessors of the mount must have their accessors.",
      { example: { userpass: { accessor: "auth_userpass_1a2b3c4d" } } },
    ),
    enableSentinelParsing: parameter(flag, "Returned as it was set; there are no Sentinel policies."),
    auditFields: parameter(someOf(...estAuditFields), "Fields of CSRs that the audit log has.", {
      example: ["common_name", "alt_names"],
    }),
    manualApproval: parameter(
      texts,
      "Policies whose requests wait for an approval. The single entry * is all. Not in Vault.",
      {
        example: ["role:printers"],
      },
    ),
  },
  {
    defaults: defaultEstSettings,
    readOnly: { lastUpdated: parameter(instant, "Time of the last change.", { example: "2030-01-31T12:00:00Z" }) },
  },
)

export const estConfig = contract({
  get: {
    operation: "read",
    path: "/config/est",
    summary: "Returns the settings of EST.",
    rights: "read",
    answers: data(estSettings),
  },
  configure: {
    operation: "write",
    path: "/config/est",
    summary: "Changes the settings of EST: parameters left out keep their values.",
    rights: "create or update",
    body: estSettings.change,
    answers: warned(estSettings, "value"),
  },
})

export const pkcs10Type = "application/pkcs10"
export const certsOnlyType = "application/pkcs7-mime; smime-type=certs-only"
export const csrAttributesType = "application/csrattrs"

/** A CSR with an RSA key of 16,384 bits takes 6 KiB; with line ends, base64 needs 1.4 times as much. */
export const maxEstRequestBytes = 96 * 1024

const shared = { rights: "none", open: true, raw: true } as const
const read = { ...shared, operation: "read" } as const
/** Basic credentials or a client certificate authenticate the request, not a token. */
const sent = {
  ...shared,
  operation: "write",
  rights: "update, of the policies that the login has",
  rawMediaType: pkcs10Type,
  bodyLimitBytes: maxEstRequestBytes,
} as const

const operationsAt = <const Path extends string>(path: Path) =>
  contract({
    certificates: {
      ...read,
      path: `${path}/cacerts` as const,
      summary: "Returns the certificates of the authority (RFC 7030, section 4.1).",
      answers: response(certsOnlyType),
    },
    csrAttributes: {
      ...read,
      path: `${path}/csrattrs` as const,
      summary: "Returns the attributes that a CSR should have (RFC 7030, section 4.5).",
      answers: { ...response(csrAttributesType), orNothing: true },
    },
    enroll: {
      ...sent,
      path: `${path}/simpleenroll` as const,
      summary: "Issues a certificate for a CSR (RFC 7030, section 4.2.1).",
      answers: response(certsOnlyType),
    },
    reenroll: {
      ...sent,
      path: `${path}/simplereenroll` as const,
      summary: "Renews the certificate that the client authenticates with (RFC 7030, section 4.2.2).",
      answers: response(certsOnlyType),
    },
    serverKey: {
      ...sent,
      path: `${path}/serverkeygen` as const,
      summary: "Generates a key and issues its certificate (RFC 7030, section 4.4).",
      answers: response("multipart/mixed"),
    },
  })

/** Operations by path policy. */
export const est = {
  default: operationsAt("/est"),
  role: operationsAt("/roles/:role/est"),
  policyService: operationsAt("/external-policy/est"),
  policy: operationsAt("/external-policy/:policy/est"),
} as const
