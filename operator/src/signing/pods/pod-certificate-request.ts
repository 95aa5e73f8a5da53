// PodCertificateRequests of Kubernetes (API reference, certificates.k8s.io; KEP-4317). Kubelets make them for the volumes of pods, and the
// private keys never leave the nodes.
import type { Role } from "@chancery/engine"
import { type CertificationRequest, readPublicKey } from "@chancery/engine/x509"
import type { PodCertificatesSpec } from "../../api/issuer.ts"
import type { KubernetesObject, Resource } from "../../kube/kubernetes-object.ts"
import { issuerOfSigner } from "../signer-name.ts"
import type { ChosenNames } from "../signing-request.ts"

/** Versions that have the API, the best first. */
export const podCertificateVersions = ["v1", "v1beta1"] as const

export const podCertificateRequests: Resource = {
  group: "certificates.k8s.io",
  version: "v1",
  plural: "podcertificaterequests",
  kind: "PodCertificateRequest",
}

export interface PodCertificateRequestSpec {
  readonly signerName?: string
  readonly podName?: string
  readonly serviceAccountName?: string
  /** Longest lifetime; the API server sets it. */
  readonly maxExpirationSeconds?: number
  /** Base64 of a DER CSR, whose signature the API server has verified. Kubernetes 1.35 has a bare public key instead. */
  readonly stubPKCS10Request?: string
  readonly unverifiedUserAnnotations?: Readonly<Record<string, string>>
}

export const specOf = ({ spec }: KubernetesObject): PodCertificateRequestSpec => spec ?? {}

/** Returns whether a signer of ours must answer the request. One with a condition has ended. */
export function awaitsSigner(object: KubernetesObject): boolean {
  const { conditions = [] } = (object["status"] ?? {}) as { readonly conditions?: readonly unknown[] }
  return (
    issuerOfSigner(specOf(object).signerName ?? "") !== undefined &&
    object.metadata.deletionTimestamp === undefined &&
    conditions.length === 0
  )
}

/** Returns the names of a pod's certificate: its SPIFFE id (SPIFFE-ID, section 2), and the DNS names of the issuer's templates. */
export function namesOf(
  { trustDomain, dnsNames = [] }: PodCertificatesSpec,
  { podName = "", serviceAccountName = "" }: PodCertificateRequestSpec,
  namespace: string,
): ChosenNames {
  const values: Readonly<Record<string, string>> = { podName, namespace, serviceAccountName }
  return {
    uris: [`spiffe://${trustDomain}/ns/${namespace}/sa/${serviceAccountName}`],
    dnsNames: dnsNames.map((template) =>
      template.replaceAll(/\$\(([a-zA-Z]+)\)/g, (whole, name) => values[name] ?? whole),
    ),
  }
}

const minuteMs = 60_000
const shortestMs = 60 * minuteMs
const secondMs = 1_000
const usualMaxSeconds = 86_400

/**
 * Returns the ttl to ask for: that of the role, cut to what the request permits. The API server checks the time from the begin of validity,
 * which is before issuance, to its last second, which the engine sets one second before the ttl ends. Returns undefined if the role's
 * lifetimes are below the hour that every certificate of a pod must have.
 */
export function ttlOf(
  { maxExpirationSeconds = usualMaxSeconds }: PodCertificateRequestSpec,
  role: Role,
): number | undefined {
  const { ttlMs, maxTtlMs, notBeforeDurationMs } = role
  const limits = [ttlMs, maxTtlMs].filter((limit) => limit > 0)
  const extraMs = notBeforeDurationMs - secondMs
  const ttl = Math.min(...limits, maxExpirationSeconds * secondMs - extraMs)
  return ttl + extraMs < shortestMs ? undefined : ttl
}

/** The API server accepts times from ten minutes after the begin to ten minutes before the end. */
const marginMs = 10 * minuteMs

/** Returns when a kubelet should ask for the next certificate: after two thirds of the lifetime. */
export function refreshAt(notBefore: number, notAfter: number): number {
  const wanted = notBefore + ((notAfter - notBefore) * 2) / 3
  return Math.min(Math.max(wanted, notBefore + marginMs), notAfter - marginMs)
}

/** Returns the name, as pods request it, of a key type that the role accepts, if it does not accept the key of the CSR. */
export function keyTypeInstead({ subjectPublicKeyInfo }: CertificationRequest, role: Role): string | undefined {
  const { algorithm: key } = readPublicKey(subjectPublicKeyInfo)
  const isAccepted =
    role.keyType === "any" || (key.type === role.keyType && (key.type === "ed25519" || key.bits >= role.keyBits))
  return isAccepted ? undefined : keyTypeOf(role)
}

function keyTypeOf({ keyType, keyBits }: Role): string {
  if (keyType === "rsa") return keyBits > 3_072 ? "RSA4096" : "RSA3072"
  return keyType === "ed25519" ? "ED25519" : `ECDSAP${keyBits < 256 ? 256 : keyBits}`
}
