// Unpacks the one program of a release from its zip archive. Nothing else of the archive is written.
import { createWriteStream } from "node:fs"
import { pipeline } from "node:stream/promises"
import { type Entry, openPromise, type ZipFile } from "yauzl"
import { ToolError } from "./tool-error.ts"

/** OpenTofu's program has about 110 MB unpacked. */
const maxProgramBytes = 1024 ** 3
/** An archive contains the program, a license and at most a few texts. */
const maxEntries = 100
const fileTypeMask = 0o170_000
const regularFile = 0o100_000

/** Writes the program `name` of the archive to the file `target`, which must not exist. Throws `ToolError` for any other archive. */
export async function extractProgram(
  archive: string,
  { name, target, signal }: { readonly name: string; readonly target: string; readonly signal: AbortSignal },
): Promise<void> {
  try {
    // Rejects absolute names, `..` and backslashes in names, wrong sizes and wrong checksums of entries.
    const zip = await openPromise(archive, { strictFileNames: true, autoClose: false })
    try {
      const entry = await findProgram(zip, name)
      const content = await zip.openReadStreamPromise(entry)
      await pipeline(content, createWriteStream(target, { flags: "wx", mode: 0o555 }), { signal })
    } finally {
      zip.close()
    }
  } catch (error) {
    if (error instanceof ToolError || signal.aborted) throw error
    throw new ToolError(`is not a valid zip archive: ${error instanceof Error ? error.message : String(error)}`, error)
  }
}

async function findProgram(zip: ZipFile, name: string): Promise<Entry> {
  if (zip.entryCount > maxEntries) throw new ToolError(`has more than ${maxEntries} entries`)
  const programs: Entry[] = []
  for await (const entry of zip.eachEntry()) {
    // The upper half has the mode on Unix, and is 0 in archives that were made on other systems.
    const type = (entry.externalFileAttributes >>> 16) & fileTypeMask
    if (!entry.fileName.endsWith("/") && type !== 0 && type !== regularFile)
      throw new ToolError(`contains ${JSON.stringify(entry.fileName)}, which is not a regular file`)
    if (entry.fileName === name) programs.push(entry)
  }
  const [program] = programs
  if (program === undefined) throw new ToolError(`contains no file ${name}`)
  if (programs.length > 1) throw new ToolError(`contains ${name} more than once`)
  if (program.uncompressedSize > maxProgramBytes)
    throw new ToolError(`contains a file ${name} of more than ${maxProgramBytes} bytes`)
  return program
}
