import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { createAcmeMetrics, recordOrder, recordValidation } from "../../acme/acme-metrics.ts"
import type { IssuerId } from "../../core/ids.ts"
import { createMetrics, type ServerMetrics } from "../../telemetry/metrics.ts"
import { createCrlMetrics } from "../crl/crl-metrics.ts"
import { createOcspMetrics } from "../ocsp/ocsp-metrics.ts"
import { type AuthorityFigures, registerAuthorities } from "./mount-metrics.ts"

const figures: AuthorityFigures = {
  issuers: [
    { mount: "pki", issuer: "iss-1" as IssuerId, name: "root", notAfter: 1_900_000_000_000, hasKey: true },
    { mount: "pki", issuer: "iss-2" as IssuerId, name: null, notAfter: 1_800_000_000_000, hasKey: false },
  ],
  lists: [
    {
      mount: "pki",
      issuer: "iss-1" as IssuerId,
      kind: "complete",
      thisUpdate: 1_000,
      nextUpdate: 3_000,
      entryCount: 7,
    },
  ],
  mounts: [
    {
      mount: "pki",
      statistics: {
        countedAt: 2_000,
        valid: 10,
        expired: 4,
        revoked: 3,
        expiringWithin: [1, 5, 9],
        soonestOfRoles: [{ role: "web", notAfter: 5_500 }],
        rolesLeftOut: 2,
      },
    },
  ],
  enrolments: [{ mount: "pki", count: 3, oldestAt: 4_000 }],
  leftOut: 1,
}

const samplesOf = async (metrics: ServerMetrics): Promise<string[]> =>
  (await metrics.expose()).text.split("\n").filter((line) => line.startsWith("chancery_"))

test("metrics of issuers, lists and certificates have labels that administrators chose", async () => {
  const metrics = createMetrics()
  let known = figures
  registerAuthorities(metrics.meter, async () => known)
  const samples = async () => (await samplesOf(metrics)).filter((line) => line.startsWith("chancery_pki"))
  expect(await samples()).toEqual([
    'chancery_pki_issuer_expiration_timestamp_seconds{mount="pki",issuer="iss-1",issuer_name="root",signs="true"} 1900000000',
    'chancery_pki_issuer_expiration_timestamp_seconds{mount="pki",issuer="iss-2",issuer_name="",signs="false"} 1800000000',
    'chancery_pki_crl_this_update_timestamp_seconds{mount="pki",issuer="iss-1",kind="complete"} 1',
    'chancery_pki_crl_next_update_timestamp_seconds{mount="pki",issuer="iss-1",kind="complete"} 3',
    'chancery_pki_crl_entries{mount="pki",issuer="iss-1",kind="complete"} 7',
    'chancery_pki_certificates{mount="pki",status="valid"} 10',
    'chancery_pki_certificates{mount="pki",status="expired"} 4',
    'chancery_pki_certificates{mount="pki",status="revoked"} 3',
    'chancery_pki_certificates_expiring{mount="pki",within="24h"} 1',
    'chancery_pki_certificates_expiring{mount="pki",within="7d"} 5',
    'chancery_pki_certificates_expiring{mount="pki",within="30d"} 9',
    'chancery_pki_role_expiration_timestamp_seconds{mount="pki",role="web"} 5.5',
    'chancery_pki_counted_timestamp_seconds{mount="pki"} 2',
    'chancery_pki_enrolments_pending{mount="pki"} 3',
    'chancery_pki_enrolment_oldest_timestamp_seconds{mount="pki"} 4',
    "chancery_pki_series_left_out 3",
  ])
  known = { issuers: [], lists: [], mounts: [], enrolments: [], leftOut: 0 }
  expect(await samples()).toEqual(["chancery_pki_series_left_out 0"])
})

