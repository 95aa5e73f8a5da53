// Plan of an issuer's list, derived from the mount, and the decision whether the published list is still current.
import type { MountSnapshot } from "../mounts/mount-snapshot.ts"
import { filledUrls } from "../issuers/authority-urls.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"
import { revocationSignatureAlgorithm } from "../issuers/issuer-signer.ts"
import type { Extension } from "../../x509/extension.ts"
import { freshestCrl } from "../../x509/distribution-points.ts"
import { issuingDistributionPoint } from "../../x509/certificate-list.ts"
import { authorityKeyIdentifier } from "../../x509/extensions.ts"
import { sha256 } from "../../x509/digest.ts"
import type { SignatureAlgorithm } from "../../x509/signature-algorithm.ts"
import { type Instant, isAhead } from "../../core/time.ts"
import { crlListOf } from "./crl-list.ts"
import type { CrlSettings } from "./crl-settings.ts"
import type { CrlKey, CrlState, PublishedCrl } from "./crl-repository.ts"
import { type Shard, shardUrl } from "./shard.ts"

export interface CrlPlan {
  readonly key: CrlKey
  readonly signer: ParsedIssuer
  readonly algorithm: SignatureAlgorithm
  readonly settings: CrlSettings
  /** Extensions of the complete list and of the delta, without their numbers. */
  readonly extensions: { readonly complete: readonly Extension[]; readonly delta: readonly Extension[] }
  /** Digest of all of this. A published list with another digest is replaced. */
  readonly content: string
  /** The list also contains certificates whose issuer is not in the mount. */
  readonly adopts: boolean
  /** Last CRL number of another CA with this key. The numbers of the mount's lists are higher. */
  readonly numberFloor: number
}

/** Returns the issuers that share a list: those with the same subject and key. */
const sharing = ({ issuers }: MountSnapshot, issuer: ParsedIssuer): readonly ParsedIssuer[] =>
  issuers.filter((other) => crlListOf(other) === crlListOf(issuer))

/** Returns an issuer of the list that has the key and the usage `crl-signing`. Its key identifier may differ from that of the others. */
export const crlSignerOf = (snapshot: MountSnapshot, issuer: ParsedIssuer): ParsedIssuer | undefined =>
  sharing(snapshot, issuer).find(({ keyId, settings }) => keyId !== null && settings.usage.includes("crl-signing"))

/** Returns undefined if no issuer can sign the list, or if a shard has no URL. */
export function planOf(snapshot: MountSnapshot, issuer: ParsedIssuer, shard: Shard): CrlPlan | undefined {
  const signer = crlSignerOf(snapshot, issuer)
  if (signer === undefined) return undefined
  const { crl: settings } = snapshot.settings
  const group = sharing(snapshot, issuer)
  const key = { mountId: snapshot.mount.id, list: crlListOf(signer), shard }
  const urls = group.map((one) => filledUrls(one, snapshot.settings).urls)
  const points = unique(urls.flatMap((each) => each.crlDistributionPoints))
  const deltaPoints = unique(urls.flatMap((each) => each.deltaCrlDistributionPoints))
  // Without its URL a shard would be taken for the whole list (RFC 5280, section 5.2.5), and no certificate refers to it.
  if (shard.count > 1 && points.length === 0) return undefined
  const own: Extension[] = [authorityKeyIdentifier(signer.keyIdentifier)]
  if (shard.count > 1) own.push(issuingDistributionPoint(points.map((url) => shardUrl(url, shard))))
  const freshest = deltaPoints.map((url) => shardUrl(url, shard))
  const extensions = {
    complete: settings.enableDelta && freshest.length > 0 ? [...own, freshestCrl([freshest])] : own,
    delta: own,
  }
  const algorithm = revocationSignatureAlgorithm(signer)
  return {
    key,
    signer,
    algorithm,
    settings,
    extensions,
    adopts: group.some(({ id }) => id === snapshot.settings.issuers.default),
    numberFloor: snapshot.settings.crlHistory.numberFloors[key.list] ?? 0,
    content: contentOf([signer.id, algorithm, settings.disable, settings.expiryMs, ...extensions.complete]),
  }
}

const unique = (urls: readonly string[]): readonly string[] => [...new Set(urls)]

const contentOf = (parts: readonly (string | number | boolean | Extension)[]): string =>
  sha256(
    Buffer.from(
      parts
        .map((part) => (typeof part === "object" ? `${part.oid}=${Buffer.from(part.value).toString("hex")}` : part))
        .join("\n"),
    ),
  ).slice(0, 16)

/** State of a list at the time of a request. */
export interface CrlFacts {
  readonly state: CrlState | undefined
  /** Highest number of a revocation on the list. */
  readonly latest: number
  readonly now: Instant
}

/** Returns true for a list that a server published while its clock was ahead. Verifiers reject it (RFC 5280, section 6.3.3). */
export const isNotYetValid = ({ thisUpdate }: Pick<PublishedCrl, "thisUpdate">, now: Instant): boolean =>
  isAhead(thisUpdate, now)

/** `reader`: decides whether a list may be served. `job`: decides whether to build it before clients request it. */
export type RequestedBy = "reader" | "job"

/** Minimum age of a list before the job replaces it. Readers do not wait for it. */
export const jobPauseMs = 5_000

export function isCompleteDue(plan: CrlPlan, { state, latest, now }: CrlFacts, by: RequestedBy): boolean {
  const complete = state?.complete
  if (state === undefined || complete === undefined || complete.content !== plan.content) return true
  const { autoRebuild, autoRebuildGracePeriodMs } = plan.settings
  const { thisUpdate, nextUpdate, covered, removals } = complete
  if (now >= nextUpdate || complete.number <= plan.numberFloor || isNotYetValid(complete, now)) return true
  if (autoRebuild) return now >= nextUpdate - autoRebuildGracePeriodMs
  const isBehind = covered < latest
  if (by === "reader") return isBehind
  const isOld = now - thisUpdate >= (nextUpdate - thisUpdate) / 2
  return isOld || (now - thisUpdate >= jobPauseMs && (isBehind || removals !== state.removals))
}

export function isDeltaDue(plan: CrlPlan, { state, now }: CrlFacts): boolean {
  const { delta, complete } = state ?? {}
  if (delta === undefined || complete === undefined) return true
  return (
    delta.content !== plan.content ||
    delta.baseNumber !== complete.number ||
    isNotYetValid(delta, now) ||
    now >= delta.thisUpdate + plan.settings.deltaRebuildIntervalMs
  )
}
