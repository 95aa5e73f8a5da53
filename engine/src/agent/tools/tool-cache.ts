// Cache of unpacked programs: `<cache>/tools/terraform/1.11.4/terraform`, with a record of its checksum next to it. A version's folder is
// renamed into place as a whole, so that other agents and a restarted one see either all of it or nothing.
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { dayMs, type Instant } from "../../core/time.ts"
import { type ToolKind, toolNames } from "./tool.ts"

export interface CachedProgram {
  readonly program: string
  /** Fingerprint of the key that signed the checksums. Null if the signature was not required and missing. */
  readonly signedBy: string | null
}

interface CacheRecord {
  readonly sha256: string
  readonly signedBy: string | null
}

export interface ToolCache {
  /** Returns a cached program whose content is still the one that was installed. */
  find(kind: ToolKind, version: string): Promise<CachedProgram | undefined>
  /**
   * Calls `unpack` with an empty folder, into which it writes the program, and adds the program to the cache. If another agent added it
   * at the same time, either copy is kept.
   */
  add(
    kind: ToolKind,
    version: string,
    unpack: (folder: string) => Promise<{ readonly signedBy: string | null }>,
  ): Promise<string>
}

const recordName = "installed.json"
const temporaryPrefix = "temporary-"
/** A download ends within an hour, so an older folder belongs to an agent that was killed. */
const abandonedAfterMs = dayMs
/** An agent that finds a broken version removes it. Two such agents can collide once each. */
const maxAttempts = 5

export function openToolCache(cache: string): ToolCache {
  const root = join(cache, "tools")
  const folderOf = (kind: ToolKind, version: string): string => join(root, toolNames[kind].program, version)

  async function find(kind: ToolKind, version: string): Promise<CachedProgram | undefined> {
    const folder = folderOf(kind, version)
    const program = join(folder, toolNames[kind].program)
    const record = await readRecord(join(folder, recordName))
    if (record === undefined) return undefined
    const sha256 = await hashFile(program)
    return sha256 === record.sha256 ? { program, signedBy: record.signedBy } : undefined
  }

  return {
    find,
    async add(kind, version, unpack) {
      const folder = folderOf(kind, version)
      await mkdir(join(root, toolNames[kind].program), { recursive: true })
      const temporary = await mkdtemp(join(root, temporaryPrefix))
      try {
        const made = join(temporary, "made")
        await mkdir(made, { mode: 0o755 })
        const { signedBy } = await unpack(made)
        const sha256 = await hashFile(join(made, toolNames[kind].program))
        await writeFile(join(made, recordName), JSON.stringify({ sha256, signedBy }))
        // Another agent may have installed the same. Replacing it would hide it from others for a moment.
        const present = await find(kind, version)
        if (present === undefined || present.signedBy !== signedBy)
          await moveIntoPlace(made, folder, join(temporary, "replaced"))
        return join(folder, toolNames[kind].program)
      } finally {
        await rm(temporary, { recursive: true, force: true })
      }
    },
  }
}

/** Replaces the folder of a version. A run that uses the replaced program keeps it, because its file stays open. */
async function moveIntoPlace(made: string, folder: string, replaced: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await rename(made, folder)
      return
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if ((code !== "ENOTEMPTY" && code !== "EEXIST") || attempt === maxAttempts) throw error
      await rename(folder, `${replaced}-${attempt}`).catch(() => {})
    }
  }
}

/** Removes folders of installations that were interrupted more than a day ago. */
export async function removeAbandonedInstallations(cache: string, now: Instant): Promise<void> {
  const root = join(cache, "tools")
  const names = await readdir(root).catch(() => [])
  for (const name of names.filter((each) => each.startsWith(temporaryPrefix))) {
    const changed = await stat(join(root, name)).catch(() => undefined)
    if (changed !== undefined && now - changed.mtimeMs > abandonedAfterMs)
      await rm(join(root, name), { recursive: true, force: true })
  }
}

async function readRecord(file: string): Promise<CacheRecord | undefined> {
  try {
    const record = JSON.parse(await readFile(file, "utf8")) as Partial<CacheRecord> | null
    const { sha256, signedBy } = record ?? {}
    if (typeof sha256 !== "string" || (typeof signedBy !== "string" && signedBy !== null)) return undefined
    return { sha256, signedBy }
  } catch {
    // Missing or damaged: the version is installed again.
    return undefined
  }
}

/** Returns the SHA-256 of a file. Undefined if it cannot be read. */
async function hashFile(file: string): Promise<string | undefined> {
  const hash = createHash("sha256")
  try {
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  } catch {
    return undefined
  }
  return hash.digest("hex")
}
