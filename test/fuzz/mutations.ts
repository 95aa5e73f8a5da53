// Mutations of valid inputs: bytes that are no longer DER, DER that occurs in no certificate, and PEM and JSON that are nearly valid.
// `others` are further inputs of the same kind, whose parts are inserted into this one.
import type { Chance } from "./chance.ts"
import { countValues, type Json, mapTexts, parseJson, pemTexts } from "./json.ts"
import { copied, type DerNode, lengthOf, places, readNodes, writeNodes } from "./der-tree.ts"

export type Mutation = (input: Uint8Array, others: readonly Uint8Array[], chance: Chance) => Uint8Array

/** Maximum size of a mutated input in bytes, so that none takes the whole time. */
const maxSize = 1_500_000

const largeLength = 64 * 1024

/** Applies a few of the mutations in order. */
export function mutate(
  mutations: readonly Mutation[],
  input: Uint8Array,
  others: readonly Uint8Array[],
  chance: Chance,
): Uint8Array {
  let mutated = input
  const count = 1 + (chance.oneIn(2) ? 0 : chance.below(4))
  // Stops at large inputs, which would grow until mutating takes longer than parsing.
  for (let made = 0; made < count && mutated.length <= largeLength; made += 1)
    mutated = chance.of(mutations)(mutated, others, chance).subarray(0, maxSize)
  return mutated
}

// Bytes

const notableValues = [
  0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0c, 0x17, 0x1f, 0x30, 0x31, 0x7f, 0x80, 0x81, 0x84, 0xa0, 0xff,
]

const flipBits: Mutation = (input, _, chance) => {
  const bytes = Uint8Array.from(input)
  for (let flips = 1 + chance.below(8); flips > 0 && bytes.length > 0; flips -= 1)
    bytes[chance.below(bytes.length)]! ^= 1 << chance.below(8)
  return bytes
}

const setBytes: Mutation = (input, _, chance) => {
  const bytes = Uint8Array.from(input)
  for (let sets = 1 + chance.below(4); sets > 0 && bytes.length > 0; sets -= 1)
    bytes[chance.below(bytes.length)] = chance.of(notableValues)
  return bytes
}

const truncate: Mutation = (input, _, chance) => input.subarray(0, chance.below(input.length + 1))

const remove: Mutation = (input, _, chance) => {
  const [start, end] = range(input, chance)
  return Buffer.concat([input.subarray(0, start), input.subarray(end)])
}

const repeat: Mutation = (input, _, chance) => {
  const [start, end] = range(input, chance)
  const times = chance.oneIn(20) ? 200 : 1 + chance.below(3)
  const run = input.subarray(start, end)
  return Buffer.concat([input.subarray(0, end), ...Array<Uint8Array>(times).fill(run), input.subarray(end)])
}

const insert: Mutation = (input, _, chance) => {
  const at = chance.below(input.length + 1)
  const bytes = chance.oneIn(3)
    ? new Uint8Array(1 + chance.below(5_000)).fill(chance.of(notableValues))
    : chance.bytes(1 + chance.below(20))
  return Buffer.concat([input.subarray(0, at), bytes, input.subarray(at)])
}

const splice: Mutation = (input, others, chance) => {
  const other = chance.of(others)
  return Buffer.concat([
    input.subarray(0, chance.below(input.length + 1)),
    other.subarray(chance.below(other.length + 1)),
  ])
}

export const byteMutations: readonly Mutation[] = [flipBits, setBytes, truncate, remove, repeat, insert, splice]

function range(input: Uint8Array, chance: Chance): readonly [number, number] {
  const start = chance.below(input.length + 1)
  return [start, Math.min(input.length, start + 1 + chance.below(chance.oneIn(4) ? 200 : 8))]
}

// DER

interface Place {
  readonly nodes: DerNode[]
  readonly siblings: DerNode[]
  readonly index: number
  readonly node: DerNode
}

/** Changes one node of the input if it is DER; other inputs are left unchanged. */
const ofTree =
  (change: (place: Place, others: readonly Uint8Array[], chance: Chance) => void): Mutation =>
  (input, others, chance) => {
    const nodes = readNodes(input)
    if (nodes === undefined || nodes.length === 0) return input
    const { siblings, index } = chance.of([...places(nodes)])
    change({ nodes, siblings, index, node: siblings[index]! }, others, chance)
    return writeNodes(nodes)
  }

