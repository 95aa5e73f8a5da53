// Publishes the roots of each issuer as the ClusterTrustBundle of its signer, which pods mount (API reference, certificates.k8s.io; KEP-3257).
import type { Instant } from "@chancery/engine"
import { certificatesIn, isSelfIssued } from "../certificate/stored-certificate.ts"
import { nextEnd, trusted, trustedInPem, trustedPem, untilAnnotation } from "../certificate/trust-bundle.ts"
import type { Cluster } from "../../kube/cluster.ts"
import type { KubernetesObject, Resource } from "../../kube/kubernetes-object.ts"
import type { ObjectStore } from "../../kube/object-store.ts"
import { labels } from "../../kube/owned-objects.ts"
import { signerNameOf, type SigningIssuer } from "../../signing/signer-name.ts"

export const clusterTrustBundles: Resource = {
  group: "certificates.k8s.io",
  version: "v1",
  plural: "clustertrustbundles",
  kind: "ClusterTrustBundle",
  scope: "Cluster",
}

/** Versions that have the API, the best first. */
export const trustBundleVersions = ["v1", "v1beta1"] as const

/** Name of the bundle. The API requires the name of the signer as its prefix. */
export const bundleNameOf = (issuer: SigningIssuer): string => `${signerNameOf(issuer).replace("/", ":")}:roots`

export interface TrustBundleParts {
  readonly cluster: Pick<Cluster, "apply">
  /** Cache of the operator's own bundles. */
  readonly store: Pick<ObjectStore, "get">
  readonly resource: Resource
}

export interface PublishedRoots {
  readonly issuer: SigningIssuer
  /** PEM: the chain of the issuer, its own certificate first. */
  readonly caChain: string
  readonly overlapMs: number
  readonly now: Instant
  /** Owner reference, for an issuer without a namespace. */
  readonly owner?: Readonly<Record<string, unknown>>
}

const fieldManager = "chancery-issuer"

/** Writes the bundle if it differs. Returns when it changes by itself. */
export async function publishRoots(
  { cluster, store, resource }: TrustBundleParts,
  { issuer, caChain, overlapMs, now, owner }: PublishedRoots,
): Promise<Instant | undefined> {
  const chain = certificatesIn(caChain)
  const current = chain.findLast(isSelfIssued) ?? chain.at(-1)
  if (current === undefined) return undefined
  const name = bundleNameOf(issuer)
  const present = store.get(name)
  const before = present === undefined ? [] : trustedInPem(present, textOf(present))
  const authorities = trusted(before, { current, inUse: [], overlapMs, now })
  const trustBundle = trustedPem(authorities)
  if (present === undefined || textOf(present) !== trustBundle) {
    const bundle: KubernetesObject = {
      metadata: {
        name,
        labels,
        annotations: untilAnnotation(authorities),
        ...(present?.metadata.uid === undefined ? {} : { uid: present.metadata.uid }),
        ...(owner === undefined ? {} : { ownerReferences: [owner] }),
      },
      spec: { signerName: signerNameOf(issuer), trustBundle },
    }
    await cluster.apply(resource, bundle, fieldManager)
  }
  return nextEnd(authorities, now)
}

const textOf = ({ spec }: KubernetesObject): string =>
  ((spec ?? {}) as { readonly trustBundle?: string }).trustBundle ?? ""
