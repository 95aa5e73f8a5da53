// Textual encodings (RFC 7468). The reader is strict inside a block and ignores text around it, because OpenSSL writes names and dumps
// before blocks.
import { UnacceptableInput } from "./unacceptable-input.ts"

export interface PemBlock {
  /** Label, such as `CERTIFICATE` or `EC PRIVATE KEY`. */
  readonly label: string
  readonly bytes: Uint8Array
}

export type PemLabel =
  | "CERTIFICATE"
  | "CERTIFICATE REQUEST"
  | "X509 CRL"
  | "PUBLIC KEY"
  | "PRIVATE KEY"
  | "RSA PRIVATE KEY"
  | "EC PRIVATE KEY"

/** Characters of a line (RFC 7468, section 2). */
const lineLength = 64

/** Returns a block without a final newline. Blocks are joined by one, and a body of a single block has none. */
export function writePem(label: PemLabel, bytes: Uint8Array): string {
  const encoded = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")
  let text = `-----BEGIN ${label}-----\n`
  for (let at = 0; at < encoded.length; at += lineLength) text += `${encoded.slice(at, at + lineLength)}\n`
  return `${text}-----END ${label}-----`
}

/** Maximum length of a label in a block and in errors. The longest label in use has 24 characters. */
const maxLabel = 64

/**
 * Returns all blocks in the order of the text. Throws `UnacceptableInput` with the position of a malformed block, or for text of more
 * than `maximumLength` characters.
 */
export function readPem(text: string, maximumLength: number): PemBlock[] {
  if (text.length > maximumLength)
    throw new UnacceptableInput(`The PEM text has ${text.length} characters; the maximum is ${maximumLength}`)
  const blocks: PemBlock[] = []
  let begin: Boundary | undefined
  for (const boundary of boundaries(text)) {
    if (boundary.kind === "BEGIN") {
      if (begin !== undefined) throw malformed(blocks.length, begin, "has no END line before the next BEGIN line")
      begin = boundary
    } else {
      if (begin === undefined)
        throw new UnacceptableInput(`The PEM text has the line "END ${boundary.label}" without its BEGIN line`)
      if (boundary.label !== begin.label)
        throw malformed(blocks.length, begin, `ends with the line "END ${boundary.label}"`)
      blocks.push({ label: begin.label, bytes: decode(text.slice(begin.end, boundary.start), blocks.length, begin) })
      begin = undefined
    }
  }
  if (begin !== undefined) throw malformed(blocks.length, begin, "has no END line")
  return blocks
}

interface Boundary {
  readonly kind: "BEGIN" | "END"
  readonly label: string
  readonly start: number
  readonly end: number
}

/** Words of printable characters with a single space or hyphen between them (RFC 7468, section 3). */
const boundaryLine = /^-----(BEGIN|END) ([!-,.-~]+(?:[ -][!-,.-~]+)*)-----[ \t]*$/

/** Throws for lines that resemble a boundary but are not one, so that no block is silently skipped as text. */
function* boundaries(text: string): Generator<Boundary> {
  for (let at = nextBoundary(text, 0); at >= 0;) {
    const end = endOfLine(text, at)
    const line = text.slice(at, Math.min(end, at + maxLabel + 64))
    const [, kind, label = ""] = (isLineStart(text, at) ? boundaryLine.exec(line) : null) ?? []
    if (kind === undefined || label.length > maxLabel)
      throw new UnacceptableInput(
        `Line ${lineNumber(text, at)} of the PEM text contains a boundary that is not "-----BEGIN LABEL-----" or "-----END LABEL-----" on a separate line`,
      )
    yield { kind: kind === "BEGIN" ? "BEGIN" : "END", label, start: at, end }
    at = nextBoundary(text, end)
  }
}

function nextBoundary(text: string, from: number): number {
  for (let at = text.indexOf("-----", from); at >= 0; at = text.indexOf("-----", at + 1)) {
    if (text.startsWith("BEGIN", at + 5) || text.startsWith("END", at + 5)) return at
  }
  return -1
}

const isLineStart = (text: string, at: number): boolean => at === 0 || text[at - 1] === "\n" || text[at - 1] === "\r"

function endOfLine(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) if (text[at] === "\n" || text[at] === "\r") return at
  return text.length
}

const lineNumber = (text: string, at: number): number => text.slice(0, at).split(/\r\n|\r|\n/).length

/** Decodes lines of any length and ignores whitespace. */
function decode(body: string, index: number, begin: Boundary): Uint8Array {
  if (/^\s*Proc-Type:[^\n\r]*ENCRYPTED/.test(body)) throw malformed(index, begin, "is encrypted; decrypt it first")
  if (/^\s*[\w-]+:/.test(body)) throw malformed(index, begin, "has header lines, which are not supported")
  const encoded = body.replaceAll(/[ \t\r\n]+/g, "")
  if (encoded === "") throw malformed(index, begin, "is empty")
  const bytes = Buffer.from(encoded, "base64")
  // The decoder ignores invalid characters. Encoding again detects them.
  if (bytes.toString("base64") !== encoded) throw malformed(index, begin, "is not correct base64")
  return bytes
}

const malformed = (index: number, begin: Boundary, problem: string): UnacceptableInput =>
  new UnacceptableInput(`PEM block ${index + 1} (${begin.label}) ${problem}`)