const contentOf = ({ content }: DerNode): Uint8Array => (content instanceof Uint8Array ? content : writeNodes(content))

const wrongLength = ofTree(({ node }, _, chance) => {
  const { length } = contentOf(node)
  node.length = chance.of([
    lengthOf(length + 1),
    lengthOf(Math.max(length - 1, 0)),
    [0],
    [0x7f],
    [0x80],
    [0xff],
    [0x81, length & 0x7f],
    [0x82, length >> 8, length & 255],
    [0x84, 0, 0, length >> 8, length & 255],
    [0x84, 0xff, 0xff, 0xff, 0xff],
    [0x84, 0x7f, 0xff, 0xff, 0xff],
    [0x88, 0, 0, 0, 0, 0, 0, length >> 8, length & 255],
    [0xfe, ...Array<number>(126).fill(0xff)],
  ])
})

const indefiniteLength = ofTree(({ node }) => {
  node.length = [0x80]
  node.content = Buffer.concat([contentOf(node), Uint8Array.of(0, 0)])
})

const otherTag = ofTree(({ node }, _, chance) => {
  node.tag = chance.oneIn(4)
    ? chance.below(256)
    : chance.of([...notableValues, node.tag ^ 0x20, 0x82, 0x86, 0x87, 0xa3])
})

const duplicate = ofTree(({ siblings, index, node }, _, chance) => {
  const wanted = chance.oneIn(10) ? 50 + chance.below(500) : 1 + chance.below(3)
  const times = Math.min(wanted, Math.ceil((2 * largeLength) / (contentOf(node).length + 2)))
  siblings.splice(index, 0, ...Array.from({ length: times }, () => copied(node)))
})

const drop = ofTree(({ siblings, index }) => {
  siblings.splice(index, 1)
})

const swap = ofTree(({ siblings, index, node }, _, chance) => {
  const other = chance.below(siblings.length)
  siblings[index] = siblings[other]!
  siblings[other] = node
})

const empty = ofTree(({ node }) => {
  node.content = new Uint8Array()
})

const nest = ofTree(({ node }, _, chance) => {
  const depth = chance.oneIn(4) ? 5_000 : 1 + chance.below(60)
  const tag = chance.of([0x30, 0x31, 0x24, 0xa0, node.tag | 0x20])
  let content = Buffer.from(writeNodes([node]))
  const headers: Uint8Array[] = []
  let { length } = content
  for (let level = 0; level < depth; level += 1) {
    const header = Uint8Array.of(tag, ...lengthOf(length))
    headers.unshift(header)
    length += header.length
  }
  content = Buffer.concat([...headers, content])
  node.tag = tag
  // Without the outermost header, which the node already has.
  node.content = content.subarray(headers[0]?.length ?? 0)
})

const hugeInteger = ofTree(({ node }, _, chance) => {
  const octets = chance.of([21, 129, 1_025, 8_000, 60_000])
  node.tag = 0x02
  node.content = Buffer.concat([Uint8Array.of(chance.of([0x00, 0x7f, 0x80, 0xff])), chance.bytes(octets)])
})

const otherContent = ofTree(({ node }, _, chance) => {
  node.content = chance.of([
    () => chance.bytes(chance.below(40)),
    () => new Uint8Array(chance.of([1, 20, 64, 255, 40_000])).fill(chance.of(notableValues)),
    () => Buffer.from(chance.of(strangeTexts)),
    () => Buffer.concat([contentOf(node), contentOf(node)]),
  ])()
})

/** Names, addresses, times and numbers in the forms of certificates. */
const strangeTexts = [
  "*.*.example.com",
  "*",
  ".",
  "..",
  "a..b",
  "-a.example.com",
  `${"a".repeat(64)}.example.com`,
  `${"a.".repeat(127)}com`,
  "xn--a",
  "xn--zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz",
  "exa\0mple.com",
  "é.example.com",
  "\u{202e}moc.elpmaxe",
  "a@b@c",
  "@",
  `${"a".repeat(300)}@example.com`,
  "http://",
  "http://[::1",
  `http://${"%41".repeat(2_000)}/`,
  "urn:",
  "99991231235959Z",
  "500101000000Z",
  "20230229000000Z",
  "260101000000+0100",
  "\u{ffff}".repeat(100),
]

