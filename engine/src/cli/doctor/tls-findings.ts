import { X509Certificate } from "node:crypto"
import type { Instant } from "../../core/time.ts"
import { CommandError, exitCodes } from "../exit-code.ts"
import type { Settings } from "../settings.ts"
import { firstIdentity } from "../tls-files.ts"
import { type Finding, fail, ok, roughly, warn } from "./finding.ts"

const check = "tls"
const lastPart = 0.1

export function tlsFindings({ tlsCert, tlsKey, tlsManaged }: Settings, now: Instant): readonly Finding[] {
  if (tlsManaged !== undefined) return [ok(check, "The server issues and renews its own TLS certificate.")]
  if (tlsCert === undefined || tlsKey === undefined) return []
  try {
    const { certificate } = firstIdentity({ certificate: tlsCert, privateKey: tlsKey }).current()
    return [certificateFinding(tlsCert, new X509Certificate(certificate), now)]
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    const advice =
      "Replace the files with a complete certificate chain and its key; a running server loads them by itself."
    return [fail(check, error.message, advice, exitCodes.configuration)]
  }
}

function certificateFinding(file: string, { validFromDate, validToDate }: X509Certificate, now: Instant): Finding {
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()]
  const advice = "Renew it, and check the tool that renews it; a running server loads the new certificate by itself."
  if (to <= now) return fail(check, `The TLS certificate ${file} expired ${roughly(now - to)} ago.`, advice)
  if (from > now) {
    const message = `The TLS certificate ${file} becomes valid in ${roughly(from - now)}: clients reject it until then.`
    return fail(check, message, "Check the clock of this machine, or replace the certificate with a valid one.")
  }
  if (to - now < lastPart * (to - from)) {
    return warn(check, `The TLS certificate ${file} expires in ${roughly(to - now)}.`, advice)
  }
  return ok(check, `The TLS certificate ${file} and its key match, and are valid for another ${roughly(to - now)}.`)
}
