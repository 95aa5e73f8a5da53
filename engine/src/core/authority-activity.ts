import { type AcmeActivity, noAcmeActivity } from "./acme-activity.ts"

/** What authorities have done in this process since the engine was opened; counted as it happens, read when someone asks for metrics. */
export interface AuthorityActivity {
  /** Answers of OCSP responders by what they say; of those about several certificates at once it is not told apart. */
  readonly ocspAnswers: Record<OcspOutcome, number>
  /** Of these, how many were at hand, signed. */
  ocspKeptCount: number
  readonly crlBuilds: Record<"complete" | "delta", CrlBuilds>
  readonly acme: AcmeActivity
}

export const ocspOutcomes = [
  "good",
  "revoked",
  "unknown",
  "several",
  "unauthorized",
  "malformed_request",
  "internal_error",
  "try_later",
] as const
export type OcspOutcome = (typeof ocspOutcomes)[number]

export interface CrlBuilds {
  doneCount: number
  failureCount: number
  /** Of all that were done. */
  durationMs: number
  /** Undefined before the first. */
  lastDurationMs: number | undefined
}

const noBuilds = (): CrlBuilds => ({ doneCount: 0, failureCount: 0, durationMs: 0, lastDurationMs: undefined })

export const noAuthorityActivity = (): AuthorityActivity => ({
  ocspAnswers: {
    good: 0,
    revoked: 0,
    unknown: 0,
    several: 0,
    unauthorized: 0,
    malformed_request: 0,
    internal_error: 0,
    try_later: 0,
  },
  ocspKeptCount: 0,
  crlBuilds: { complete: noBuilds(), delta: noBuilds() },
  acme: noAcmeActivity(),
})
