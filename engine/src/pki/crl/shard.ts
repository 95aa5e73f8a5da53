// Shards of a list (RFC 5280, section 5.2.5). A certificate refers to the shard of its serial number. This reference stays valid if
// the number of shards changes later.
import { type SerialNumber, serialNumberOctets } from "../../x509/serial-number.ts"

/** Shard: certificates whose serial number modulo `count` is `index`. A count of one is the whole list. */
export interface Shard {
  readonly count: number
  readonly index: number
}

export const wholeList: Shard = { count: 1, index: 0 }

/** The last 16 bits of a serial number determine the shard, because the number of shards is a power of two. */
export const maxShardCount = 1_024
const shardKeyOctets = 2

export const isShardCount = (count: number): boolean =>
  Number.isInteger(count) && count >= 1 && count <= maxShardCount && (count & (count - 1)) === 0

export function shardKeyOf(serialNumber: SerialNumber): number {
  const octets = serialNumberOctets(serialNumber).subarray(-shardKeyOctets)
  let key = 0
  for (const octet of octets) key = key * 256 + octet
  return key
}

export const shardOf = (serialNumber: SerialNumber, count: number): Shard => ({
  count,
  index: shardKeyOf(serialNumber) % count,
})

/** Formats a shard; `8-3` is the index 3 (from 0) of eight. */
export const formatShard = ({ count, index }: Shard): string => `${count}-${index}`

export function parseShard(text: string): Shard | undefined {
  const [, count, index] = /^(\d{1,4})-(\d{1,4})$/.exec(text) ?? []
  const shard = { count: Number(count), index: Number(index) }
  return isShardCount(shard.count) && shard.index < shard.count && formatShard(shard) === text ? shard : undefined
}

/** Returns the URL of the shard in the certificates of that shard. */
export const shardUrl = (url: string, shard: Shard): string =>
  shard.count === 1 ? url : `${url}/shard/${formatShard(shard)}`
