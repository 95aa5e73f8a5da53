// CA certificates to trust while an issuer's CA changes: the old and the new one. The old one stays until the overlap is over and no
// certificate in use depends on it. All state is in the ConfigMap itself.
import type { Instant } from "@chancery/engine"
import { writePem } from "@chancery/engine/x509"
import { type KubernetesObject, secondTime } from "../../kube/kubernetes-object.ts"
import { labels } from "../../kube/owned-objects.ts"
import { certificatesIn, fingerprint } from "./stored-certificate.ts"

export interface TrustedAuthority {
  /** DER. */
  readonly certificate: Uint8Array
  /** Earliest removal; undefined for the current CA. */
  readonly until: Instant | undefined
}

export interface TrustTerms {
  /** DER: root of future certificates. */
  readonly current: Uint8Array
  /** DER: roots of the certificate in use. */
  readonly inUse: readonly Uint8Array[]
  readonly overlapMs: number
  readonly now: Instant
}

/** A CA does not change more often at a time. */
const maxAuthorities = 16

/** Returns the CAs to publish, the current one first, then the newest. */
export function trusted(
  before: readonly TrustedAuthority[],
  { current, inUse, overlapMs, now }: TrustTerms,
): readonly TrustedAuthority[] {
  const used = new Set(inUse.map(fingerprint))
  const own = fingerprint(current)
  const published = new Set(before.map(({ certificate }) => fingerprint(certificate)))
  const missing = inUse.filter((certificate) => !published.has(fingerprint(certificate)))
  const until = Math.ceil((now + overlapMs) / 1_000) * 1_000
  const old = [...before, ...missing.map((certificate) => ({ certificate, until: undefined }))]
    .filter(({ certificate }) => fingerprint(certificate) !== own)
    .map((each) => ({ certificate: each.certificate, until: each.until ?? until }))
    .filter((each) => each.until > now || used.has(fingerprint(each.certificate)))
    .toSorted((one, other) => other.until - one.until)
  return [{ certificate: current, until: undefined }, ...old].slice(0, maxAuthorities)
}

/** Returns when the new CA may issue: after half of the overlap, so that verifiers have time to load it. */
export const takeoverAt = (authorities: readonly TrustedAuthority[], overlapMs: number): Instant | undefined => {
  const [latest] = authorities.flatMap(({ until }) => until ?? [])
  return latest === undefined ? undefined : latest - overlapMs / 2
}

/** Returns the next time at which the bundle changes by itself. */
export const nextEnd = (authorities: readonly TrustedAuthority[], now: Instant): Instant | undefined =>
  authorities.flatMap(({ until }) => (until !== undefined && until > now ? [until] : [])).toSorted((a, b) => a - b)[0]

const key = "ca.crt"
const annotationNames = { owner: "chancery.dev/certificate-name", until: "chancery.dev/trusted-until" }

export const ownerOfBundle = (configMap: KubernetesObject): string | undefined =>
  configMap.metadata.annotations?.[annotationNames.owner]

/** Returns the published CAs; empty if the ConfigMap is missing or cannot be parsed. */
export function trustedIn(configMap: KubernetesObject | undefined): readonly TrustedAuthority[] {
  const pem = (configMap?.["data"] as Readonly<Record<string, string>> | undefined)?.[key]
  return configMap === undefined || pem === undefined ? [] : trustedInPem(configMap, pem)
}

/** Returns the CAs of a text (PEM) in the object; empty if it cannot be parsed. */
export function trustedInPem({ metadata }: KubernetesObject, pem: string): readonly TrustedAuthority[] {
  try {
    const ends = JSON.parse(metadata.annotations?.[annotationNames.until] ?? "{}") as Record<string, string>
    return certificatesIn(pem).map((certificate) => {
      const until = Date.parse(ends[fingerprint(certificate)] ?? "")
      return { certificate, until: Number.isNaN(until) ? undefined : until }
    })
  } catch {
    return []
  }
}

/** Returns the annotation that `trustedInPem` reads. */
export function untilAnnotation(authorities: readonly TrustedAuthority[]): Readonly<Record<string, string>> {
  const ends = authorities.flatMap(({ certificate, until }) =>
    until === undefined ? [] : [[fingerprint(certificate), secondTime(until)]],
  )
  return { [annotationNames.until]: JSON.stringify(Object.fromEntries(ends)) }
}

export const trustedPem = (authorities: readonly TrustedAuthority[]): string =>
  authorities.map(({ certificate }) => `${writePem("CERTIFICATE", certificate)}\n`).join("")

export function trustConfigMap(
  name: string,
  certificate: KubernetesObject,
  authorities: readonly TrustedAuthority[],
  present: KubernetesObject | undefined,
): KubernetesObject {
  const { namespace, uid, name: owner } = certificate.metadata
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(present?.metadata.uid === undefined ? {} : { uid: present.metadata.uid }),
      labels,
      annotations: {
        [annotationNames.owner]: owner,
        ...untilAnnotation(authorities),
      },
      ownerReferences: [
        {
          apiVersion: "chancery.dev/v1alpha1",
          kind: "Certificate",
          name: owner,
          uid,
          controller: true,
          blockOwnerDeletion: false,
        },
      ],
    },
    data: { [key]: trustedPem(authorities) },
  }
}
