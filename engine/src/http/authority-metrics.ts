// What there is to watch of certificate authorities. Labels come from what administrators have named, never from certificates,
// and there is a most of each (`authority-figures.ts`).
import { Counter, Gauge, type Registry } from "prom-client"
import { CountedHistogram } from "./counted-histogram.ts"
import { acmeOrderOutcomes, validatedTypes, validationResults } from "../core/acme-activity.ts"
import { type AuthorityActivity, ocspOutcomes } from "../core/authority-activity.ts"
import { secondMs } from "../core/time.ts"
import type { AuthorityFigures } from "../pki/statistics/authority-figures.ts"
import { expiryWindows } from "../pki/statistics/mount-statistics.ts"

export interface WatchedAuthorities {
  readonly activity: AuthorityActivity
  readonly figures: () => Promise<AuthorityFigures>
}

export function registerAuthorities(registry: Registry, { activity, figures }: WatchedAuthorities): void {
  registerActivity(registry, activity)
  /** Samples of one gauge, made anew for every reader: what is gone is gone. */
  const gauge = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    samples: (figures: AuthorityFigures) => readonly (readonly [labels: Record<Label, string>, value: number])[],
  ) =>
    registry.registerMetric(
      new Gauge({
        name,
        help,
        labelNames: [...labelNames],
        registers: [],
        async collect() {
          const known = samples(await figures())
          this.reset()
          for (const [labels, value] of known) this.set(labels, value)
        },
      }),
    )

  gauge(
    "chancery_pki_issuer_expiration_timestamp_seconds",
    "When the certificate of an authority expires, by mount and issuer; `signs` tells whether its key is here.",
    ["mount", "issuer", "issuer_name", "signs"],
    ({ issuers }) =>
      issuers.map(({ mount, issuer, name, hasKey, notAfter }) => [
        { mount, issuer, issuer_name: name ?? "", signs: String(hasKey) },
        notAfter / secondMs,
      ]),
  )
  const listLabels = ["mount", "issuer", "kind"] as const
  gauge(
    "chancery_pki_crl_this_update_timestamp_seconds",
    "When a revocation list was made, by mount, issuer and kind (complete, delta); of its parts the oldest.",
    listLabels,
    ({ lists }) => lists.map(({ mount, issuer, kind, thisUpdate }) => [{ mount, issuer, kind }, thisUpdate / secondMs]),
  )
  gauge(
    "chancery_pki_crl_next_update_timestamp_seconds",
    "When a revocation list ceases to count, likewise.",
    listLabels,
    ({ lists }) => lists.map(({ mount, issuer, kind, nextUpdate }) => [{ mount, issuer, kind }, nextUpdate / secondMs]),
  )
  gauge("chancery_pki_crl_entries", "Certificates on a revocation list, likewise.", listLabels, ({ lists }) =>
    lists.map(({ mount, issuer, kind, entryCount }) => [{ mount, issuer, kind }, entryCount]),
  )
  gauge(
    "chancery_pki_certificates",
    "Certificates that are stored, by mount and status (valid, expired, revoked), when they were last counted.",
    ["mount", "status"],
    ({ mounts }) =>
      mounts.flatMap(({ mount, statistics }) =>
        (["valid", "expired", "revoked"] as const).map((status) => [{ mount, status }, statistics[status]] as const),
      ),
  )
  gauge(
    "chancery_pki_certificates_expiring",
    "Valid certificates that expire within a time from then (24h, 7d, 30d), by mount.",
    ["mount", "within"],
    ({ mounts }) =>
      mounts.flatMap(({ mount, statistics }) =>
        expiryWindows.map(
          ({ name }, index) => [{ mount, within: name }, statistics.expiringWithin[index] ?? 0] as const,
        ),
      ),
  )
  gauge(
    "chancery_pki_role_expiration_timestamp_seconds",
    "When the first valid certificate of a role expires, by mount and role.",
    ["mount", "role"],
    ({ mounts }) =>
      mounts.flatMap(({ mount, statistics }) =>
        statistics.soonestOfRoles.map(({ role, notAfter }) => [{ mount, role }, notAfter / secondMs] as const),
      ),
  )
  gauge(
    "chancery_pki_counted_timestamp_seconds",
    "When the certificates of a mount were last counted.",
    ["mount"],
    ({ mounts }) => mounts.map(({ mount, statistics }) => [{ mount }, statistics.countedAt / secondMs]),
  )
  gauge(
    "chancery_pki_series_left_out",
    "Issuers, lists, roles and mounts of which nothing is told here, because there are too many.",
    [],
    ({ leftOut, mounts }) => [[{}, mounts.reduce((sum, { statistics }) => sum + statistics.rolesLeftOut, leftOut)]],
  )
}

