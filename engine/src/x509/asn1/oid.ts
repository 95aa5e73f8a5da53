// OBJECT IDENTIFIER: dotted text ⇄ content octets (X.690, clause 8.19).

/** Lets the length of every identifier fit into one octet. Registered identifiers are shorter. */
export const maxOidOctets = 127

/** An identifier of 127 octets has at most 266 decimal digits; the dots come in addition. */
const maxOidText = 400

/** Returns the content octets of a dotted identifier, or undefined if the text is not one or is too long. */
export function encodeOidContent(text: string): Uint8Array | undefined {
  if (text.length > maxOidText || !/^[0-2](\.(0|[1-9]\d*))+$/.test(text)) return undefined
  const arcs = text.split(".")
  const root = Number(arcs[0])
  const second = BigInt(arcs[1] ?? "")
  if (root < 2 && second > 39n) return undefined
  const octets: number[] = []
  pushBase128(octets, BigInt(root * 40) + second)
  for (let at = 2; at < arcs.length; at += 1) pushBase128(octets, BigInt(arcs[at] ?? ""))
  return octets.length > maxOidOctets ? undefined : Uint8Array.from(octets)
}

function pushBase128(octets: number[], arc: bigint): void {
  const groups: number[] = []
  let rest = arc
  do {
    groups.push(Number(rest & 0x7fn))
    rest >>= 7n
  } while (rest > 0n)
  while (groups.length > 1) octets.push((groups.pop() ?? 0) | 0x80)
  octets.push(groups[0] ?? 0)
}

/** Returns the dotted text of the content octets between two positions, or undefined if they are not an identifier. */
export function decodeOidContent(bytes: Uint8Array, start: number, end: number): string | undefined {
  if (start >= end || end - start > maxOidOctets) return undefined
  let text = ""
  let arc = 0
  let arcStart = start
  for (let at = start; at < end; at += 1) {
    const octet = bytes[at] as number
    if (at === arcStart && octet === 0x80) return undefined
    arc = arc * 128 + (octet & 0x7f)
    if (octet >= 0x80) continue
    const isExact = at - arcStart < 7
    if (text !== "") text += isExact ? `.${arc}` : `.${bigArc(bytes, arcStart, at)}`
    else if (isExact) text = arc < 40 ? `0.${arc}` : arc < 80 ? `1.${arc - 40}` : `2.${arc - 80}`
    else text = `2.${bigArc(bytes, arcStart, at) - 80n}`
    arc = 0
    arcStart = at + 1
  }
  return arcStart === end ? text : undefined
}

function bigArc(bytes: Uint8Array, start: number, last: number): bigint {
  let arc = 0n
  for (let at = start; at <= last; at += 1) arc = (arc << 7n) | BigInt((bytes[at] as number) & 0x7f)
  return arc
}
