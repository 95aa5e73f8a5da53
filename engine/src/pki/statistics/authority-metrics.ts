// Metrics of certificate authorities. Labels come from what administrators have named, never from certificates,
// and there is a most of each (`authority-figures.ts`).
import type { Attributes, Meter } from "@opentelemetry/api"
import { secondMs } from "../../core/time.ts"
import type { AuthorityFigures } from "./authority-figures.ts"
import { expiryWindows } from "./mount-statistics.ts"

type Samples = readonly (readonly [labels: Attributes, value: number])[]

/** `figures` is called for each reading of the metrics. */
export function registerAuthorities(meter: Meter, figures: () => Promise<AuthorityFigures>): void {
  const gauge = (name: string, description: string, samples: (figures: AuthorityFigures) => Samples) =>
    meter.createObservableGauge(name, { description }).addCallback(async (result) => {
      for (const [labels, value] of samples(await figures())) result.observe(value, labels)
    })

  gauge(
    "chancery_pki_issuer_expiration_timestamp_seconds",
    "When the certificate of an authority expires, by mount and issuer; `signs` tells whether its key is here.",
    ({ issuers }) =>
      issuers.map(({ mount, issuer, name, hasKey, notAfter }) => [
        { mount, issuer, issuer_name: name ?? "", signs: String(hasKey) },
        notAfter / secondMs,
      ]),
  )
  gauge(
    "chancery_pki_crl_this_update_timestamp_seconds",
    "When a revocation list was made, by mount, issuer and kind (complete, delta); of its parts the oldest.",
    ({ lists }) => lists.map(({ mount, issuer, kind, thisUpdate }) => [{ mount, issuer, kind }, thisUpdate / secondMs]),
  )
  gauge(
    "chancery_pki_crl_next_update_timestamp_seconds",
    "When a revocation list ceases to count, likewise.",
    ({ lists }) => lists.map(({ mount, issuer, kind, nextUpdate }) => [{ mount, issuer, kind }, nextUpdate / secondMs]),
  )
  gauge("chancery_pki_crl_entries", "Certificates on a revocation list, likewise.", ({ lists }) =>
    lists.map(({ mount, issuer, kind, entryCount }) => [{ mount, issuer, kind }, entryCount]),
  )
  gauge(
    "chancery_pki_certificates",
    "Certificates that are stored, by mount and status (valid, expired, revoked), when they were last counted.",
    ({ mounts }) =>
      mounts.flatMap(({ mount, statistics }) =>
        (["valid", "expired", "revoked"] as const).map((status) => [{ mount, status }, statistics[status]] as const),
      ),
  )
  gauge(
    "chancery_pki_certificates_expiring",
    "Valid certificates that expire within a time from then (24h, 7d, 30d), by mount.",
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
    ({ mounts }) =>
      mounts.flatMap(({ mount, statistics }) =>
        statistics.soonestOfRoles.map(({ role, notAfter }) => [{ mount, role }, notAfter / secondMs] as const),
      ),
  )
  gauge("chancery_pki_counted_timestamp_seconds", "When the certificates of a mount were last counted.", ({ mounts }) =>
    mounts.map(({ mount, statistics }) => [{ mount }, statistics.countedAt / secondMs]),
  )
  gauge(
    "chancery_pki_series_left_out",
    "Issuers, lists, roles and mounts of which nothing is told here, because there are too many.",
    ({ leftOut, mounts }) => [[{}, mounts.reduce((sum, { statistics }) => sum + statistics.rolesLeftOut, leftOut)]],
  )
}
