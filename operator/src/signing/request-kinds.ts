// Requests of other API groups that the operator can answer.
import { clusterIssuer, issuer } from "../api/issuer.ts"
import type { Reference, RequestKind } from "../controllers/controllers.ts"
import type { Resource } from "../kube/kubernetes-object.ts"
import { certificateRequests } from "./cert-manager/certificate-request.ts"
import { answerCertificateRequests, issuerOfRequest } from "./cert-manager/certificate-requests.ts"
import { certificateSigningRequests } from "./kubernetes/certificate-signing-request.ts"
import { answerCertificateSigningRequests, issuerOfSigningRequest } from "./kubernetes/certificate-signing-requests.ts"
import { podCertificateRequests, podCertificateVersions } from "./pods/pod-certificate-request.ts"
import { answerPodCertificateRequests, issuerOfPodRequest } from "./pods/pod-certificate-requests.ts"

/** Requests are repeated when their issuer becomes ready. */
const refersTo: readonly Reference[] = [
  { resource: issuer, index: "issuer", valueFor: (key) => `Issuer/${key}` },
  { resource: clusterIssuer, index: "issuer", valueFor: (key) => `ClusterIssuer/${key}` },
]

/** Kinds of requests by the name that enables them. */
const requestKinds = {
  "cert-manager": {
    resource: certificateRequests,
    indexes: { issuer: issuerOfRequest },
    refersTo,
    answerer: ({ runtime, ...parts }) => answerCertificateRequests({ ...parts, now: () => runtime.clock.now() }),
  },
  csr: {
    resource: certificateSigningRequests,
    indexes: { issuer: issuerOfSigningRequest },
    refersTo,
    answerer: ({ runtime, ...parts }) => answerCertificateSigningRequests({ ...parts, now: () => runtime.clock.now() }),
  },
  pods: {
    resource: podCertificateRequests,
    indexes: { issuer: issuerOfPodRequest },
    refersTo,
    answerer: ({ runtime, ...parts }) => answerPodCertificateRequests({ ...parts, now: () => runtime.clock.now() }),
  },
} as const satisfies Readonly<Record<string, RequestKind>>

export type RequestKindName = keyof typeof requestKinds

export const requestKindNames: readonly string[] = Object.keys(requestKinds)

export const isRequestKindName = (name: string): name is RequestKindName => Object.hasOwn(requestKinds, name)

/** Reads which version of a resource the server has. */
export type VersionLookup = (resource: Resource, versions: readonly [string, ...string[]]) => Promise<Resource>

export const requestKindsOf = (
  names: readonly RequestKindName[],
  servedVersion: VersionLookup,
): Promise<readonly RequestKind[]> =>
  Promise.all(
    names.map(async (name): Promise<RequestKind> => {
      const kind: RequestKind = requestKinds[name]
      return name === "pods" ? { ...kind, resource: await servedVersion(kind.resource, podCertificateVersions) } : kind
    }),
  )
