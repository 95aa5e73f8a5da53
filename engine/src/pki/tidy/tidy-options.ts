// Options of a tidy run: the record types to delete, and how long each stays after its expiry
// (https://developer.hashicorp.com/vault/api-docs/secret/pki#tidy).
import type { Fault } from "../../core/errors.ts"
import { dayMs, hourMs, secondMs } from "../../core/time.ts"

/**
 * Operations, which are enabled independently. Those of clusters and protocols that this server does not have are accepted, and find
 * nothing.
 */
export const tidyOperations = [
  "tidyCertStore",
  "tidyRevokedCerts",
  "tidyInvalidCerts",
  "tidyRevokedCertIssuerAssociations",
  "tidyExpiredIssuers",
  "tidyCertMetadata",
  "tidyMoveLegacyCaBundle",
  "tidyAcme",
  "tidyRevocationQueue",
  "tidyCrossClusterRevokedCerts",
  "tidyCmpv2NonceStore",
] as const
export type TidyOperation = (typeof tidyOperations)[number]

export interface TidyOptions extends Readonly<Record<TidyOperation, boolean>> {
  /** Time that a certificate stays after its expiry. */
  readonly safetyBufferMs: number
  /** Time that a revoked certificate stays after its expiry. Null: `safetyBufferMs`. */
  readonly revokedSafetyBufferMs: number | null
  readonly issuerSafetyBufferMs: number
  readonly acmeAccountSafetyBufferMs: number
  readonly revocationQueueSafetyBufferMs: number
  /** Pause between pages. */
  readonly pauseDurationMs: number
  /** Number of rows in a page. */
  readonly pageSize: number
}

/** Options with derived values filled in. */
export type ResolvedTidyOptions = Omit<TidyOptions, "revokedSafetyBufferMs"> & {
  readonly revokedSafetyBufferMs: number
}

export const defaultTidyOptions: TidyOptions = {
  tidyCertStore: false,
  tidyRevokedCerts: false,
  tidyInvalidCerts: false,
  tidyRevokedCertIssuerAssociations: false,
  tidyExpiredIssuers: false,
  tidyCertMetadata: false,
  tidyMoveLegacyCaBundle: false,
  tidyAcme: false,
  tidyRevocationQueue: false,
  tidyCrossClusterRevokedCerts: false,
  tidyCmpv2NonceStore: false,
  safetyBufferMs: 72 * hourMs,
  revokedSafetyBufferMs: null,
  issuerSafetyBufferMs: 365 * dayMs,
  acmeAccountSafetyBufferMs: 30 * dayMs,
  revocationQueueSafetyBufferMs: 48 * hourMs,
  pauseDurationMs: 0,
  pageSize: 1_000,
}

export const resolvedTidyOptions = (options: TidyOptions): ResolvedTidyOptions => ({
  ...options,
  revokedSafetyBufferMs: options.revokedSafetyBufferMs ?? options.safetyBufferMs,
})

export const tidiesAnything = (options: TidyOptions): boolean => tidyOperations.some((name) => options[name])

/** Longer than any certificate's intended lifetime. */
const maxBufferMs = 100 * 366 * dayMs
const maxPauseMs = hourMs
const maxPageSize = 10_000

const buffers = [
  "safetyBufferMs",
  "revokedSafetyBufferMs",
  "issuerSafetyBufferMs",
  "acmeAccountSafetyBufferMs",
  "revocationQueueSafetyBufferMs",
] as const

export function tidyOptionFaults(options: TidyOptions): Fault[] {
  const faults: Fault[] = buffers.flatMap((name) => {
    const buffer = options[name]
    if (buffer === null || areWholeSeconds(buffer, maxBufferMs)) return []
    return [{ field: [name], detail: "must be a whole number of seconds, from one second to 100 years" }]
  })
  if (options.pauseDurationMs < 0 || options.pauseDurationMs > maxPauseMs)
    faults.push({ field: ["pauseDurationMs"], detail: "must not be longer than an hour" })
  if (options.pageSize < 1 || options.pageSize > maxPageSize)
    faults.push({ field: ["pageSize"], detail: `must be from 1 to ${maxPageSize}` })
  return faults
}

/** Returns true for whole seconds, at least one. */
export const areWholeSeconds = (durationMs: number, maxMs: number): boolean =>
  durationMs >= secondMs && durationMs <= maxMs && durationMs % secondMs === 0
