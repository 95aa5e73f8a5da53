// How the issuers and keys of a mount are used, and where they are found (pki-facts 2.6).
import type { IssuerId, KeyId } from "../../core/ids.ts"
import { secondMs } from "../../core/time.ts"
import type { AuthorityUrls } from "../../pki/issuers/issuer.ts"
import { type AcmeSettings, eabPolicies, type WrittenAcmeSettings } from "../../pki/settings/acme-settings.ts"
import type { ClusterSettings, IssuersSettings, KeysSettings } from "../../pki/settings/mount-settings.ts"
import type { Saved } from "../../pki/settings/settings.ts"
import type { DecodedEnvelope } from "./envelope.ts"
import { nameOrNone } from "./key.ts"
import {
  decodeAnswer,
  type Document,
  duration,
  encodeMembers,
  flag,
  integer,
  type Kind,
  parameters,
  Problem,
  text,
  texts,
  word,
} from "./parameters.ts"

export const issuersSettingsParameters = parameters({ default: text, defaultFollowsLatestIssuer: flag })
export const keysSettingsParameters = parameters({ default: text })
export const rootReplaceParameters = parameters({ default: text })
export const urlsParameters = parameters({
  issuingCertificates: texts,
  crlDistributionPoints: texts,
  deltaCrlDistributionPoints: texts,
  ocspServers: texts,
  enableTemplating: flag,
})
export const clusterParameters = parameters({ path: text, aiaPath: text })

/** The hour is the largest unit of this one (specification 2.4), and it is told as a number of seconds. */
const hours: Kind<number> = {
  ...duration,
  decode: (value) =>
    typeof value === "string" && /[dw]/.test(value)
      ? new Problem('must not use a unit longer than the hour, such as "2160h"')
      : duration.decode(value),
  encode: (value) => value / secondMs,
}

const writtenAcmeKinds = {
  allowedIssuers: texts,
  allowedRoles: texts,
  defaultDirectoryPolicy: text,
  dnsResolver: text,
  eabPolicy: word(...eabPolicies),
  enabled: flag,
}
const writtenAcme = parameters(writtenAcmeKinds)
export const acmeParameters = parameters({
  ...writtenAcmeKinds,
  allowRoleExtKeyUsage: flag,
  maxTtlMs: hours,
  challengePermittedIpRanges: texts,
  challengeExcludedIpRanges: texts,
  caaIdentities: texts,
  termsOfService: text,
  website: text,
  ordersPerAccount: integer,
  ordersPerName: integer,
  accountsPerAddress: integer,
  failedValidations: integer,
  directoryLimits: texts,
})

const issuersAnswer = parameters({ default: nameOrNone, defaultFollowsLatestIssuer: flag })
const keysAnswer = parameters({ default: nameOrNone })

export const encodeIssuersSettings = (settings: IssuersSettings): Document =>
  encodeMembers(issuersAnswer, settings, "native")
export const encodeKeysSettings = (settings: KeysSettings): Document => encodeMembers(keysAnswer, settings, "native")
export const encodeUrls = (urls: AuthorityUrls): Document => encodeMembers(urlsParameters, urls, "native")
export const encodeCluster = (cluster: ClusterSettings): Document => encodeMembers(clusterParameters, cluster, "native")

export const encodeAcme = (settings: AcmeSettings): Document => encodeMembers(acmeParameters, settings, "native")
export const encodeWrittenAcme = (settings: WrittenAcmeSettings): Document =>
  encodeMembers(writtenAcme, settings, "native")

export const decodeIssuersSettings = (data: unknown): IssuersSettings => {
  const { default: id, ...settings } = decodeAnswer(issuersAnswer, data)
  return { default: id as IssuerId | null, ...settings }
}
export const decodeKeysSettings = (data: unknown): KeysSettings => ({
  default: decodeAnswer(keysAnswer, data).default as KeyId | null,
})
export const decodeUrls = (data: unknown): AuthorityUrls => decodeAnswer(urlsParameters, data)
export const decodeCluster = (data: unknown): ClusterSettings => decodeAnswer(clusterParameters, data)

export const decodeAcme = (data: unknown): AcmeSettings => decodeAnswer(acmeParameters, data)
export const decodeWrittenAcme = (data: unknown): WrittenAcmeSettings => decodeAnswer(writtenAcme, data)

export const decodeSaved = <T>({ data, warnings }: DecodedEnvelope, decode: (data: unknown) => T): Saved<T> => ({
  value: decode(data),
  warnings,
})
