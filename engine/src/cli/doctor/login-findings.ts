import type { AuthMethodFacts } from "../../storage/maintenance/login-survey.ts"
import type { Settings } from "../settings.ts"
import { type Finding, fail, orOk, warn } from "./finding.ts"

const check = "logins"

/** Checks how client certificates reach the server with these settings. A method without roles accepts no certificate. */
export function loginFindings(
  { deviceListen, trustedProxies }: Pick<Settings, "deviceListen" | "trustedProxies">,
  methods: readonly AuthMethodFacts[],
): readonly Finding[] {
  const used = methods.filter(({ certificateRoles }) => certificateRoles.length > 0).map(({ path }) => `auth/${path}`)
  const findings = proxyFindings(trustedProxies, used)
  if (used.length === 0) return orOk(findings, check, "No auth method accepts client certificates.")
  const isProxied = trustedProxies.unix || trustedProxies.ranges.length > 0
  if (deviceListen !== undefined || isProxied)
    return orOk(findings, check, "Client certificates can reach the server by these settings.")
  return [
    ...findings,
    warn(
      check,
      `Client certificates can log in at ${used.join(", ")}, but none reaches a server with these settings.`,
      "Set --device-listen, or --trusted-proxies if a proxy reports the certificates (docs/client-certificates.md). It is no fault if other servers of the store have one of them.",
    ),
  ]
}

/** A range that contains every address trusts every client to name its own address and certificate. */
function proxyFindings({ ranges }: Settings["trustedProxies"], used: readonly string[]): readonly Finding[] {
  if (ranges.every(({ prefixBits }) => prefixBits > 0)) return []
  const advice = "Set --trusted-proxies to the addresses of the proxies alone."
  const message = "The setting trusted-proxies contains every address: any client can claim any address"
  return used.length === 0
    ? [warn(check, `${message}.`, advice)]
    : [fail(check, `${message} and any certificate, and log in as any client of ${used.join(", ")}.`, advice)]
}
