// Settings of a mount: default issuer and key, URLs, cluster paths, ACME. Writes return the stored settings.
import type { IssuerId, KeyId } from "../../core/ids.ts"
import { secondMs } from "../../core/time.ts"
import { noUrls } from "../../pki/issuers/issuer.ts"
import { defaultAcmeSettings, eabPolicies } from "../../pki/mounts/acme-settings.ts"
import type { ClusterSettings } from "../../pki/mounts/mount-settings.ts"
import { z } from "zod"
import { contract, data, warned } from "./endpoint.ts"
import { bodyOf, fields, parameter, record } from "./record.ts"
import {
  duration,
  durationText,
  enumOf,
  flag,
  integer,
  mistyped,
  type ParameterType,
  problem,
  text,
  textOrNull,
  texts,
} from "./types.ts"

const idOrNone = <Id extends string>() => textOrNull as ParameterType<Id | null>
const reference = (rule: string, example: string) => parameter(text, rule, { example })

const followsLatest = parameter(flag, "Make every new issuer the default.", { default: false, example: true })
const issuersSettings = record(
  {},
  {
    readOnly: {
      default: parameter(idOrNone<IssuerId>(), "Id of the default issuer; empty if there is none.", {
        example: "0e9c2f6e-3f0a-4c52-9d5e-0d9b6f3c2a11",
      }),
      defaultFollowsLatestIssuer: followsLatest,
    },
    writeOnly: {
      default: reference("Default issuer, by name or id.", "root-2030"),
      defaultFollowsLatestIssuer: followsLatest,
    },
  },
)
const rootReplacement = fields({
  default: parameter(text, "New default issuer, by name or id.", { default: "next", example: "root-2030" }),
})
const keysSettings = record(
  {},
  {
    readOnly: {
      default: parameter(idOrNone<KeyId>(), "Id of the default key; empty if there is none.", {
        example: "7b1f3a52-6b3e-4a55-8a8d-2a0c4d4e9f10",
      }),
    },
    writeOnly: { default: reference("Default key, by name or id.", "key-2030") },
  },
)

export const urls = record(
  {
    issuingCertificates: parameter(texts, "URLs of the issuer's certificate (authorityInfoAccess, caIssuers).", {
      example: ["http://pki.example.com/v1/pki/ca"],
    }),
    crlDistributionPoints: parameter(texts, "URLs of the CRL (cRLDistributionPoints).", {
      example: ["http://pki.example.com/v1/pki/crl"],
    }),
    deltaCrlDistributionPoints: parameter(texts, "URLs of the delta CRL (freshestCRL).", {
      example: ["http://pki.example.com/v1/pki/crl/delta"],
    }),
    ocspServers: parameter(texts, "URLs of OCSP responders (authorityInfoAccess, ocsp).", {
      example: ["http://pki.example.com/v1/pki/ocsp"],
    }),
    enableTemplating: parameter(flag, "Fill in {{issuer_id}}, {{cluster_path}} and {{cluster_aia_path}} in the URLs."),
  },
  { defaults: noUrls },
)

const noCluster: ClusterSettings = { path: "", aiaPath: "" }
export const cluster = record(
  {
    path: parameter(text, "https URL of the mount, without the slash at its end. ACME and templates need it.", {
      example: "https://pki.example.com/v1/pki",
    }),
    aiaPath: parameter(text, "URL of the mount for certificates and CRLs, http or https.", {
      example: "http://pki.example.com/v1/pki",
    }),
  },
  { defaults: noCluster },
)

/** Duration in units up to the hour. Answers have seconds. */
const hours: ParameterType<number> = {
  ...durationText,
  schema: z.codec(z.unknown(), z.number(), {
    decode(value, context) {
      if (typeof value === "string" && /[dw]/.test(value))
        return problem(context, value, 'must not use a unit longer than the hour, such as "2160h"')
      const read = duration.schema.safeParse(value)
      return read.success ? read.data : mistyped(context, value)
    },
    encode: (value) => value / secondMs,
  }),
}

