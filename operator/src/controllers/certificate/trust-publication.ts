// Publishes the CAs to trust before another CA issues certificates, so that verifiers know it by then.
import { isRejection } from "../../kube/cluster.ts"
import type { Condition } from "../conditions.ts"
import { parseGoDuration } from "../../go-duration.ts"
import { configMaps } from "../../kube/kubernetes-object.ts"
import { rejectionMessage } from "../reconcile-result.ts"
import { inNamespaceOf, presentAt, put } from "../../kube/owned-objects.ts"
import { type CertificateContext, type CertificateParts, writerOf } from "./certificate-context.ts"
import { fingerprint, isSelfIssued } from "./stored-certificate.ts"
import type { KnownIssuer } from "./known-issuer.ts"
import { isAsWanted } from "./secret-layout.ts"
import {
  nextEnd,
  ownerOfBundle,
  takeoverAt,
  trustConfigMap,
  trusted,
  type TrustedAuthority,
  trustedIn,
} from "./trust-bundle.ts"

export interface Trust {
  /** True if the new CA may issue. */
  readonly isTakeoverDue: boolean
  /** Time at which the bundle must be checked again. */
  readonly nextAt?: number
  readonly condition?: Condition
  /** The API server rejects the ConfigMap. It is retried with a backoff. */
  readonly isRejected?: boolean
}

export async function publishTrust(
  parts: CertificateParts,
  one: CertificateContext,
  known: KnownIssuer | undefined,
): Promise<Trust> {
  try {
    return await published(parts, one, known)
  } catch (error) {
    if (!isRejection(error)) throw error
    const message = rejectionMessage(`the ConfigMap ${one.spec.trust?.publishTo.configMapName}`, error)
    await one.request.record({ type: "Warning", reason: "ConfigMapRejected", note: message })
    const condition = { type: "TrustPublished", status: "False", reason: "ConfigMapRejected", message } as const
    return { isTakeoverDue: false, isRejected: true, condition }
  }
}

async function published(
  parts: CertificateParts,
  one: CertificateContext,
  known: KnownIssuer | undefined,
): Promise<Trust> {
  const { object, spec, stored, request } = one
  const current = rootOf(known?.chain ?? [])
  if (spec.trust === undefined || current === undefined) return { isTakeoverDue: false }
  const name = spec.trust.publishTo.configMapName
  const key = inNamespaceOf(object, name)
  const present = await presentAt(parts, configMaps, key)
  if (present !== undefined && ownerOfBundle(present) !== object.metadata.name) {
    const message = `The ConfigMap ${name} already exists and does not belong to this Certificate; change configMapName, or delete the ConfigMap.`
    const condition = { type: "TrustPublished", status: "False", reason: "ConfigMapConflict", message } as const
    return { isTakeoverDue: false, condition }
  }
  const overlapMs = parseGoDuration(spec.trust.overlap) ?? 0
  // If the root was left out, `authorities` contains an intermediate of the current chain. That one is not an old CA.
  const inForce = new Set((known?.chain ?? []).map(fingerprint))
  const inUse = stored.is === "whole" ? stored.authorities.filter((der) => !inForce.has(fingerprint(der))) : []
  const authorities = trusted(trustedIn(present), { current, inUse, overlapMs, now: request.now })
  const wanted = trustConfigMap(name, object, authorities, present)
  if (!isAsWanted(wanted, present)) await put(parts, writerOf(one), configMaps, wanted)
  return trustOf(authorities, overlapMs, request.now)
}

function trustOf(authorities: readonly TrustedAuthority[], overlapMs: number, now: number): Trust {
  const takeover = takeoverAt(authorities, overlapMs)
  const next = [takeover, nextEnd(authorities, now)].flatMap((at) => (at !== undefined && at > now ? [at] : []))
  return {
    isTakeoverDue: takeover === undefined || takeover <= now,
    ...(next.length === 0 ? {} : { nextAt: Math.min(...next) }),
    condition: {
      type: "TrustPublished",
      status: "True",
      reason: authorities.length > 1 ? "AuthoritiesOverlap" : "TrustPublished",
      message: authorities.length > 1 ? "The old and the new authority are published." : "The authority is published.",
    },
  }
}

/** Returns the trust anchor of a chain; undefined if the chain is empty. */
export const rootOf = (chain: readonly Uint8Array[]): Uint8Array | undefined =>
  chain.findLast(isSelfIssued) ?? chain.at(-1)
