// Unpacks the configuration of a run. The uploader chooses its entries, so nothing may end up outside of the
// folder: no absolute path, no `..`, no link that leads out, no device.
import { once } from "node:events"
import { posix } from "node:path"
import { Readable } from "node:stream"
import { createGunzip } from "node:zlib"
import { Unpack } from "tar"
import { RunFailure } from "./run-failure.ts"

/** Bounds of the server (docs/runs.md, "Configurations"). An executor can also get archives that the server did not check. */
const maxUnpackedBytes = 512 * 1024 * 1024
const maxEntries = 100_000

const entryTypes = new Set(["File", "OldFile", "ContiguousFile", "Directory", "GNUDumpDir", "SymbolicLink", "Link"])

/** Unpacks the gzip-compressed tar archive into an existing, empty folder. Throws `RunFailure` if an entry must not be unpacked. */
export async function unpackConfiguration(archive: Uint8Array, folder: string): Promise<void> {
  let unpacked = 0
  let entries = 0
  let rejected: RunFailure | undefined
  const unpack = new Unpack({
    cwd: folder,
    strict: true,
    // Owners and times of the archive mean nothing on this machine.
    preserveOwner: false,
    noMtime: true,
    filter(path, entry) {
      entries += 1
      const problem = entries > maxEntries ? `more than ${maxEntries} entries` : entryProblem(path, entry as TarEntry)
      if (problem !== undefined) rejected ??= new RunFailure(`The configuration has ${problem}.`)
      return rejected === undefined
    },
  })
  const closed = new Promise<void>((resolve, reject) => {
    unpack.on("close", resolve)
    unpack.on("error", reject)
  })
  // The error is thrown where the promise is awaited.
  closed.catch(() => undefined)
  try {
    for await (const chunk of Readable.from([Buffer.from(archive)]).pipe(createGunzip()) as AsyncIterable<Buffer>) {
      unpacked += chunk.length
      if (unpacked > maxUnpackedBytes)
        throw new RunFailure(`The configuration has more than ${maxUnpackedBytes} bytes when it is unpacked.`)
      if (!unpack.write(chunk)) await Promise.race([once(unpack, "drain"), closed])
      if (rejected !== undefined) throw rejected
    }
    unpack.end()
    await closed
  } catch (error) {
    if (rejected !== undefined) throw rejected
    if (error instanceof RunFailure) throw error
    throw new RunFailure(
      "The configuration is not a tar archive compressed with gzip, or it cannot be unpacked.",
      error,
    )
  }
  if (rejected !== undefined) throw rejected
}

interface TarEntry {
  readonly type: string
  readonly linkpath?: string
}

/** Returns what is wrong with an entry, or undefined. Names are quoted, because they can contain any character. */
export function entryProblem(path: string, { type, linkpath = "" }: TarEntry): string | undefined {
  const name = JSON.stringify(path)
  if (!entryTypes.has(type)) return `the entry ${name} of the type ${type}; only files, folders and links are unpacked`
  if (leadsOut(path)) return `the entry ${name}, which leads out of its folder`
  if (type === "SymbolicLink" && leadsOut(posix.join(posix.dirname(path), linkpath), linkpath))
    return `the link ${name}, which leads out of its folder`
  // The target of a hard link is relative to the root of the archive.
  if (type === "Link" && leadsOut(linkpath)) return `the link ${name}, which leads out of its folder`
  return undefined
}

function leadsOut(path: string, written = path): boolean {
  if (posix.isAbsolute(written) || written.includes("\0")) return true
  const normal = posix.normalize(path)
  return normal === ".." || normal.startsWith("../")
}
