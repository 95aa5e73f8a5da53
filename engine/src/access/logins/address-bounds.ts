import { type IpRange, isInRange, parseIpAddress, parseIpRange } from "../../pki/names/ip-address.ts"

/** A range, or one address for itself; undefined for what is neither. */
export function parseBound(text: string): IpRange | undefined {
  if (text.includes("/")) return parseIpRange(text)
  const octets = parseIpAddress(text)
  return octets && { octets, prefixBits: octets.length * 8 }
}

/** Whether every address of the one is among those of the other. */
export const isWithinBound = (inner: IpRange, outer: IpRange): boolean =>
  inner.prefixBits >= outer.prefixBits && isInRange(inner.octets, outer)

/** Undefined where nobody knows it. */
type ClientAddress = string | undefined

/**
 * Whether a client may come from an address; from anywhere where there are no bounds. Whoever has no address is let in by no
 * bound: of a request by a unix socket, or of a program that embeds the engine, nobody can say where it began.
 */
export function addressBounds(bounds: readonly string[]): (address: ClientAddress) => boolean {
  if (bounds.length === 0) return () => true
  const ranges = bounds.flatMap((bound) => parseBound(bound) ?? [])
  return (address) => {
    const octets = address === undefined ? undefined : parseIpAddress(address)
    return octets !== undefined && ranges.some((range) => isInRange(octets, range))
  }
}
