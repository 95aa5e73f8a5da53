// Tidy operations as in Vault. Durations are whole seconds in both dialects, except the pause.
import { type AutoTidyView, autoTidyView, defaultAutoTidySettings } from "../../pki/tidy/auto-tidy.ts"
import { defaultTidyOptions, type TidyOptions } from "../../pki/tidy/tidy-options.ts"
import { type TidyCounts, tidyStates } from "../../pki/tidy/tidy-run.ts"
import type { TidyRunView, TidyStatus } from "../../pki/tidy/tidy-api.ts"
import { decodeAnswer, type Document, encodeMembers } from "./format/parameters.ts"
import { accepted, contract, data, dataOf } from "./endpoint.ts"
import { fields, parameter, type Parameter, record } from "./record.ts"
import { durationText, enumOf, exactInstant, flag, integer, nullable, seconds, text } from "./types.ts"

const nothingFound = "Accepted as in Vault, and finds nothing."
const optionMembers = {
  tidyCertStore: parameter(flag, "Delete expired certificates."),
  tidyRevokedCerts: parameter(flag, "Delete expired certificates that were revoked.", {
    alias: "tidy_revocation_list",
  }),
  tidyInvalidCerts: parameter(flag, "Delete stored certificates that cannot be parsed."),
  tidyRevokedCertIssuerAssociations: parameter(flag, "Find the issuers of revoked certificates that name none."),
  tidyExpiredIssuers: parameter(flag, "Delete expired issuers, except the default issuer."),
  tidyCertMetadata: parameter(flag, "Delete the cert_metadata of expired certificates."),
  tidyMoveLegacyCaBundle: parameter(flag, nothingFound),
  tidyAcme: parameter(flag, "Delete ACME orders, and accounts that are no longer used."),
  tidyRevocationQueue: parameter(flag, nothingFound),
  tidyCrossClusterRevokedCerts: parameter(flag, nothingFound),
  tidyCmpv2NonceStore: parameter(flag, nothingFound),
  safetyBufferMs: parameter(seconds, "Time after the end of a certificate before it is deleted.", { example: 86_400 }),
  revokedSafetyBufferMs: parameter(seconds, "The same for revoked certificates. Left out: safety_buffer.", {
    example: 86_400,
  }),
  issuerSafetyBufferMs: parameter(seconds, "Time after the end of an issuer before it is deleted.", {
    example: 2_592_000,
  }),
  acmeAccountSafetyBufferMs: parameter(
    seconds,
    "Time after which an account without orders is revoked, and then deleted.",
    { example: 604_800 },
  ),
  revocationQueueSafetyBufferMs: parameter(seconds, nothingFound, { example: 86_400 }),
  pauseDurationMs: parameter(durationText, "Pause between two pages.", { example: "100ms" }),
  pageSize: parameter(integer, "Number of rows in a page.", { example: 500 }),
}
const { revokedSafetyBufferMs: _, ...optionDefaults } = defaultTidyOptions
const options = record(optionMembers, { defaults: optionDefaults })

export const autoTidySettings = record(
  {
    enabled: parameter(flag, "Tidy by the clock."),
    intervalDurationMs: parameter(seconds, "Time from the end of one run to the start of the next.", {
      example: 3_600,
    }),
    minStartupBackoffDurationMs: parameter(seconds, "Shortest wait after the start of a server.", { example: 60 }),
    maxStartupBackoffDurationMs: parameter(seconds, "Longest wait after the start of a server.", { example: 600 }),
    maintainStoredCertificateCounts: parameter(flag, "Count certificates in tidy-status."),
    publishStoredCertificateCountMetrics: parameter(flag, "Stored without effect: the counts are always metrics."),
    ...optionMembers,
  },
  { defaults: autoTidyView(defaultAutoTidySettings) },
)

const countMembers = {
  certificates: parameter(integer, "Deleted certificates.", { wireName: "cert_store_deleted_count" }),
  revocations: parameter(integer, "Deleted revoked certificates.", { wireName: "revoked_cert_deleted_count" }),
  missingIssuers: parameter(integer, "Revoked certificates without an issuer.", {
    wireName: "missing_issuer_cert_count",
  }),
  associated: parameter(integer, "Revoked certificates whose issuer was found.", {
    wireName: "revoked_cert_associated_count",
  }),
  metadata: parameter(integer, "Certificates whose cert_metadata was deleted.", {
    wireName: "cert_metadata_deleted_count",
  }),
  issuers: parameter(integer, "Deleted issuers.", { wireName: "expired_issuer_deleted_count" }),
  waiting: parameter(integer, "Revoked certificates that a CRL still needs.", {
    wireName: "revoked_cert_waiting_count",
  }),
  acmeOrders: parameter(integer, "Deleted ACME orders.", { wireName: "acme_orders_deleted_count" }),
  acmeAccountsSeen: parameter(integer, "ACME accounts.", { wireName: "total_acme_account_count" }),
  acmeAccountsRevoked: parameter(integer, "Revoked ACME accounts.", { wireName: "acme_account_revoked_count" }),
  acmeAccounts: parameter(integer, "Deleted ACME accounts.", { wireName: "acme_account_deleted_count" }),
} satisfies Record<keyof TidyCounts, Parameter<number>>
const runMembers = {
  startedAt: parameter(exactInstant, "Start of the run.", { wireName: "time_started" }),
  finishedAt: parameter(nullable(exactInstant), "End of the run. Null: it goes on.", { wireName: "time_finished" }),
  message: parameter(nullable(text), "Present step of the run."),
  error: parameter(nullable(text), "Error that ended the run."),
}
const clusterMembers = {
  revocationQueue: parameter(integer, "Always 0.", { wireName: "revocation_queue_deleted_count" }),
  crossRevoked: parameter(integer, "Always 0.", { wireName: "cross_revoked_cert_deleted_count" }),
}
const factMembers = {
  lastAutomaticFinishedAt: parameter(nullable(exactInstant), "End of the last automatic run.", {
    wireName: "last_auto_tidy_finished",
  }),
  certificates: parameter(nullable(integer), "Certificates, if maintain_stored_certificate_counts is set.", {
    wireName: "current_cert_store_count",
  }),
  revoked: parameter(nullable(integer), "Revoked certificates, likewise.", { wireName: "current_revoked_cert_count" }),
  mountUuid: parameter(text, "UUID of the mount.", { wireName: "internal_backend_uuid" }),
}
const stateWords = tidyStates.map((state) => [state, `${state.charAt(0).toUpperCase()}${state.slice(1)}`] as const)
const stateMembers = { state: parameter(enumOf(...stateWords.map(([, word]) => word)), "State of the last run.") }