test("OCSP responses, builds of lists, orders and validations are counted", async () => {
  const metrics = createMetrics()
  const ocsp = createOcspMetrics(metrics.meter)
  const crl = createCrlMetrics(metrics.meter)
  const acme = createAcmeMetrics(metrics.meter)
  ocsp.answers.add(5, { status: "good" })
  ocsp.answers.add(1, { status: "try_later" })
  ocsp.cachedAnswers.add(4)
  const kind = "complete"
  crl.builds.add(2, { kind, outcome: "done" })
  crl.builds.add(1, { kind, outcome: "failed" })
  crl.buildSeconds.add(0.5, { kind })
  crl.lastBuildSeconds.record(0.3, { kind })
  crl.lastBuildSeconds.record(0.2, { kind })
  recordOrder(acme, "valid", 1_500)
  recordOrder(acme, "invalid", 9_000)
  acme.shortenedCertificates.add(3)
  recordValidation(acme, "dns-01", "retried", 29_000)
  recordValidation(acme, "dns-01", "valid", 31_000)
  const samples = (await samplesOf(metrics)).filter((line) => !line.endsWith(" 0"))
  expect(samples.toSorted()).toEqual(
    [
      'chancery_ocsp_answers_total{status="good"} 5',
      'chancery_ocsp_answers_total{status="try_later"} 1',
      "chancery_ocsp_kept_answers_total 4",
      'chancery_crl_builds_total{kind="complete",outcome="done"} 2',
      'chancery_crl_builds_total{kind="complete",outcome="failed"} 1',
      'chancery_crl_build_duration_seconds_total{kind="complete"} 0.5',
      'chancery_acme_orders_total{status="valid"} 1',
      'chancery_acme_orders_total{status="invalid"} 1',
      "chancery_acme_certificates_shortened_total 3",
      'chancery_acme_order_duration_seconds_bucket{le="2.5"} 1',
      'chancery_acme_order_duration_seconds_bucket{le="5"} 1',
      'chancery_acme_order_duration_seconds_bucket{le="10"} 1',
      'chancery_acme_order_duration_seconds_bucket{le="30"} 1',
      'chancery_acme_order_duration_seconds_bucket{le="60"} 1',
      'chancery_acme_order_duration_seconds_bucket{le="300"} 1',
      'chancery_acme_order_duration_seconds_bucket{le="3600"} 1',
      'chancery_acme_order_duration_seconds_bucket{le="+Inf"} 1',
      "chancery_acme_order_duration_seconds_sum 1.5",
      "chancery_acme_order_duration_seconds_count 1",
      'chancery_acme_validations_total{type="dns-01",result="valid"} 1',
      'chancery_acme_validations_total{type="dns-01",result="retried"} 1',
      'chancery_acme_validation_duration_seconds_bucket{type="dns-01",le="30"} 1',
      'chancery_acme_validation_duration_seconds_bucket{type="dns-01",le="+Inf"} 2',
      'chancery_acme_validation_duration_seconds_sum{type="dns-01"} 60',
      'chancery_acme_validation_duration_seconds_count{type="dns-01"} 2',
      'chancery_crl_last_build_duration_seconds{kind="complete"} 0.2',
    ].toSorted(),
  )
})

test("the table of the documentation has every metric", async () => {
  const metrics = createMetrics()
  registerAuthorities(metrics.meter, async () => figures)
  createOcspMetrics(metrics.meter)
  createCrlMetrics(metrics.meter).lastBuildSeconds.record(1, { kind: "delta" })
  recordOrder(createAcmeMetrics(metrics.meter), "valid", 1)
  recordValidation(createAcmeMetrics(metrics.meter), "dns-01", "valid", 1)
  const types = (await metrics.expose()).text.matchAll(/^# TYPE (chancery_\w+) /gm)
  const names = [...types].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(15)
  const operations = readFileSync(new URL("../../../../docs/operations.md", import.meta.url), "utf8")
  const table = new Set(
    [...operations.matchAll(/^\| `(chancery_(?:acme|pki|ocsp|crl)_\w+)` /gm)].map(([, name]) => name),
  )
  expect(names.filter((name) => !table.has(name))).toEqual([])
})