const graft = ofTree(({ node }, others, chance) => {
  const donor = readNodes(chance.of(others))
  if (donor === undefined || donor.length === 0) return
  const { siblings, index } = chance.of([...places(donor)])
  Object.assign(node, copied(siblings[index]!))
})

export const derMutations: readonly Mutation[] = [
  wrongLength,
  indefiniteLength,
  otherTag,
  duplicate,
  drop,
  swap,
  empty,
  nest,
  hugeInteger,
  otherContent,
  graft,
  graft,
  ...byteMutations,
]

// PEM

const ofText =
  (change: (text: string, others: readonly string[], chance: Chance) => string): Mutation =>
  (input, others, chance) =>
    Buffer.from(
      change(
        Buffer.from(input).toString("latin1"),
        others.map((other) => Buffer.from(other).toString("latin1")),
        chance,
      ),
      "latin1",
    )

const ofLine = (change: (line: string, chance: Chance) => string): Mutation =>
  ofText((text, _, chance) => {
    const lines = text.split("\n")
    const at = chance.below(lines.length)
    return lines.with(at, change(lines[at]!, chance)).join("\n")
  })

export const pemMutations: readonly Mutation[] = [
  ofLine(
    (line, chance) =>
      chance.of(["", " ", "\t", "=", "====", "-----", "-----BEGIN", "-----END CERTIFICATE-----"]) + line,
  ),
  ofLine((line, chance) => line + chance.of([" ", "\r", "=", "-", "\0", "é", " trailing", "-----"])),
  ofLine(() => ""),
  ofLine((line) => `${line}\n${line}`),
  ofLine((line) => line.replace(/BEGIN|END/, "begin")),
  ofLine((line) => line.replace(/CERTIFICATE|KEY|CRL/, "SOMETHING")),
  ofLine((_, chance) => `-----BEGIN ${chance.of(["A", "A ", "", "-", "A-"]).repeat(1 + chance.below(20_000))}-----`),
  ofLine((_, chance) => chance.of(["-----", "-", " ", "-----BEGIN A-----\n"]).repeat(1 + chance.below(10_000))),
  ofLine(() => "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n"),
  ofText((text) => text.replaceAll("\n", "\r\n")),
  ofText((text) => text.replaceAll("\n", "")),
  ofText((text, others, chance) => `${text}\n${chance.of(others)}`),
  ofText((text, _, chance) => `${text}\n`.repeat(2 + chance.below(40))),
  ...byteMutations,
]

/** Applies the mutations to the bytes in a PEM block, so that the encoded data is invalid and not the encoding. */
export const insidePem =
  (mutations: readonly Mutation[]): Mutation =>
  (input, others, chance) => {
    const block = decodePem(input)
    if (block === undefined) return input
    const blocks = others.map((other) => decodePem(other)?.der ?? new Uint8Array())
    return Buffer.from(pemOf(block.label, chance.of(mutations)(block.der, blocks, chance)))
  }

export function decodePem(input: Uint8Array): { readonly label: string; readonly der: Uint8Array } | undefined {
  const [, label, body] =
    /-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END/.exec(Buffer.from(input).toString("latin1")) ?? []
  return label === undefined || body === undefined ? undefined : { label, der: Buffer.from(body, "base64") }
}

export function pemOf(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n")
}

// JSON

/** Changes one value of the input if it is JSON; other inputs are left unchanged. */
const ofJson =
  (change: (value: Json, chance: Chance) => Json): Mutation =>
  (input, _, chance) => {
    const document = parseJson(input)
    if (document === undefined) return input
    const at = chance.below(countValues(document))
    let seen = 0
    const visit = (value: Json): Json => {
      const changed = seen++ === at ? change(value, chance) : value
      if (changed !== value || typeof value !== "object" || value === null) return changed
      if (Array.isArray(value)) return value.map(visit)
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, visit(member)]))
    }
    return Buffer.from(JSON.stringify(visit(document)))
  }

