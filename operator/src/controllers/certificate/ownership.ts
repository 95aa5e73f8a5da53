// Decides which Certificate owns a Secret. Admission cannot decide this, because each of two Certificates with the same Secret is valid by
// itself.
import type { KubernetesObject } from "../../kube/kubernetes-object.ts"
import { annotations } from "./annotations.ts"

export type Claim =
  | { readonly is: "granted" }
  /** Another Certificate owns the Secret; `by` is its name. */
  | { readonly is: "taken"; readonly by: string }
  /** The Secret exists, and no Certificate wrote it. */
  | { readonly is: "foreign" }

export interface ClaimFacts {
  readonly certificate: KubernetesObject
  /** Certificates of the namespace that name the Secret; may include this one. */
  readonly claimants: readonly KubernetesObject[]
  readonly secret: KubernetesObject | undefined
  readonly mayAdopt: boolean
}

/**
 * The Certificate in the Secret's annotation owns it as long as it names the Secret. Without an annotation, the oldest Certificate does.
 */
export function claimOf({ certificate, claimants, secret, mayAdopt }: ClaimFacts): Claim {
  const own = certificate.metadata.name
  const written = secret?.metadata.annotations?.[annotations.certificateName]
  if (written === own) return { is: "granted" }
  if (written !== undefined && claimants.some(({ metadata }) => metadata.name === written))
    return { is: "taken", by: written }
  const first = [certificate, ...claimants].toSorted(byAge)[0]?.metadata.name ?? own
  if (first !== own) return { is: "taken", by: first }
  return secret === undefined || written !== undefined || mayAdopt ? { is: "granted" } : { is: "foreign" }
}

/** Compares by creation time, oldest first, then by uid. */
export const byAge = (one: KubernetesObject, other: KubernetesObject): number => {
  const [a, b] = [ageKey(one), ageKey(other)]
  return a < b ? -1 : Number(a > b)
}

const ageKey = ({ metadata }: KubernetesObject): string =>
  `${(metadata["creationTimestamp"] as string | undefined) ?? ""} ${metadata.uid ?? ""}`
