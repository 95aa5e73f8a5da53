// Lists in parts (RFC 5280, section 5.2.5): a certificate names the part that its serial number puts it in, and that name holds
// for good, whatever division comes later.
import { type SerialNumber, serialNumberOctets } from "../../x509/serial-number.ts"

/** A part of a list: certificates whose serial number leaves this remainder. One of one is the whole. */
export interface Shard {
  readonly count: number
  readonly index: number
}

export const wholeList: Shard = { count: 1, index: 0 }

/** Every remainder is found in the last 16 bits, because the number of shards is a power of two. */
export const shardCountMaximum = 1_024
const shardKeyOctets = 2

export const isShardCount = (count: number): boolean =>
  Number.isInteger(count) && count >= 1 && count <= shardCountMaximum && (count & (count - 1)) === 0

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

/** `8-3`: the third (from 0) of eight. */
export const formatShard = ({ count, index }: Shard): string => `${count}-${index}`

export function parseShard(text: string): Shard | undefined {
  const [, count, index] = /^(\d{1,4})-(\d{1,4})$/.exec(text) ?? []
  const shard = { count: Number(count), index: Number(index) }
  return isShardCount(shard.count) && shard.index < shard.count && formatShard(shard) === text ? shard : undefined
}

/** Under which a certificate finds the part of the list that it is in. */
export const shardUrl = (url: string, shard: Shard): string =>
  shard.count === 1 ? url : `${url}/shard/${formatShard(shard)}`