const strangeValues: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1,
  1e308,
  -9_007_199_254_740_991,
  0.5,
  "",
  " ",
  "0",
  "1h",
  "-1h",
  "999999999999h",
  "1e9",
  "default",
  "*",
  "\0",
  "\u{d800}",
  "a".repeat(40_000),
  ",".repeat(20_000),
  ";".repeat(5_000),
  "1.2.3;UTF8:x",
  "1.2.3;UTF8:",
  "2.999999999999999999999999999.1;utf8:x",
  "9999-12-31T23:59:59Z",
  "0000-00-00T00:00:00Z",
  "10000-01-01T00:00:00Z",
  "::ffff:1.2.3.4",
  "256.1.1.1",
  "fe80::1%eth0",
  "http://[::1]:99999/",
  "javascript:alert(1)",
  [],
  {},
  [null],
  [[]],
  [{}],
  { "": "" },
  ...["*.*", "..", "xn--a", "a@b@c", "é.example.com", "A".repeat(300)],
]

const withStrangeValue = ofJson((_, chance) => chance.of(strangeValues))

const withStrangeMember = ofJson((value, chance) => {
  const strange = chance.of(strangeValues)
  if (typeof value !== "object" || value === null) return [value, strange]
  if (Array.isArray(value)) return [...value, strange]
  const name = chance.of([
    "__proto__",
    "constructor",
    "toString",
    "",
    "csr",
    "common_name",
    "ttl",
    "not_after",
    "format",
  ])
  return { ...value, [name]: strange }
})

const withText = ofJson((value, chance) => {
  if (typeof value !== "string") return JSON.stringify(value)
  const bytes = chance.of(byteMutations)(Buffer.from(value), [Buffer.from("example.com")], chance)
  return Buffer.from(bytes).toString("utf8")
})

const deep = ofJson((value, chance) => {
  let nested = value
  for (let depth = chance.of([10, 200, 3_000]); depth > 0; depth -= 1)
    nested = depth % 2 === 0 ? [nested] : { a: nested }
  return nested
})

/** Documents that `JSON.stringify` could not write: too deep, or with repeated names. */
const brokenJson = ofText((text, _, chance) =>
  chance.of([
    () => "[".repeat(1 + chance.below(100_000)) + text,
    () => '{"a":'.repeat(1 + chance.below(20_000)) + text,
    () => text.replace("{", `{${text.slice(1, text.indexOf(",") + 1 || 1)}`),
    () => `${text}${text}`,
    () => `\u{feff}${text}`,
    () => text.replaceAll('"', "'"),
    () => text.replace(/:[^,}]*/, `:${"9".repeat(1 + chance.below(50_000))}`),
    () => text.replace(/:[^,}]*/, `:1e${"9".repeat(10)}`),
  ])(),
)

export const jsonMutations: readonly Mutation[] = [
  withStrangeValue,
  withStrangeValue,
  withStrangeMember,
  withText,
  withText,
  deep,
  brokenJson,
  ...byteMutations,
]

/** Mutates the PEM in the strings of a JSON document, either as PEM or as the data that it encodes. */
export const insideJson =
  (mutations: readonly Mutation[]): Mutation =>
  (input, others, chance) => {
    const document = parseJson(input)
    if (document === undefined) return input
    const donors = others.flatMap((other) => pemTexts(parseJson(other) ?? null)).map((text) => Buffer.from(text))
    const mutated = mapTexts(document, (text) =>
      text.includes("-----BEGIN")
        ? Buffer.from(chance.of(mutations)(Buffer.from(text), donors, chance)).toString("latin1")
        : text,
    )
    return Buffer.from(JSON.stringify(mutated))
  }

/** Mutates the data that is encoded as base64url in one member of a JSON object. */
export const insideMember =
  (member: string, mutation: Mutation): Mutation =>
  (input, others, chance) => {
    const document = parseJson(input)
    const encoded = memberOf(document, member)
    if (encoded === undefined) return input
    const donors = others.flatMap((other) => memberOf(parseJson(other), member) ?? [])
    const mutated = Buffer.from(mutation(encoded, donors, chance)).toString("base64url")
    return Buffer.from(JSON.stringify({ ...(document as object), [member]: mutated }))
  }

function memberOf(document: Json | undefined, member: string): Buffer | undefined {
  if (typeof document !== "object" || document === null || Array.isArray(document)) return undefined
  const value = document[member]
  return typeof value === "string" ? Buffer.from(value, "base64url") : undefined
}
