import { type IpRange, isInRange, parseIpAddress, parseIpRange } from "../../pki/names/ip-address.ts"

/** Parses a range, or a single address as a range of one. Returns undefined for any other text. */
export function parseBound(text: string): IpRange | undefined {
  if (text.includes("/")) return parseIpRange(text)
  const octets = parseIpAddress(text)
  return octets && { octets, prefixBits: octets.length * 8 }
}

/** Returns true if every address of `inner` is in `outer`. */
export const isWithinBound = (inner: IpRange, outer: IpRange): boolean =>
  inner.prefixBits >= outer.prefixBits && isInRange(inner.octets, outer)

/** Undefined if the address is unknown. */
type ClientAddress = string | undefined

/**
 * Returns a test of whether a client may connect from an address. Without bounds, every client may.
 *
 * Bounds reject clients without an address: the origin of a request over a Unix socket, or by a program that embeds the engine, is unknown.
 */
export function addressBounds(bounds: readonly string[]): (address: ClientAddress) => boolean {
  if (bounds.length === 0) return () => true
  const ranges = bounds.flatMap((bound) => parseBound(bound) ?? [])
  return (address) => {
    const octets = address === undefined ? undefined : parseIpAddress(address)
    return octets !== undefined && ranges.some((range) => isInRange(octets, range))
  }
}
