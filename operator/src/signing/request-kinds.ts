// Requests of other API groups that the operator can answer.
import { clusterIssuer, issuer } from "../api/issuer.ts"
import type { Reference, RequestKind } from "../controllers/controllers.ts"
import { certificateRequests } from "./cert-manager/certificate-request.ts"
import { answerCertificateRequests, issuerOfRequest } from "./cert-manager/certificate-requests.ts"

/** Requests are repeated when their issuer becomes ready. */
const issuerReferences: readonly Reference[] = [
  { resource: issuer, index: "issuer", valueFor: (key) => `Issuer/${key}` },
  { resource: clusterIssuer, index: "issuer", valueFor: (key) => `ClusterIssuer/${key}` },
]

/** Kinds of requests by the name that enables them. */
export const requestKinds = {
  "cert-manager": {
    resource: certificateRequests,
    indexes: { issuer: issuerOfRequest },
    refersTo: issuerReferences,
    answerer: ({ engines, storeOf, runtime }) =>
      answerCertificateRequests({ engines, storeOf, now: () => runtime.clock.now() }),
  },
} as const satisfies Readonly<Record<string, RequestKind>>

export type RequestKindName = keyof typeof requestKinds

export const requestKindNames = Object.keys(requestKinds) as readonly RequestKindName[]

export const isRequestKindName = (name: string): name is RequestKindName => Object.hasOwn(requestKinds, name)
