// IP addresses as text, as the 4 or 16 octets of an iPAddress (RFC 5280, section 4.2.1.6), and address ranges.

/** Range of addresses. Host bits of `octets` may be set and are ignored. */
export interface IpRange {
  readonly octets: Uint8Array
  readonly prefixBits: number
}

/**
 * Returns 4 or 16 octets; undefined if the text is no address. An IPv4 address written as IPv6 (`::ffff:192.0.2.1`) becomes IPv4, so
 * that this form does not bypass ranges.
 */
export function parseIpAddress(text: string): Uint8Array | undefined {
  if (!text.includes(":")) return parseIpv4(text)
  const octets = parseIpv6(text)
  return octets && (isMapped(octets) ? octets.slice(12) : octets)
}

export const isIpAddress = (text: string): boolean => parseIpAddress(text) !== undefined

/** Returns the canonical text of an address (RFC 5952). An IPv4 address in 16 octets is formatted as IPv4. */
export function formatIpAddress(octets: Uint8Array): string {
  if (octets.length === 4) return octets.join(".")
  if (isMapped(octets)) return octets.slice(12).join(".")
  const groups = Array.from({ length: 8 }, (_, at) => ((octets[2 * at] ?? 0) << 8) | (octets[2 * at + 1] ?? 0))
  const { from, length } = longestZeros(groups)
  const hex = (part: readonly number[]) => part.map((group) => group.toString(16)).join(":")
  return length < 2 ? hex(groups) : `${hex(groups.slice(0, from))}::${hex(groups.slice(from + length))}`
}

export function parseIpRange(text: string): IpRange | undefined {
  const [, address = "", prefix = ""] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? []
  const octets = parseIpAddress(address)
  if (octets === undefined) return undefined
  // `::ffff:10.0.0.0/104` is 10.0.0.0/8. A shorter prefix than /96 is no range of IPv4.
  const isShortened = address.includes(":") && octets.length === 4
  const prefixBits = Number(prefix) - (isShortened ? 96 : 0)
  return prefixBits < 0 || prefixBits > octets.length * 8 ? undefined : { octets, prefixBits }
}

export function isInRange(octets: Uint8Array, range: IpRange): boolean {
  if (octets.length !== range.octets.length) return false
  return octets.every((octet, at) => {
    const bits = Math.min(8, Math.max(0, range.prefixBits - at * 8))
    const mask = (0xff << (8 - bits)) & 0xff
    return ((octet ^ (range.octets[at] ?? 0)) & mask) === 0
  })
}

function parseIpv4(text: string): Uint8Array | undefined {
  const parts = text.split(".")
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256))
    return undefined
  return Uint8Array.from(parts, Number)
}

const maxIpv6Length = 45

function parseIpv6(text: string): Uint8Array | undefined {
  if (text.length > maxIpv6Length) return undefined
  const halves = text.split("::")
  const [before, after] = halves.map(parseGroups)
  if (halves.length === 1) return before?.length === 16 ? Uint8Array.from(before) : undefined
  // Only the very last group may be an IPv4 address in dotted form.
  if (halves.length > 2 || before === undefined || after === undefined || halves[0]?.includes(".")) return undefined
  const missing = 16 - before.length - after.length
  // `::` replaces at least one group of zeros (RFC 4291, section 2.2).
  return missing < 2 ? undefined : Uint8Array.from([...before, ...Array<number>(missing).fill(0), ...after])
}

function parseGroups(text: string): number[] | undefined {
  if (text === "") return []
  const octets: number[] = []
  const groups = text.split(":")
  for (const [at, group] of groups.entries()) {
    const ipv4 = at === groups.length - 1 ? parseIpv4(group) : undefined
    if (ipv4 !== undefined) octets.push(...ipv4)
    else if (/^[0-9a-fA-F]{1,4}$/.test(group))
      octets.push(Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff)
    else return undefined
  }
  return octets
}

/** Returns true for addresses in ::ffff:0:0/96 (RFC 4291, section 2.5.5.2). */
const isMapped = (octets: Uint8Array): boolean =>
  octets.length === 16 && octets.every((octet, at) => at >= 12 || octet === (at < 10 ? 0 : 0xff))

/** Returns the first of the longest runs of zeros. */
function longestZeros(groups: readonly number[]): { readonly from: number; readonly length: number } {
  let longest = { from: 0, length: 0 }
  let from = 0
  for (const [at, group] of groups.entries()) {
    if (group !== 0) from = at + 1
    else if (at + 1 - from > longest.length) longest = { from, length: at + 1 - from }
  }
  return longest
}
