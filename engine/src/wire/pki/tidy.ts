// Tidying, as in Vault. Durations are whole seconds in both dialects; `pause_duration` is a string.
import { formatInstant, parseInstant } from "../../core/time.ts"
import type { AutoTidyView } from "../../pki/tidy/auto-tidy.ts"
import { type TidyCounts, tidyStates } from "../../pki/tidy/tidy-run.ts"
import type { TidyInput, TidyRunView, TidyStatus } from "../../pki/tidy/tidy.ts"
import {
  decodeAnswer,
  type Document,
  durationSeconds,
  durationText,
  encodeMembers,
  flag,
  integer,
  type Kind,
  nullable,
  parameters,
  text,
  type ValuesOf,
  word,
} from "./parameters.ts"

const optionKinds = {
  tidyCertStore: flag,
  tidyRevokedCerts: flag,
  tidyInvalidCerts: flag,
  tidyRevokedCertIssuerAssociations: flag,
  tidyExpiredIssuers: flag,
  tidyCertMetadata: flag,
  tidyMoveLegacyCaBundle: flag,
  tidyAcme: flag,
  tidyRevocationQueue: flag,
  tidyCrossClusterRevokedCerts: flag,
  tidyCmpv2NonceStore: flag,
  safetyBufferMs: durationSeconds,
  revokedSafetyBufferMs: durationSeconds,
  issuerSafetyBufferMs: durationSeconds,
  acmeAccountSafetyBufferMs: durationSeconds,
  revocationQueueSafetyBufferMs: durationSeconds,
  pauseDurationMs: durationText,
  pageSize: integer,
}
const automaticKinds = {
  enabled: flag,
  intervalDurationMs: durationSeconds,
  minStartupBackoffDurationMs: durationSeconds,
  maxStartupBackoffDurationMs: durationSeconds,
  maintainStoredCertificateCounts: flag,
  publishStoredCertificateCountMetrics: flag,
  ...optionKinds,
}

const optionParameters = parameters(optionKinds)
/** The first release of the public API called it so. */
const formerNames = { tidyRevocationList: flag }
export const tidyParameters = parameters({ ...optionKinds, ...formerNames })
export const autoTidyParameters = parameters({ ...automaticKinds, ...formerNames })
const autoTidyAnswer = parameters(automaticKinds)

export function decodeTidyInput<T extends TidyInput>({
  tidyRevocationList,
  ...input
}: T & Partial<ValuesOf<typeof tidyParameters>>) {
  return tidyRevocationList === undefined ? input : { tidyRevokedCerts: tidyRevocationList, ...input }
}

export const encodeAutoTidy = (settings: AutoTidyView): Document => encodeMembers(autoTidyAnswer, settings, "native")

export const decodeAutoTidy = (data: unknown): AutoTidyView => decodeAnswer(autoTidyAnswer, data)

const exactInstant: Kind<number> = {
  decode: (value) => (typeof value === "string" ? parseInstant(value) : undefined),
  encode: formatInstant,
  expected: "an instant",
  type: "string",
}

const countNames = {
  certificates: "cert_store_deleted_count",
  revocations: "revoked_cert_deleted_count",
  missingIssuers: "missing_issuer_cert_count",
  associated: "revoked_cert_associated_count",
  metadata: "cert_metadata_deleted_count",
  issuers: "expired_issuer_deleted_count",
  waiting: "revoked_cert_waiting_count",
  acmeOrders: "acme_orders_deleted_count",
  acmeAccountsSeen: "total_acme_account_count",
  acmeAccountsRevoked: "acme_account_revoked_count",
  acmeAccounts: "acme_account_deleted_count",
} as const satisfies Record<keyof TidyCounts, string>

const countParameters = parameters(
  {
    certificates: integer,
    revocations: integer,
    missingIssuers: integer,
    associated: integer,
    metadata: integer,
    issuers: integer,
    waiting: integer,
    acmeOrders: integer,
    acmeAccountsSeen: integer,
    acmeAccountsRevoked: integer,
    acmeAccounts: integer,
  },
  countNames,
)

const runParameters = parameters(
  { startedAt: exactInstant, finishedAt: nullable(exactInstant), message: nullable(text), error: nullable(text) },
  { startedAt: "time_started", finishedAt: "time_finished" },
)

const stateWords = tidyStates.map((state) => [state, `${state.charAt(0).toUpperCase()}${state.slice(1)}`] as const)
const stateParameters = parameters({ state: word(...stateWords.map(([, shown]) => shown)) })

const factParameters = parameters(
  {
    lastAutomaticFinishedAt: nullable(exactInstant),
    certificates: nullable(integer),
    revoked: nullable(integer),
    mountUuid: text,
  },
  {
    lastAutomaticFinishedAt: "last_auto_tidy_finished",
    certificates: "current_cert_store_count",
    revoked: "current_revoked_cert_count",
    mountUuid: "internal_backend_uuid",
  },
)

/** Of what is not here. */
const nothingElse = ["revocation_queue_deleted_count", "cross_revoked_cert_deleted_count"]

/** Every member is there at all times; before the first run, those about a run are null. */
export function encodeTidyStatus({ run, lastAutomaticFinishedAt, stored, mountUuid }: TidyStatus): Document {
  const state = run?.state ?? "inactive"
  const facts = {
    lastAutomaticFinishedAt: lastAutomaticFinishedAt ?? null,
    certificates: stored?.certificates ?? null,
    revoked: stored?.revoked ?? null,
    mountUuid,
  }
  return {
    ...(run === undefined ? noRun : encodeRun(run)),
    state: new Map(stateWords).get(state),
    ...encodeMembers(factParameters, facts, "native"),
  }
}

const encodeRun = (run: TidyRunView): Document => ({
  ...encodeMembers(optionParameters, run.options, "native"),
  ...encodeMembers(runParameters, run, "native"),
  ...encodeMembers(countParameters, run.counts, "native"),
  ...Object.fromEntries(nothingElse.map((name) => [name, 0])),
})

const noRun: Document = Object.fromEntries(
  [optionParameters, runParameters, countParameters]
    .flatMap(({ members }) => members.map(({ wireName }) => wireName))
    .concat(nothingElse)
    .map((name) => [name, null]),
)

export function decodeTidyStatus(data: unknown): TidyStatus {
  const { state: shown } = decodeAnswer(stateParameters, data)
  const [state] = stateWords.find(([, one]) => one === shown) ?? []
  const facts = decodeAnswer(factParameters, data)
  const { lastAutomaticFinishedAt, certificates, revoked, mountUuid } = facts
  return {
    run: state === undefined || state === "inactive" ? undefined : { state, ...decodeRun(data) },
    lastAutomaticFinishedAt: lastAutomaticFinishedAt ?? undefined,
    stored: certificates === null || revoked === null ? undefined : { certificates, revoked },
    mountUuid,
  }
}

const decodeRun = (data: unknown): Omit<TidyRunView, "state"> => ({
  options: decodeAnswer(optionParameters, data),
  ...decodeAnswer(runParameters, data),
  counts: decodeAnswer(countParameters, data),
})
