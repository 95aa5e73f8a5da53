// CertificateSigningRequests of Kubernetes (API reference, certificates.k8s.io/v1).
import type { KubernetesObject, Resource } from "../../kube/kubernetes-object.ts"
import { issuerOfSigner } from "../signer-name.ts"

export const certificateSigningRequests: Resource = {
  group: "certificates.k8s.io",
  version: "v1",
  plural: "certificatesigningrequests",
  kind: "CertificateSigningRequest",
  scope: "Cluster",
}

export interface CertificateSigningRequestSpec {
  readonly signerName?: string
  /** Base64 of PEM. */
  readonly request?: string
  readonly expirationSeconds?: number
  readonly usages?: readonly string[]
  /** The user who created the request, set by the API server. */
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

export interface CertificateSigningRequestStatus {
  readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  /** Base64 of PEM. */
  readonly certificate?: string
}

export const specOf = ({ spec }: KubernetesObject): CertificateSigningRequestSpec => spec ?? {}
const statusOf = ({ status }: KubernetesObject): CertificateSigningRequestStatus => status ?? {}

/** Returns whether a signer of ours must answer the request: it is approved, and has not ended. */
export function awaitsSigner(object: KubernetesObject): boolean {
  const { conditions = [], certificate = "" } = statusOf(object)
  const isTrue = (type: string) => conditions.some((one) => one.type === type && one.status === "True")
  return (
    issuerOfSigner(specOf(object).signerName ?? "") !== undefined &&
    object.metadata.deletionTimestamp === undefined &&
    certificate === "" &&
    isTrue("Approved") &&
    !isTrue("Denied") &&
    !isTrue("Failed")
  )
}
