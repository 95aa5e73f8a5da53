// Whose list a revoked certificate is on. Issuers with one subject and one key are one CRL issuer, however many certificates
// they have (RFC 5280, section 5), so that their list is named after both.
import { derived } from "../../core/derived.ts"
import { sha256 } from "../../x509/digest.ts"
import { type SerialNumber, serialNumberOctets } from "../../x509/serial-number.ts"
import type { HeldIssuer } from "../issuers/held-issuer.ts"

declare const brand: unique symbol
export type CrlListId = string & { readonly [brand]: "CRL list" }

/** Of certificates whose issuer is not known. They go to the list of the default issuer as soon as there is one. */
export const listOfUnknownIssuers = "" as CrlListId

export const crlListOf: (issuer: HeldIssuer) => CrlListId = derived(
  ({ parsed }: HeldIssuer) =>
    sha256(Buffer.concat([parsed.subject, parsed.subjectPublicKeyInfo])).slice(0, 32) as CrlListId,
)

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
