// Text of a policy: rules `path "pki/issue/web" { capabilities = ["update"] }` with comments, or the same as JSON:
// `{ "path": { "pki/issue/web": { "capabilities": ["update"] } } }`. Unknown syntax is rejected, because an ignored rule may be the one
// that denies (docs/decisions/tokens-and-policies.md).
import { capabilities, type Capability, type PathRule } from "../../core/access.ts"
import { type Fault, invalid, rejectFaults } from "../../core/errors.ts"
import { textProblem } from "../../core/text.ts"

const maxTextBytes = 64 * 1024
const maxPathRules = 1_000
const maxPath = 1_024
/** Maximum nesting. No valid policy nests as deeply. */
const maxDepth = 8
/** Faults reported at once; more are reported after these are fixed. */
const maxFaults = 20

/** Returns the rules in the order of the text, one per path. Throws `invalid` with faults that name the line. */
export function parsePolicy(text: string): readonly PathRule[] {
  if (text.trim() === "") throw invalid([fault("policy can't be blank")])
  if (Buffer.byteLength(text) > maxTextBytes)
    throw invalid([fault(`policy is too long (maximum is ${maxTextBytes} bytes)`)])
  const problem = textProblem(text)
  if (problem !== undefined) throw invalid([fault(`policy ${problem}`)])
  return rulesOf(/^\s*\{/.test(text) ? jsonBlocks(new Reader(text, "json")) : hclBlocks(new Reader(text, "hcl")))
}

interface Block {
  readonly path: string
  readonly line: number
  readonly members: readonly Member[]
}

interface Member {
  readonly key: string
  readonly line: number
  readonly value: Value
}

type Value =
  | { readonly kind: "text"; readonly line: number; readonly text: string }
  /** A number, true, false or null. */
  | { readonly kind: "word"; readonly line: number }
  | { readonly kind: "list"; readonly line: number; readonly items: readonly Value[] }
  | { readonly kind: "object"; readonly line: number; readonly members: readonly Member[] }

function hclBlocks(reader: Reader): Block[] {
  const blocks: Block[] = []
  for (;;) {
    const token = reader.next()
    if (token.kind === "end") return blocks
    if (token.kind !== "word") throw unexpected(token, 'path "…" { … }')
    if (token.text !== "path") throw onLine(token.line, `"${token.text}" is not supported; only path "…" blocks are`)
    const path = reader.next()
    if (path.kind !== "text") throw unexpected(path, "a quoted path")
    const { members } = reader.object(reader.expect("{"), 1)
    blocks.push({ path: path.text, line: path.line, members })
  }
}

function jsonBlocks(reader: Reader): Block[] {
  const { members } = reader.object(reader.expect("{"), 0)
  const end = reader.next()
  if (end.kind !== "end") throw unexpected(end, "the end of the policy")
  return members.flatMap(({ key, line, value }) => {
    if (key !== "path") throw onLine(line, `"${key}" is not supported; only "path" is`)
    return objectsOf(value).flatMap((paths) =>
      paths.flatMap((path) =>
        objectsOf(path.value).map((rule) => ({ path: path.key, line: path.line, members: rule })),
      ),
    )
  })
}

/** Returns the objects of a value. Some tools that write this JSON put a list around each object. */
function objectsOf(value: Value): (readonly Member[])[] {
  if (value.kind === "object") return [value.members]
  if (value.kind === "list" && value.items.length > 0) return value.items.flatMap(objectsOf)
  throw onLine(value.line, "expected an object")
}

function rulesOf(blocks: readonly Block[]): readonly PathRule[] {
  const faults: Fault[] = []
  const rules = new Map<string, Set<Capability>>()
  for (const block of blocks) {
    const path = block.path.replace(/^\//, "")
    const wrong = pathProblem(path)
    if (wrong !== undefined) faults.push(faultOn(block.line, `the path ${quoted(block.path)} ${wrong}`))
    const united = rules.get(path) ?? new Set()
    for (const capability of capabilitiesOf(block, faults)) united.add(capability)
    rules.set(path, united)
  }
  if (rules.size > maxPathRules) faults.push(fault(`policy has too many paths (maximum is ${maxPathRules})`))
  rejectFaults(faults.slice(0, maxFaults))
  return [...rules].map(([path, granted]) => ({ path, capabilities: [...granted] }))
}

function capabilitiesOf({ path, line, members }: Block, faults: Fault[]): Capability[] {
  for (const member of members)
    if (member.key !== "capabilities")
      faults.push(
        faultOn(member.line, `"${member.key}" of the path ${quoted(path)} is not supported; only "capabilities" is`),
      )
  const [first, second] = members.filter(({ key }) => key === "capabilities")
  if (first === undefined) {
    faults.push(faultOn(line, `the path ${quoted(path)} has no "capabilities"`))
    return []
  }
  if (second !== undefined) faults.push(faultOn(second.line, `the path ${quoted(path)} has "capabilities" twice`))
  if (first.value.kind !== "list") {
    faults.push(faultOn(first.line, `the "capabilities" of the path ${quoted(path)} must be a list`))
    return []
  }
  const named: Capability[] = []
  for (const item of first.value.items) {
    const text = item.kind === "text" ? item.text : undefined
    const known = capabilities.find((capability) => capability === text)
    if (known !== undefined) named.push(known)
    else
      faults.push(
        faultOn(
          item.line,
          `${text === undefined ? "a value that is not a string" : quoted(text)} is not a capability (${capabilities.join(", ")})`,
        ),
      )
  }
  return named
}

function pathProblem(path: string): string | undefined {
  if (path === "") return "is empty"
  if (path.length > maxPath) return `is too long (maximum is ${maxPath} characters)`
  if (path.includes("{{") || path.includes("${")) return "contains a template, which is not supported"
  if (/\p{Cc}/u.test(path)) return "contains control characters"
  if (path.slice(0, -1).includes("*")) return "has a * that is not its last character"
  const segments = path.split("/")
  // The last segment may be empty: paths that are listed end in a slash.
  if (segments.slice(0, -1).includes("")) return "has an empty segment"
  return segments.some((segment) => segment.includes("+") && segment !== "+")
    ? "has a + that is not a whole segment"
    : undefined
}

type Mark = "{" | "}" | "[" | "]" | "=" | ":" | ","
type Token =
  | { readonly kind: "text" | "word"; readonly text: string; readonly line: number }
  | { readonly kind: "mark"; readonly text: Mark; readonly line: number }
  | { readonly kind: "end"; readonly text: ""; readonly line: number }

/** Reads tokens from left to right, and the values that they form. Each token is read once, so the time is linear. */
class Reader {
  readonly #text: string
  readonly #form: "hcl" | "json"
  #at = 0
  #line = 1
  #peeked: Token | undefined

  constructor(text: string, form: "hcl" | "json") {
    this.#text = text
    this.#form = form
  }

  next(): Token {
    const token = this.#peeked ?? this.#scan()
    this.#peeked = undefined
    return token
  }

  expect(mark: Mark): Token {
    const token = this.next()
    if (token.kind !== "mark" || token.text !== mark) throw unexpected(token, `"${mark}"`)
    return token
  }

  /** Reads an object after its opening brace. */
  object({ line }: Token, depth: number): Value & { kind: "object" } {
    const members: Member[] = []
    while (!this.#closes("}", members.length)) {
      const key = this.next()
      if (key.kind !== "text" && !(key.kind === "word" && this.#form === "hcl")) throw unexpected(key, "a name")
      this.expect(this.#form === "hcl" ? "=" : ":")
      members.push({ key: key.text, line: key.line, value: this.#value(depth + 1) })
    }
    return { kind: "object", line, members }
  }

  #value(depth: number): Value {
    const token = this.next()
    const { line } = token
    if (depth > maxDepth) throw onLine(line, `the policy nests deeper than ${maxDepth} levels`)
    if (token.kind === "text") return { kind: "text", line, text: token.text }
    if (token.kind === "word") return { kind: "word", line }
    if (token.kind === "mark" && token.text === "{") return this.object(token, depth)
    if (token.kind !== "mark" || token.text !== "[") throw unexpected(token, "a value")
    const items: Value[] = []
    while (!this.#closes("]", items.length)) items.push(this.#value(depth + 1))
    return { kind: "list", line, items }
  }

  /** Returns true if the object or list ends here. Otherwise consumes the comma before the next entry. */
  #closes(mark: "}" | "]", entries: number): boolean {
    if (this.#take(mark)) return true
    if (entries === 0) return false
    if (!this.#take(",")) {
      // HCL needs no comma between members of an object, which are on lines of their own.
      if (this.#form === "hcl" && mark === "}") return false
      throw unexpected(this.next(), `"," or "${mark}"`)
    }
    return this.#form === "hcl" && this.#take(mark)
  }

  #take(mark: Mark): boolean {
    this.#peeked ??= this.#scan()
    const taken = this.#peeked.kind === "mark" && this.#peeked.text === mark
    if (taken) this.#peeked = undefined
    return taken
  }

  #scan(): Token {
    this.#skipBlanks()
    const line = this.#line
    const character = this.#text[this.#at]
    if (character === undefined) return { kind: "end", text: "", line }
    if (isMark(character)) {
      this.#at += 1
      return { kind: "mark", text: character, line }
    }
    if (character === '"') return { kind: "text", text: this.#quotedText(), line }
    const word = this.#match(wordPattern)
    if (word === undefined)
      throw onLine(line, `unexpected character ${quoted(String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0))}`)
    return { kind: "word", text: word, line }
  }

  #skipBlanks(): void {
    for (;;) {
      const begin = this.#line
      const blank = this.#match(blanks) ?? (this.#form === "hcl" ? this.#match(comment) : undefined)
      if (blank === undefined) return
      if (blank.startsWith("/*") && !/[^]{2}\*\/$/.test(blank))
        throw onLine(begin, "a comment that begins with /* does not end")
      for (const one of blank) if (one === "\n") this.#line += 1
    }
  }

  #quotedText(): string {
    const found = this.#match(quotation)
    if (found === undefined) throw onLine(this.#line, "a quoted string does not end on its line")
    try {
      return JSON.parse(found) as string
    } catch {
      throw onLine(this.#line, `${found} is not a valid JSON string`)
    }
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found === undefined) return undefined
    this.#at += found.length
    return found
  }
}

const blanks = /[ \t\r\n]+/y
const comment = /(?:#|\/\/)[^\n]*|\/\*[^]*?(?:\*\/|$)/y
const quotation = /"(?:[^"\\\n]|\\.)*"/y
const wordPattern = /[A-Za-z0-9_.-]+/y

const marks = new Set<string>(["{", "}", "[", "]", "=", ":", ","])
const isMark = (character: string): character is Mark => marks.has(character)

const fault = (detail: string): Fault => ({ field: ["policy"], detail })
const faultOn = (line: number, detail: string): Fault => fault(`policy line ${line}: ${detail}`)
const onLine = (line: number, detail: string) => invalid([faultOn(line, detail)])
const unexpected = ({ kind, text, line }: Token, wanted: string) =>
  onLine(line, `expected ${wanted}, found ${kind === "end" ? "the end of the text" : quoted(text)}`)

/** Long enough to find the text in the policy. */
const maxShown = 60
const quoted = (text: string): string => JSON.stringify(text.length > maxShown ? `${text.slice(0, maxShown)}…` : text)
