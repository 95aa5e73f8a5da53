// CertificateRequests of cert-manager, as an external issuer handles them (cert-manager documentation, "Implementing External Issuers" and
// "CertificateRequest resource").
import type { KubernetesObject, Resource } from "../../kube/kubernetes-object.ts"

export const certificateRequests: Resource = {
  group: "cert-manager.io",
  version: "v1",
  plural: "certificaterequests",
  kind: "CertificateRequest",
}

export interface CertificateRequestSpec {
  /** Base64 of PEM. */
  readonly request?: string
  /** A Go duration. */
  readonly duration?: string
  readonly isCA?: boolean
  readonly usages?: readonly string[]
  readonly issuerRef?: { readonly group?: string; readonly kind?: string; readonly name?: string }
}

export interface RequestCondition {
  readonly type: string
  readonly status: "True" | "False" | "Unknown"
  readonly reason: string
  readonly message: string
  readonly lastTransitionTime?: string
}

export interface CertificateRequestStatus {
  readonly conditions?: readonly RequestCondition[]
  /** Base64 of PEM: the certificate, then its chain without the root. */
  readonly certificate?: string
  /** Base64 of PEM. */
  readonly ca?: string
  readonly failureTime?: string
}

/** Step for a request: none, since it belongs to another issuer, waits for an approval, or has ended; or record its denial; or sign. */
export type RequestStep = "ignore" | "deny" | "sign"

const group = "chancery.dev"
const issuerKinds: readonly unknown[] = ["Issuer", "ClusterIssuer"]

export const specOf = ({ spec }: KubernetesObject): CertificateRequestSpec => spec ?? {}
export const statusOf = ({ status }: KubernetesObject): CertificateRequestStatus => status ?? {}

/** cert-manager takes a missing kind for `Issuer`. */
export const isOwn = ({ issuerRef = {} }: CertificateRequestSpec): boolean =>
  issuerRef.group === group && issuerKinds.includes(issuerRef.kind ?? "Issuer")

/** A request that was denied stays denied, also if it is approved as well. */
export function stepOf(object: KubernetesObject): RequestStep {
  const { conditions = [] } = statusOf(object)
  const isTrue = (type: string) => conditions.some((one) => one.type === type && one.status === "True")
  const ready = conditions.find(({ type }) => type === "Ready")
  if (!isOwn(specOf(object)) || object.metadata.deletionTimestamp !== undefined) return "ignore"
  if (ready?.status === "True" || ready?.reason === "Failed" || ready?.reason === "Denied") return "ignore"
  if (isTrue("Denied")) return "deny"
  if (!isTrue("Approved")) return "ignore"
  return "sign"
}
