import { X509Certificate } from "node:crypto"
import type { Instant } from "../../core/time.ts"
import { CommandError, exitCodes } from "../exit-code.ts"
import type { Settings } from "../settings.ts"
import { firstIdentity } from "../tls-files.ts"
import { type Finding, fail, ok, roughly, warn } from "./finding.ts"

const check = "tls"
const lastPart = 0.1

export function tlsFindings({ tlsCert, tlsKey, tlsManaged }: Settings, now: Instant): readonly Finding[] {
  if (tlsManaged !== undefined) return [ok(check, "The server issues its TLS certificate to itself, and renews it.")]
  if (tlsCert === undefined || tlsKey === undefined) return []
  try {
    const { certificate } = firstIdentity({ certificate: tlsCert, privateKey: tlsKey }).current()
    return [certificateFinding(tlsCert, new X509Certificate(certificate), now)]
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    const advice = "Put a whole certificate chain and its key there; a running server takes them up by itself."
    return [fail(check, error.message, advice, exitCodes.configuration)]
  }
}

function certificateFinding(file: string, { validFromDate, validToDate }: X509Certificate, now: Instant): Finding {
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()]
  const advice = "Renew it, and see that whatever renews it runs; a running server takes the new one up by itself."
  if (to <= now) return fail(check, `The TLS certificate ${file} has been expired for ${roughly(now - to)}.`, advice)
  if (from > now) {
    const message = `The TLS certificate ${file} begins to count in ${roughly(from - now)}: until then clients refuse it.`
    return fail(check, message, "See to the clock of this machine, or put the certificate there that counts now.")
  }
  if (to - now < lastPart * (to - from)) {
    return warn(check, `The TLS certificate ${file} expires in ${roughly(to - now)}.`, advice)
  }
  return ok(check, `The TLS certificate ${file} and its key fit, and count for ${roughly(to - now)} more.`)
}
