// DER as a tree that can be changed and written again with correct lengths. Content that is no DER remains bytes.

export interface DerNode {
  /** A single byte, as nearly all tags are. */
  tag: number
  content: DerNode[] | Uint8Array
  /** Replaces the computed length of the content. */
  length?: readonly number[]
}

/** Deeper than any parser may go, and shallow enough not to overflow the stack here. */
const maxDepth = 60

/** Returns undefined if the bytes are not a sequence of DER values. */
export function readNodes(bytes: Uint8Array, depth = 0): DerNode[] | undefined {
  const nodes: DerNode[] = []
  let at = 0
  while (at < bytes.length) {
    const header = readHeader(bytes, at)
    if (header === undefined) return undefined
    const content = bytes.subarray(header.start, header.end)
    nodes.push({ tag: bytes[at]!, content: partsOf(bytes[at]!, content, depth) ?? content })
    at = header.end
  }
  return nodes
}

/** Parses octet strings and bit strings too, because extensions and keys contain DER. */
function partsOf(tag: number, content: Uint8Array, depth: number): DerNode[] | undefined {
  if (depth >= maxDepth || content.length < 2) return undefined
  if ((tag & 0x20) !== 0 || tag === 0x04) return readNodes(content, depth + 1)
  if (tag !== 0x03 || content[0] !== 0) return undefined
  const inside = readNodes(content.subarray(1), depth + 1)
  return inside && [{ tag: rawTag, content: content.subarray(0, 1) }, ...inside]
}

/** Marks bytes without a header. */
const rawTag = -1

function readHeader(bytes: Uint8Array, at: number): { start: number; end: number } | undefined {
  const first = bytes[at + 1]
  if (first === undefined || (bytes[at]! & 0x1f) === 0x1f) return undefined
  const count = first < 0x80 ? 0 : first - 0x80
  if (first === 0x80 || count > 4) return undefined
  let length = count === 0 ? first : 0
  for (let index = 0; index < count; index += 1) length = length * 256 + (bytes[at + 2 + index] ?? Number.NaN)
  const start = at + 2 + count
  return start + length <= bytes.length ? { start, end: start + length } : undefined
}

export function writeNodes(nodes: readonly DerNode[]): Uint8Array {
  return Buffer.concat(nodes.map(writeNode))
}

function writeNode({ tag, content, length }: DerNode): Uint8Array {
  const written = content instanceof Uint8Array ? content : writeNodes(content)
  return tag === rawTag
    ? written
    : Buffer.concat([Uint8Array.of(tag, ...(length ?? lengthOf(written.length))), written])
}

export function lengthOf(length: number): readonly number[] {
  if (length < 0x80) return [length]
  const octets: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256)
  return [0x80 + octets.length, ...octets]
}

/** Yields every node with its siblings, parents before their children. */
export function* places(nodes: DerNode[]): Generator<{ readonly siblings: DerNode[]; readonly index: number }> {
  for (let index = 0; index < nodes.length; index += 1) {
    yield { siblings: nodes, index }
    const { content } = nodes[index]!
    if (!(content instanceof Uint8Array)) yield* places(content)
  }
}

export const copied = ({ tag, content, ...rest }: DerNode): DerNode => ({
  tag,
  content: content instanceof Uint8Array ? content : content.map(copied),
  ...rest,
})