const countTable = fields(countMembers)
const runTable = fields(runMembers)
const factTable = fields(factMembers)
const stateTable = fields(stateMembers)
const optionTable = fields<Omit<TidyOptions, "revokedSafetyBufferMs"> & { readonly revokedSafetyBufferMs: number }>(
  optionMembers,
)
const clusterTable = fields(clusterMembers)
const { certificates: count, ...counts } = countMembers
type Nullable<M> = { readonly [Name in keyof M]: M[Name] extends Parameter<infer T> ? Parameter<T | null> : never }
const orNull = <M extends object>(members: M): Nullable<M> =>
  Object.fromEntries(
    Object.entries(members).map(([name, one]: [string, Parameter<unknown>]) => [
      name,
      { ...one, type: nullable(one.type) },
    ]),
  ) as Nullable<M>
const statusTable = fields({
  ...stateMembers,
  ...orNull({ ...runMembers, ...counts, deletedCertificates: count, ...clusterMembers }),
  ...factMembers,
  ...orNull(optionMembers),
})

const encodeRun = (run: TidyRunView): Document => ({
  ...encodeMembers(optionTable, run.options, "native"),
  ...encodeMembers(runTable, run, "native"),
  ...encodeMembers(countTable, run.counts, "native"),
  ...encodeMembers(clusterTable, { revocationQueue: 0, crossRevoked: 0 }, "native"),
})
const noRun: Document = Object.fromEntries(
  [optionTable, runTable, countTable, clusterTable]
    .flatMap(({ members }) => members.map(({ wireName }) => wireName))
    .map((name) => [name, null]),
)

const status = {
  table: statusTable,
  /** Encodes all members at all times. Before the first run, members of a run are null. */
  encode({ run, lastAutomaticFinishedAt, stored, mountUuid }: TidyStatus): Document {
    const facts = {
      lastAutomaticFinishedAt: lastAutomaticFinishedAt ?? null,
      certificates: stored?.certificates ?? null,
      revoked: stored?.revoked ?? null,
      mountUuid,
    }
    return {
      ...(run === undefined ? noRun : encodeRun(run)),
      state: new Map(stateWords).get(run?.state ?? "inactive"),
      ...encodeMembers(factTable, facts, "native"),
    }
  },
  decode(sent: unknown): TidyStatus {
    const { state: word } = decodeAnswer(stateTable, sent)
    const [state] = stateWords.find(([, one]) => one === word) ?? []
    const { lastAutomaticFinishedAt, certificates, revoked, mountUuid } = decodeAnswer(factTable, sent)
    return {
      run: state === undefined || state === "inactive" ? undefined : { state, ...runIn(sent) },
      lastAutomaticFinishedAt: lastAutomaticFinishedAt ?? undefined,
      stored: certificates === null || revoked === null ? undefined : { certificates, revoked },
      mountUuid,
    }
  },
}
const runIn = (sent: unknown): Omit<TidyRunView, "state"> => ({
  options: decodeAnswer(optionTable, sent),
  ...decodeAnswer(runTable, sent),
  counts: decodeAnswer(countTable, sent),
})

interface Cancelled {
  readonly status: TidyStatus
  readonly warnings: readonly string[]
}
const cancelled = dataOf(
  statusTable,
  (sent: Cancelled) => ({ data: status.encode(sent.status), warnings: sent.warnings }),
  (envelope): Cancelled => ({ status: status.decode(envelope.data), warnings: envelope.warnings }),
)

const reading = { operation: "read", rights: "read" } as const
const changing = { operation: "write", rights: "create or update" } as const
const automaticView = data<AutoTidyView>(autoTidySettings)
export const tidy = contract({
  start: {
    ...changing,
    path: "/tidy",
    summary: "Starts a tidy run, unless one is going on. Answers 202; tidy-status has its state.",
    body: options.change,
    answers: accepted,
  },
  cancel: {
    ...changing,
    path: "/tidy-cancel",
    summary: "Ends the tidy run that is going on, before its next page.",
    answers: cancelled,
  },
  getStatus: {
    ...reading,
    path: "/tidy-status",
    summary: "Returns the state of the last tidy run.",
    answers: data(status),
  },
  getAutomatic: {
    ...reading,
    path: "/config/auto-tidy",
    summary: "Returns the settings of automatic tidying.",
    answers: automaticView,
  },
  changeAutomatic: {
    ...changing,
    path: "/config/auto-tidy",
    summary: "Changes the settings of automatic tidying: parameters left out keep their values.",
    body: autoTidySettings.change,
    answers: automaticView,
  },
})
