/** Shown in place of a secret. Contains no character that JSON escapes, because logs can consist of JSON messages. */
export const maskText = "(sensitive value)"

/** Shorter values occur in many places by chance, and masking them would make the log unreadable. */
const minSecretLength = 4

/**
 * Replaces secrets in a stream of bytes. A secret is also found if it is escaped as in JSON, or if it spans two chunks: the end of a chunk
 * that could begin a secret is held back until more follows.
 */
export class SecretMask {
  readonly #secrets: readonly Buffer[]
  #rest = Buffer.alloc(0)

  constructor(secrets: Iterable<string>) {
    const texts = new Set([...secrets].flatMap(formsOf))
    // The longest first, so that a secret that begins with another one is masked as a whole.
    this.#secrets = [...texts].map((text) => Buffer.from(text)).toSorted((one, other) => other.length - one.length)
  }

  /** Returns the bytes that can be shown now. */
  push(bytes: Uint8Array): Buffer {
    const all = this.#rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#rest, bytes])
    const { masked, end } = this.#mask(all)
    const heldFrom = this.#heldFrom(all, end)
    this.#rest = all.subarray(heldFrom)
    return Buffer.concat([...masked, all.subarray(end, heldFrom)])
  }

  /** Returns the bytes that were held back. */
  flush(): Buffer {
    const rest = this.#rest
    this.#rest = Buffer.alloc(0)
    return rest
  }

  /** Masks complete secrets. Returns the chunks up to the end of the last one, and that end. */
  #mask(all: Buffer): { readonly masked: readonly Buffer[]; readonly end: number } {
    const masked: Buffer[] = []
    let end = 0
    for (;;) {
      const next = this.#firstFrom(all, end)
      if (next === undefined) return { masked, end }
      masked.push(all.subarray(end, next.at), Buffer.from(maskText))
      end = next.at + next.length
    }
  }

  #firstFrom(all: Buffer, from: number): { readonly at: number; readonly length: number } | undefined {
    let first: { readonly at: number; readonly length: number } | undefined
    for (const { at, secret } of this.#secrets.map((each) => ({ secret: each, at: all.indexOf(each, from) })))
      if (at !== -1 && (first === undefined || at < first.at)) first = { at, length: secret.length }
    return first
  }

  /** Returns the start of the longest end of `all` that begins a secret. */
  #heldFrom(all: Buffer, from: number): number {
    const longest = (this.#secrets[0]?.length ?? 0) - 1
    for (let at = Math.max(from, all.length - longest); at < all.length; at += 1) {
      const end = all.subarray(at)
      if (this.#secrets.some((secret) => secret.length > end.length && secret.subarray(0, end.length).equals(end)))
        return at
    }
    return all.length
  }
}

/** Returns the texts by which a secret can occur. Tools print each line of a long value on its own. */
function formsOf(secret: string): string[] {
  const lines = secret.includes("\n") ? [secret, ...secret.split(/\r?\n/)] : [secret]
  return lines
    .flatMap((line) => [line, line.trim(), JSON.stringify(line).slice(1, -1), goEscaped(line)])
    .filter((text) => text.length >= minSecretLength)
}

/** JSON as Go writes it: `<`, `>` and `&` are escaped. */
const goEscaped = (text: string): string =>
  JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`)
