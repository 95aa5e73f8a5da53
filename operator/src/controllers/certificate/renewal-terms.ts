import { sha256 } from "@chancery/engine/x509"
import { parseGoDuration } from "../../go-duration.ts"
import type { CertificateSpec } from "../../api/certificate.ts"
import type { KubernetesObject } from "../../kube/kubernetes-object.ts"
import type { StoredCertificate } from "./stored-certificate.ts"
import { type RenewalTime, renewalTime, type RenewalWindow, windowProblem } from "./renewal.ts"

type Windows = NonNullable<CertificateSpec["renewalWindows"]>

const windowOf = ({ cron, duration, timezone }: Windows[number]): RenewalWindow => ({
  cron,
  timezone,
  durationMs: parseGoDuration(duration) ?? 0,
})

/** Returns a fault of the renewal windows that the schema cannot express; undefined if there is none. */
export function windowsProblem({ renewalWindows = [] }: CertificateSpec): string | undefined {
  for (const [index, window] of renewalWindows.entries()) {
    const problem = windowProblem(windowOf(window))
    if (problem !== undefined) return `spec.renewalWindows[${index}]: ${problem}`
  }
  return undefined
}

/** Returns undefined if renewal is disabled. */
export function renewalFor(
  { metadata: { uid } }: KubernetesObject,
  spec: CertificateSpec,
  { stored, revision, now }: { readonly stored: StoredCertificate; readonly revision: number; readonly now: number },
): RenewalTime | undefined {
  if (spec.renewalPolicy === "Disabled") return undefined
  const terms = {
    renewBeforeMs: spec.renewBefore === undefined ? undefined : parseGoDuration(spec.renewBefore),
    renewBeforePercentage: spec.renewBeforePercentage,
    windows: (spec.renewalWindows ?? []).map(windowOf),
  }
  return renewalTime(stored.leaf, terms, shareOf(`${uid}:${revision}`), now)
}

/** Returns when the certificate is close to its expiry, regardless of `renewalPolicy` and `renewalWindows`. */
export const dueAt = (
  object: KubernetesObject,
  { renewalWindows: _, ...spec }: CertificateSpec,
  of: Parameters<typeof renewalFor>[2],
): number | undefined => renewalFor(object, { ...spec, renewalPolicy: "Auto" }, of)?.at

/** Returns a number in [0, 1), always the same for the same text. */
export const shareOf = (text: string): number => Number.parseInt(sha256(Buffer.from(text)).slice(0, 12), 16) / 2 ** 48