const kinds = ["complete", "delta"] as const

/** The engine counts for itself; its numbers are copied when they are asked for. */
function registerActivity(registry: Registry, activity: AuthorityActivity): void {
  const counter = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    samples: () => readonly (readonly [labels: Record<Label, string>, value: number])[],
  ) =>
    registry.registerMetric(
      new Counter({
        name,
        help,
        labelNames: [...labelNames],
        registers: [],
        collect() {
          this.reset()
          for (const [labels, value] of samples()) this.inc(labels, value)
        },
      }),
    )

  counter(
    "chancery_ocsp_answers_total",
    "Answers of this server's OCSP responders, by status: what is said of one certificate, several, or why there is no answer.",
    ["status"],
    () => ocspOutcomes.map((status) => [{ status }, activity.ocspAnswers[status]]),
  )
  counter("chancery_ocsp_kept_answers_total", "Of these, how many were signed before and at hand.", [], () => [
    [{}, activity.ocspKeptCount],
  ])
  counter(
    "chancery_crl_builds_total",
    "Revocation lists that this server has built, by kind (complete, delta) and outcome (done, failed).",
    ["kind", "outcome"],
    () =>
      kinds.flatMap((kind) => {
        const { doneCount, failureCount } = activity.crlBuilds[kind]
        return [[{ kind, outcome: "done" }, doneCount] as const, [{ kind, outcome: "failed" }, failureCount] as const]
      }),
  )
  counter(
    "chancery_crl_build_duration_seconds_total",
    "Time that this server has spent on building them, by kind.",
    ["kind"],
    () => kinds.map((kind) => [{ kind }, activity.crlBuilds[kind].durationMs / secondMs]),
  )
  counter(
    "chancery_acme_orders_total",
    "ACME orders on this server, by status: made, valid, and invalid: not signed, with a name that was not proved or given up, or not finalized in time.",
    ["status"],
    () => acmeOrderOutcomes.map((status) => [{ status }, activity.acme.orders[status]]),
  )
  counter(
    "chancery_acme_certificates_shortened_total",
    "ACME certificates of this server that end with their issuer, before the end that role and settings give.",
    [],
    () => [[{}, activity.acme.shortenedCount]],
  )
  registry.registerMetric(
    new CountedHistogram({
      name: "chancery_acme_order_duration_seconds",
      help: "Time from new order to certificate of those that are valid.",
      labelNames: [],
      samples: () => [[{}, activity.acme.orderDurations]],
    }),
  )
  counter(
    "chancery_acme_validations_total",
    "Looks at ACME challenges by this server, by type and result (valid, retried, invalid).",
    ["type", "result"],
    () =>
      validatedTypes.flatMap((type) =>
        validationResults.map((result) => [{ type, result }, activity.acme.validations[type].results[result]] as const),
      ),
  )
  registry.registerMetric(
    new CountedHistogram({
      name: "chancery_acme_validation_duration_seconds",
      help: "How long this server has taken for them, by type.",
      labelNames: ["type"],
      samples: () => validatedTypes.map((type) => [{ type }, activity.acme.validations[type].durations]),
    }),
  )
  registry.registerMetric(
    new Gauge({
      name: "chancery_crl_last_build_duration_seconds",
      help: "How long the last of them took, by kind; absent before the first.",
      labelNames: ["kind"],
      registers: [],
      collect() {
        for (const kind of kinds) {
          const { lastDurationMs } = activity.crlBuilds[kind]
          if (lastDurationMs !== undefined) this.set({ kind }, lastDurationMs / secondMs)
        }
      },
    }),
  )
}
