import { dayMs, type Instant, isAhead } from "../../core/time.ts"
import type { AuthorityFigures, IssuerFigures } from "../../pki/statistics/mount-metrics.ts"
import { type Finding, fail, orOk, roughly, warn } from "./finding.ts"

const check = "authorities"
/** Thresholds of the alerts. */
const soonMs = 30 * dayMs
const lastPart = 0.1

export function authorityFindings({ issuers, lists, leftOut }: AuthorityFigures, now: Instant): readonly Finding[] {
  const signing = issuers.filter(({ hasKey }) => hasKey)
  const troubles = [...Map.groupBy(signing, ({ mount }) => mount)].flatMap(([mount, ofMount]) =>
    issuerFindings(mount, ofMount, now),
  )
  for (const { mount, issuer, kind, thisUpdate, nextUpdate } of lists) {
    const list = `The ${kind} revocation list of ${issuer} in ${mount}`
    const advice = "See that a server runs, and its log for crl-not-built; then have it made: GET /v1/MOUNT/crl/rotate"
    if (isAhead(thisUpdate, now)) {
      const message = `${list} is not valid for another ${roughly(thisUpdate - now)}: clients that look refuse its certificates.`
      troubles.push(fail(check, message, `Set the clocks of all machines right. ${advice}`))
    } else if (nextUpdate <= now) {
      const message = `${list} has been out of date for ${roughly(now - nextUpdate)}: clients that look refuse its certificates.`
      troubles.push(fail(check, message, advice))
    } else if (nextUpdate - now < lastPart * (nextUpdate - thisUpdate)) {
      troubles.push(warn(check, `${list} counts for ${roughly(nextUpdate - now)} only, and was not renewed.`, advice))
    }
  }
  if (leftOut > 0) {
    const advice = "Watch the metrics of each mount, and remove what is not used."
    troubles.push(warn(check, `${leftOut} issuers, lists or mounts are beyond what is looked at here.`, advice))
  }
  const seen = `${signing.length} issuers and ${lists.length} revocation lists are in date.`
  return orOk(troubles, check, signing.length === 0 ? "No mount has an issuer that signs." : seen)
}

/**
 * Reports expired and soon expiring issuers. An expired issuer is only a warning if another issuer of its mount is valid for long enough.
 */
function issuerFindings(mount: string, issuers: readonly IssuerFigures[], now: Instant): readonly Finding[] {
  const successors = issuers.filter(({ notAfter }) => notAfter - now > soonMs)
  return issuers.flatMap(({ issuer, name, notAfter }) => {
    if (notAfter - now > soonMs) return []
    const which = `The issuer ${name ?? issuer} of ${mount}`
    const renewal = "Make or import its successor, and make that the default: docs/authorities.md."
    if (notAfter > now) return [warn(check, `${which} expires in ${roughly(notAfter - now)}.`, renewal)]
    const ago = `has been expired for ${roughly(now - notAfter)}`
    if (successors.length > 0) {
      return [warn(check, `${which} ${ago}, and signs nothing any more.`, "Delete it if no role or client names it.")]
    }
    return [fail(check, `${which} ${ago}, and no other of the mount is good for long.`, renewal)]
  })
}
