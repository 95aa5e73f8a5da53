// Whose a Secret is. Admission cannot say: two Certificates of one Secret are each fine by themselves.
import type { KubernetesObject } from "../../kube/kubernetes-object.ts"
import { annotations } from "./annotations.ts"

export type Claim =
  | { readonly is: "granted" }
  /** Another Certificate's, by its name. */
  | { readonly is: "taken"; readonly by: string }
  /** There before, and no Certificate's. */
  | { readonly is: "foreign" }

export interface ClaimFacts {
  readonly certificate: KubernetesObject
  /** All Certificates of the namespace that name the Secret, this one perhaps among them. */
  readonly claimants: readonly KubernetesObject[]
  readonly secret: KubernetesObject | undefined
  readonly mayAdopt: boolean
}

/** Whoever is written in the Secret has it for as long as it claims it; before that, whoever came first. */
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

/** The oldest first. */
export const byAge = (one: KubernetesObject, other: KubernetesObject): number => {
  const [a, b] = [ageKey(one), ageKey(other)]
  return a < b ? -1 : Number(a > b)
}

const ageKey = ({ metadata }: KubernetesObject): string =>
  `${(metadata["creationTimestamp"] as string | undefined) ?? ""} ${metadata.uid ?? ""}`
