// Textual encodings (RFC 7468). Reading is strict inside a block and indifferent to what stands around it, because
// OpenSSL writes names and dumps before what it encodes.
import { UnacceptableInput } from "./unacceptable-input.ts"

export interface PemBlock {
  /** `CERTIFICATE`, `EC PRIVATE KEY`. */
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

/** Columns of a line (RFC 7468, section 2). */
const lineLength = 64

/** Without a newline at the end: blocks are joined by one, and a body that is one block is served as it is. */
export function writePem(label: PemLabel, bytes: Uint8Array): string {
  const encoded = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")
  let text = `-----BEGIN ${label}-----\n`
  for (let at = 0; at < encoded.length; at += lineLength) text += `${encoded.slice(at, at + lineLength)}\n`
  return `${text}-----END ${label}-----`
}

/** Longest label that an error repeats and a block may have; the longest in use has 24 characters. */
const labelMaximum = 64

/**
 * Every block in the order of the text, none when there is none. `UnacceptableInput` names the block that is malformed, and
 * refuses text of more than `maximumLength` characters unread.
 */
export function readPem(text: string, maximumLength: number): PemBlock[] {
  if (text.length > maximumLength)
    throw new UnacceptableInput(`The PEM text has ${text.length} characters; at most ${maximumLength} are read`)
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

/** What looks like a boundary is one or is refused: a block that were silently taken for text would be missed later. */
function* boundaries(text: string): Generator<Boundary> {
  for (let at = nextBoundary(text, 0); at >= 0;) {
    const end = endOfLine(text, at)
    const line = text.slice(at, Math.min(end, at + labelMaximum + 64))
    const [, kind, label = ""] = (isLineStart(text, at) ? boundaryLine.exec(line) : null) ?? []
    if (kind === undefined || label.length > labelMaximum)
      throw new UnacceptableInput(
        `Line ${lineNumber(text, at)} of the PEM text holds a boundary that is not "-----BEGIN LABEL-----" or "-----END LABEL-----" on a line of its own`,
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

/** Lines of any length; spaces do not count. */
function decode(body: string, index: number, begin: Boundary): Uint8Array {
  if (/^\s*Proc-Type:[^\n\r]*ENCRYPTED/.test(body))
    throw malformed(index, begin, "is encrypted; decrypt it first, encrypted keys are not read")
  if (/^\s*[\w-]+:/.test(body)) throw malformed(index, begin, "has header lines, which are not read")
  const encoded = body.replaceAll(/[ \t\r\n]+/g, "")
  if (encoded === "") throw malformed(index, begin, "is empty")
  const bytes = Buffer.from(encoded, "base64")
  // The decoder passes over whatever it does not know; what is encoded again shows that there was nothing of the kind.
  if (bytes.toString("base64") !== encoded) throw malformed(index, begin, "is not correct base64")
  return bytes
}

const malformed = (index: number, begin: Boundary, problem: string): UnacceptableInput =>
  new UnacceptableInput(`PEM block ${index + 1} (${begin.label}) ${problem}`)
