import { counted } from "../../core/text.ts"
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
    const advice =
      "Check that a server is running, search its log for crl-not-built, then rebuild the list: GET /v1/MOUNT/crl/rotate"
    if (isAhead(thisUpdate, now)) {
      const message = `${list} becomes valid only in ${roughly(thisUpdate - now)}: clients that check revocation reject its certificates.`
      troubles.push(fail(check, message, `Correct the clocks of all machines. ${advice}`))
    } else if (nextUpdate <= now) {
      const message = `${list} expired ${roughly(now - nextUpdate)} ago: clients that check revocation reject its certificates.`
      troubles.push(fail(check, message, advice))
    } else if (nextUpdate - now < lastPart * (nextUpdate - thisUpdate)) {
      troubles.push(warn(check, `${list} expires in ${roughly(nextUpdate - now)} and was not renewed.`, advice))
    }
  }
  if (leftOut > 0) {
    const advice = "Monitor the metrics of each mount, and delete unused mounts and issuers."
    troubles.push(
      warn(check, `${leftOut} issuers, lists or mounts were not checked, because there are too many.`, advice),
    )
  }
  const seen = `All are valid: ${counted(signing.length, "issuer")} and ${counted(lists.length, "revocation list")}.`
  return orOk(troubles, check, signing.length === 0 ? "No mount has an issuer with a key." : seen)
}

/**
 * Reports expired and soon expiring issuers. An expired issuer is only a warning if another issuer of its mount is valid for long enough.
 */
function issuerFindings(mount: string, issuers: readonly IssuerFigures[], now: Instant): readonly Finding[] {
  const successors = issuers.filter(({ notAfter }) => notAfter - now > soonMs)
  return issuers.flatMap(({ issuer, name, notAfter }) => {
    if (notAfter - now > soonMs) return []
    const which = `The issuer ${name ?? issuer} of ${mount}`
    const renewal = "Create or import its successor, and make it the default issuer (docs/authorities.md)."
    if (notAfter > now) return [warn(check, `${which} expires in ${roughly(notAfter - now)}.`, renewal)]
    const ago = `expired ${roughly(now - notAfter)} ago`
    if (successors.length > 0) {
      return [warn(check, `${which} ${ago} and no longer signs.`, "Delete it if no role or client names it.")]
    }
    return [fail(check, `${which} ${ago}, and no other issuer of the mount is valid for more than 30 days.`, renewal)]
  })
}
