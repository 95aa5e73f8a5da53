import { ownerMaximum } from "@chancery/engine/declared"
import type { KubernetesObject } from "../../kube/kubernetes-object.ts"

/**
 * Who holds the tags that an object declares (docs/tag-owners.md). For ever, or an object would no longer know its own. Names that
 * are too long for it give way to the object's uid.
 */
export function tagOwnerOf(
  { metadata: { namespace = "", name, uid = "" } }: KubernetesObject,
  cluster: string,
): string {
  const named = `kubernetes:${cluster}/${namespace}/${name}`
  return named.length <= ownerMaximum ? named : `kubernetes:${cluster}/${uid}`
}

/** So that there is room for a uid. */
export const isClusterName = (name: string): boolean => /^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/.test(name)