const writtenAcme = {
  allowedIssuers: parameter(texts, "Issuers that directories may use, by id or name. The single entry * allows all.", {
    example: ["root-2030"],
  }),
  allowedRoles: parameter(texts, "Roles that directories may use. The single entry * allows all.", {
    example: ["web"],
  }),
  defaultDirectoryPolicy: parameter(
    text,
    "Policy of directories without a role: forbid, sign-verbatim, role:<name>, or external-policy.",
    { example: "role:web" },
  ),
  dnsResolver: parameter(text, "DNS server of validation, as host:port. Empty: the resolver of the system.", {
    example: "192.0.2.53:53",
  }),
  eabPolicy: parameter(
    enumOf(...eabPolicies),
    "Requires external account binding (RFC 8555, section 7.3.4): not-required, new-account-required or always-required.",
    { example: "always-required" },
  ),
  enabled: parameter(flag, "Serve ACME."),
}
export const acme = record(
  {
    ...writtenAcme,
    allowRoleExtKeyUsage: parameter(flag, "Use the extended key usages of roles instead of serverAuth."),
    maxTtlMs: parameter(hours, "Maximum lifetime of certificates, in units up to the hour. 0: 2160h.", {
      example: "720h",
    }),
    challengePermittedIpRanges: parameter(texts, "Ranges of non-public addresses that validation may reach.", {
      example: ["10.0.0.0/8"],
    }),
    challengeExcludedIpRanges: parameter(texts, "Ranges of addresses that validation never reaches.", {
      example: ["10.9.0.0/16"],
    }),
    caaIdentities: parameter(
      texts,
      "Names of this authority in CAA records (RFC 8659). Empty: CAA records are not checked.",
      { example: ["ca.example.com"] },
    ),
    termsOfService: parameter(text, "URL of the terms of service in the directory.", {
      example: "https://example.com/terms",
    }),
    website: parameter(text, "URL of the website in the directory.", { example: "https://example.com" }),
    ordersPerAccount: parameter(integer, "Orders of one account within 3 hours. 0: no limit.", { example: 500 }),
    ordersPerName: parameter(integer, "Certificates of one name within 7 days. 0: no limit.", { example: 50 }),
    accountsPerAddress: parameter(integer, "New accounts from one address within 3 hours. 0: no limit.", {
      example: 100,
    }),
    failedValidations: parameter(integer, "Failed validations of one account and name within an hour. 0: no limit.", {
      example: 5,
    }),
    directoryLimits: parameter(texts, "Limits of single directories; a * stands for one part of the path.", {
      example: ["roles/web/acme orders_per_account=100 orders_per_name=5"],
    }),
  },
  { defaults: defaultAcmeSettings },
)

export const mountSettings = contract({
  issuers: {
    operation: "read",
    path: "/config/issuers",
    summary: "Returns the default issuer.",
    rights: "read",
    answers: data(issuersSettings),
  },
  changeIssuers: {
    operation: "write",
    path: "/config/issuers",
    summary: "Sets the default issuer.",
    rights: "create or update",
    body: issuersSettings.change,
    answers: warned(issuersSettings, "value"),
  },
  replaceRoot: {
    operation: "write",
    path: "/root/replace",
    summary: "Sets the default issuer, which is the issuer named next if none is given.",
    rights: "create or update",
    body: bodyOf(rootReplacement),
    answers: warned(issuersSettings, "value"),
  },
  keys: {
    operation: "read",
    path: "/config/keys",
    summary: "Returns the default key.",
    rights: "read",
    answers: data(keysSettings),
  },
  changeKeys: {
    operation: "write",
    path: "/config/keys",
    summary: "Sets the default key.",
    rights: "create or update",
    body: keysSettings.change,
    answers: warned(keysSettings, "value"),
  },
  urls: {
    operation: "read",
    path: "/config/urls",
    summary: "Returns the URLs that certificates carry, unless their issuer has its own.",
    rights: "read",
    answers: data(urls),
  },
  changeUrls: {
    operation: "write",
    path: "/config/urls",
    summary: "Changes the URLs: parameters left out keep their values.",
    rights: "create or update",
    body: urls.change,
    answers: warned(urls, "value"),
  },
  cluster: {
    operation: "read",
    path: "/config/cluster",
    summary: "Returns the addresses of the mount.",
    rights: "read",
    answers: data(cluster),
  },
  changeCluster: {
    operation: "write",
    path: "/config/cluster",
    summary: "Changes the addresses of the mount: parameters left out keep their values.",
    rights: "create or update",
    body: cluster.change,
    answers: warned(cluster, "value"),
  },
  acme: {
    operation: "read",
    path: "/config/acme",
    summary: "Returns the settings of ACME.",
    rights: "read",
    answers: data(acme),
  },
  changeAcme: {
    operation: "write",
    path: "/config/acme",
    summary: "Changes the settings of ACME: parameters left out keep their values.",
    rights: "create or update",
    body: acme.change,
    answers: warned(record(writtenAcme), "value"),
  },
})
