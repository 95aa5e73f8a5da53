// Shards: several leaders, each for a part of the objects. An object belongs to one of `count` shards by its uid.
import type { KubernetesObject } from "../kube/kubernetes-object.ts"

export interface Shard {
  readonly index: number
  readonly count: number
}

export const maxShards = 256

/** Parses `0/4`. Returns undefined for anything else. */
export function parseShard(text: string): Shard | undefined {
  const [, index, count] = /^(\d{1,3})\/(\d{1,3})$/.exec(text)?.map(Number) ?? []
  if (index === undefined || count === undefined || index >= count || count > maxShards) return undefined
  return { index, count }
}

export const belongsTo = ({ index, count }: Shard, { metadata: { uid = "" } }: KubernetesObject): boolean =>
  fnv1a(uid) % count === index

/** 32-bit FNV-1a. An unkeyed hash is enough: a client that can choose uids can do worse. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0
  return hash
}
