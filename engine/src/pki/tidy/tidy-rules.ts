// What may go, and what has to stay a while.
import type { Instant } from "../../core/time.ts"
import type { CompleteCrl, CrlKey } from "../crl/crl-store.ts"
import { shardOf } from "../crl/shard.ts"
import type { ParsedIssuer } from "../issuers/held-issuer.ts"
import type { EndedRevocation } from "../revoke/revocation.ts"
import type { ResolvedTidyOptions } from "./tidy-options.ts"
import { type TidyPhase, tidyPhases, type TidyProgress } from "./tidy-run.ts"

type Buffers = Pick<ResolvedTidyOptions, "safetyBufferMs" | "revokedSafetyBufferMs" | "issuerSafetyBufferMs">

/** The end is the last moment of validity (RFC 5280, section 4.1.2.5), so that it has passed only afterwards. */
const hasEnded = (notAfter: Instant, bufferMs: number, now: Instant): boolean => now > notAfter + bufferMs

export const isCertificateDue = (
  { notAfter, isRevoked }: { readonly notAfter: Instant; readonly isRevoked: boolean },
  { safetyBufferMs, revokedSafetyBufferMs }: Buffers,
  now: Instant,
): boolean => hasEnded(notAfter, isRevoked ? revokedSafetyBufferMs : safetyBufferMs, now)

/** Whatever ended before it may be due, and nothing else. */
export const earliestEnd = ({ safetyBufferMs, revokedSafetyBufferMs }: Buffers, now: Instant): Instant =>
  now - Math.min(safetyBufferMs, revokedSafetyBufferMs)

/** A complete list, or a part of one, that is published and will be again. */
export interface PublishedList {
  readonly key: Pick<CrlKey, "list" | "shard">
  readonly complete: Pick<CompleteCrl, "covered" | "thisUpdate" | "nextUpdate">
}

/**
 * `listed-first`: an entry stays until a complete list that was made after the end of the certificate had it (RFC 5280, section
 * 3.3), and every list that it is on is one. A list whose time is over is not waited for: it could not be made again, because
 * it had grown too long, and will never be unless entries go.
 */
export function revocationDue(
  revocation: EndedRevocation,
  lists: readonly PublishedList[],
  { revokedSafetyBufferMs }: Buffers,
  now: Instant,
): "due" | "early" | "listed-first" {
  const { serialNumber, list, number, notAfter } = revocation
  if (!hasEnded(notAfter, revokedSafetyBufferMs, now)) return "early"
  const hadIt = lists
    .filter(({ key }) => key.list === list && shardOf(serialNumber, key.shard.count).index === key.shard.index)
    .filter(({ complete }) => complete.nextUpdate > now)
    .every(({ complete }) => complete.thisUpdate > notAfter && complete.covered >= number)
  return hadIt ? "due" : "listed-first"
}

/** Whatever is default is used, expired or not. */
export const expiredIssuers = (
  issuers: readonly ParsedIssuer[],
  defaultId: ParsedIssuer["id"] | null,
  { issuerSafetyBufferMs }: Buffers,
  now: Instant,
): readonly ParsedIssuer[] =>
  issuers.filter(({ id, parsed }) => id !== defaultId && hasEnded(parsed.notAfter, issuerSafetyBufferMs, now))

const operations: Readonly<Record<TidyPhase, keyof ResolvedTidyOptions>> = {
  associations: "tidyRevokedCertIssuerAssociations",
  certificates: "tidyCertStore",
  "invalid certificates": "tidyInvalidCerts",
  revocations: "tidyRevokedCerts",
  metadata: "tidyCertMetadata",
  issuers: "tidyExpiredIssuers",
  "ACME orders": "tidyAcme",
  "ACME accounts": "tidyAcme",
}

/** Where a run begins, or goes on after a phase. */
export function nextPhase(options: ResolvedTidyOptions, done?: TidyPhase): TidyProgress {
  const left = tidyPhases.slice(done === undefined ? 0 : tidyPhases.indexOf(done) + 1)
  return { phase: left.find((phase) => options[operations[phase]] === true), after: "" }
}
