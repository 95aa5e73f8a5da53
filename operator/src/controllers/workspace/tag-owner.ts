import { maxOwner } from "@chancery/engine/declared"
import type { KubernetesObject } from "../../kube/kubernetes-object.ts"

/**
 * Returns the owner of an object's tags (docs/tag-owners.md). The format must never change, since objects recognize their tags by it. If
 * the name is too long, the object's uid replaces it.
 */
export function tagOwnerOf(
  { metadata: { namespace = "", name, uid = "" } }: KubernetesObject,
  cluster: string,
): string {
  const named = `kubernetes:${cluster}/${namespace}/${name}`
  return named.length <= maxOwner ? named : `kubernetes:${cluster}/${uid}`
}

/** Returns whether the text is a valid cluster name. The length leaves room for a uid. */
export const isClusterName = (name: string): boolean => /^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/.test(name)
