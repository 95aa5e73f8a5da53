import { ToolError } from "./tool-error.ts"

/** A release has about twenty archives; a line has about a hundred bytes. */
export const maxChecksumsBytes = 256 * 1024

const line = /^([0-9a-fA-F]{64})[ \t]+\*?(\S+)$/

/**
 * Returns the SHA-256 of a file, lower-case hexadecimal, from the lines that `sha256sum` writes. Returns undefined if the file is not
 * listed. Throws `ToolError` if a line is malformed or the file is listed with two checksums.
 */
export function findChecksum(text: string, file: string): string | undefined {
  const found = new Set<string>()
  for (const [index, raw] of text.split("\n").entries()) {
    const trimmed = raw.trim()
    if (trimmed === "") continue
    const [, sum, name] = line.exec(trimmed) ?? []
    if (sum === undefined) throw new ToolError(`line ${index + 1} is not a SHA-256 checksum and a file name`)
    if (name === file) found.add(sum.toLowerCase())
  }
  if (found.size > 1) throw new ToolError(`${file} is listed with different checksums`)
  return found.values().next().value
}
