// Reads configuration archives without unpacking them to disk, so that entry names cannot point outside a directory.
import { createHash } from "node:crypto"
import { Readable } from "node:stream"
import { createGunzip } from "node:zlib"
import type { Parser as TarParser, ReadEntry } from "tar"
import { EngineError, unprocessable } from "../../../core/errors.ts"
import type { Sealer } from "../../../core/sealing.ts"
import {
  type ConfigurationArchive,
  maxReadmeBytes,
} from "../../../workspaces/configuration-versions/configuration-version.ts"
import { openDocument, sealDocument } from "../../sealing/key-sealing.ts"
import { sealPaths } from "../../sealing/seal-paths.ts"

/** Bound on the unpacked size of an archive. It is read to its end although nothing is unpacked to disk. */
const maxUnpackedBytes = 512 * 1024 * 1024
const maxEntries = 100_000

export const sealedConfigurationArchive = (sealer: Sealer): ConfigurationArchive => ({
  inspect: async (bytes, workingDirectory) => ({
    digest: createHash("sha256").update(bytes).digest("hex"),
    readme: await readmeIn(bytes, workingDirectory),
  }),
  pack: async (id, bytes) => sealDocument(sealer, sealPaths.configuration(id), bytes),
  unpack: async (id, chunks) => openDocument(sealer, sealPaths.configuration(id), chunks),
})

async function readmeIn(bytes: Uint8Array, workingDirectory: string | null): Promise<string | null> {
  // Imported on first use, because most engines never read an archive.
  const { Parser } = await import("tar")
  const wanted = readmePaths(workingDirectory)
  const found = new Map<string, Buffer>()
  let entries = 0
  const parser = new Parser({
    strict: true,
    brotli: false,
    zstd: false,
    onReadEntry(entry) {
      entries += 1
      const path = plainPath(entry.path)
      if (wanted.includes(path) && entry.type.endsWith("File") && entry.size <= maxReadmeBytes)
        keep(entry, (text) => found.set(path, text))
      else entry.resume()
    },
  })
  await parsed(parser, bytes, () => entries)
  for (const path of wanted) {
    const text = asText(found.get(path))
    if (text !== undefined) return text
  }
  return null
}

async function parsed(parser: TarParser, bytes: Uint8Array, entries: () => number): Promise<void> {
  let broken = false
  parser.on("error", () => (broken = true))
  let unpacked = 0
  try {
    for await (const piece of Readable.from([bytes]).pipe(
      createGunzip({ chunkSize: 256 * 1024 }),
    ) as AsyncIterable<Buffer>) {
      // The parser would otherwise unpack a compressed archive inside this one, without a bound.
      if (unpacked === 0 && !isTar(piece)) throw unreadable()
      unpacked += piece.length
      parser.write(piece)
      if (broken) throw unreadable()
      if (unpacked > maxUnpackedBytes || entries() > maxEntries) throw tooMuch()
    }
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code?.startsWith("Z_") === true ? unreadable() : error
  }
  if (unpacked === 0) throw unreadable()
  parser.end()
  if (broken) throw unreadable()
}

/** Rejects what the parser would decompress. Only the parser can check that the rest is a tar archive. */
const isTar = (start: Buffer): boolean => !compressions.some((magic) => start.subarray(0, magic.length).equals(magic))
const compressions = [Buffer.of(0x1f, 0x8b), Buffer.of(0x28, 0xb5, 0x2f, 0xfd)]

function keep(entry: ReadEntry, take: (text: Buffer) => void): void {
  const pieces: Buffer[] = []
  entry.on("data", (piece: Buffer) => pieces.push(piece))
  entry.on("end", () => take(Buffer.concat(pieces)))
}

/** Normalizes an entry path. Of several entries with one path the last one counts, as when unpacking. */
const plainPath = (path: string): string => path.replace(/^(\.\/)+/, "").toLowerCase()

function readmePaths(workingDirectory: string | null): readonly string[] {
  const folder = (workingDirectory ?? "").replace(/^(\.?\/)+/, "").replace(/\/+$/, "")
  return folder === "" ? ["readme.md"] : [plainPath(`${folder}/readme.md`), "readme.md"]
}

/** Returns undefined for bytes that are not UTF-8 or contain NUL, which PostgreSQL cannot store. */
function asText(bytes: Buffer | undefined): string | undefined {
  if (bytes === undefined) return undefined
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes)
    return text.includes("\0") ? undefined : text
  } catch {
    return undefined
  }
}

const unreadable = () => unprocessable("The configuration is not a tar archive compressed with gzip")
const tooMuch = () =>
  new EngineError(
    "too-large",
    `The configuration contains more than ${maxEntries} entries or ${maxUnpackedBytes} bytes.`,
  )
