// Installs a release: checksums, their signature, the archive, the program. The steps are the same for a mirror and for a folder of archives.
import { createHash } from "node:crypto"
import { open } from "node:fs/promises"
import { dirname, join } from "node:path"
import { extractProgram } from "./archive.ts"
import { findChecksum, maxChecksumsBytes } from "./checksums.ts"
import { type SigningKey, verifySignature } from "./openpgp.ts"
import { readProgramVersion } from "./program-version.ts"
import {
  archiveName,
  checksumsName,
  type InstalledTool,
  type Platform,
  signatureName,
  type ToolKind,
  toolNames,
} from "./tool.ts"
import type { ToolCache } from "./tool-cache.ts"
import { ToolError } from "./tool-error.ts"

/** Files of releases. */
export interface ReleaseFiles {
  /** Origin for messages: `the mirror https://…`, `the folder /opt/tools`. */
  readonly name: string
  /** Origin for the log of a run. */
  readonly origin: string
  /** Returns the content of a file. Undefined if it does not exist. Throws `ToolError` if it cannot be read or exceeds `maxBytes`. */
  open(file: ReleaseFile, signal: AbortSignal): Promise<AsyncIterable<Buffer> | undefined>
}

export interface ReleaseFile {
  readonly kind: ToolKind
  readonly version: string
  readonly name: string
  readonly maxBytes: number
}

export interface InstallerOptions {
  readonly cache: ToolCache
  /** Keys that may sign checksums of a kind. */
  readonly keys: Readonly<Record<ToolKind, readonly SigningKey[]>>
  /** `off` accepts checksums without a signature. A signature that exists is verified anyway. */
  readonly signature: "required" | "off"
  readonly platform: Platform
}

export interface ReleaseInstaller {
  /** Returns a version from the cache or from `files`. Undefined if `files` do not have it. */
  install(files: ReleaseFiles, kind: ToolKind, version: string, signal: AbortSignal): Promise<InstalledTool | undefined>
}

const maxSignatureBytes = 64 * 1024
/** OpenTofu's archives have about 30 MB. */
const maxArchiveBytes = 512 * 1024 * 1024

export function createReleaseInstaller(options: InstallerOptions): ReleaseInstaller {
  const { cache } = options
  /** Installations in progress, so that the slots of one agent do not download the same version at once. */
  const inProgress = new Map<string, Promise<unknown>>()

  async function installOnce(files: ReleaseFiles, kind: ToolKind, version: string, signal: AbortSignal) {
    const cached = await cache.find(kind, version)
    if (cached !== undefined && isTrusted(cached.signedBy, kind, options))
      return { kind, version, program: cached.program, origin: cached.program }
    const release = await readChecksum(files, { kind, version, signal }, options)
    if (release === undefined) return undefined
    const program = await cache.add(kind, version, async (folder) => {
      await unpackRelease(files, { ...release, kind, version, folder, signal })
      return { signedBy: release.signedBy }
    })
    return { kind, version, program, origin: files.origin }
  }

  return {
    async install(files, kind, version, signal) {
      const key = `${kind} ${version}`
      const earlier = inProgress.get(key)
      const work = (async () => {
        // Whether it succeeded is in the cache.
        await earlier?.catch(() => {})
        signal.throwIfAborted()
        return installOnce(files, kind, version, signal)
      })()
      inProgress.set(key, work)
      try {
        return await work
      } finally {
        if (inProgress.get(key) === work) inProgress.delete(key)
      }
    },
  }
}

/** Returns whether a cached program may be used with the present keys and the present option. */
const isTrusted = (signedBy: string | null, kind: ToolKind, { keys, signature }: InstallerOptions): boolean =>
  signedBy === null ? signature === "off" : keys[kind].some(({ fingerprint }) => fingerprint === signedBy)

interface Release {
  readonly archive: string
  readonly sha256: string
  readonly signedBy: string | null
}

interface Wanted {
  readonly kind: ToolKind
  readonly version: string
  readonly signal: AbortSignal
}

async function readChecksum(
  files: ReleaseFiles,
  { kind, version, signal }: Wanted,
  options: InstallerOptions,
): Promise<Release | undefined> {
  const name = checksumsName(kind, version)
  const sums = await readAll(files, { kind, version, name, maxBytes: maxChecksumsBytes }, signal)
  if (sums === undefined) return undefined
  const signatureFile = signatureName(kind, version)
  const signature = await readAll(files, { kind, version, name: signatureFile, maxBytes: maxSignatureBytes }, signal)
  if (signature === undefined && options.signature === "required")
    throw new ToolError(`${signatureFile} is missing in ${files.name}; add it, or set --tools-signature off`)
  const signedBy =
    signature === undefined
      ? null
      : within(`${signatureFile} of ${files.name} is not valid`, () =>
          verifySignature(signature, sums, options.keys[kind]),
        ).fingerprint
  const archive = archiveName(kind, version, options.platform)
  const sha256 = within(`${name} of ${files.name} is malformed`, () => findChecksum(sums.toString("utf8"), archive))
  if (sha256 === undefined)
    throw new ToolError(`${name} of ${files.name} does not list ${archive}; this platform needs another version`)
  return { archive, sha256, signedBy }
}

async function unpackRelease(
  files: ReleaseFiles,
  { archive: name, sha256, kind, version, folder, signal }: Release & Wanted & { readonly folder: string },
): Promise<void> {
  const subject = `${name} of ${files.name}`
  const content = await files.open({ kind, version, name, maxBytes: maxArchiveBytes }, signal)
  if (content === undefined) throw new ToolError(`${subject} is missing, but ${checksumsName(kind, version)} lists it`)
  const archive = join(dirname(folder), "archive.zip")
  const actual = await save(content, archive)
  if (actual !== sha256) throw new ToolError(`${subject} has the SHA-256 ${actual}; its checksum file lists ${sha256}`)
  const program = join(folder, toolNames[kind].program)
  try {
    await extractProgram(archive, { name: toolNames[kind].program, target: program, signal })
  } catch (error) {
    throw error instanceof ToolError ? new ToolError(`${subject} ${error.message}`, error) : error
  }
  const reported = await readProgramVersion(kind, program, signal)
  if (reported !== version) throw new ToolError(`${subject} contains the version ${reported}`)
}

async function readAll(files: ReleaseFiles, file: ReleaseFile, signal: AbortSignal): Promise<Buffer | undefined> {
  const content = await files.open(file, signal)
  if (content === undefined) return undefined
  const chunks: Buffer[] = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Writes chunks to a new file and returns the SHA-256 of its content. */
async function save(content: AsyncIterable<Buffer>, file: string): Promise<string> {
  const hash = createHash("sha256")
  await using handle = await open(file, "wx", 0o600)
  for await (const chunk of content) {
    hash.update(chunk)
    await handle.writeFile(chunk)
  }
  return hash.digest("hex")
}

/** Calls a rule and puts a description of its input in front of its errors. */
function within<T>(problem: string, rule: () => T): T {
  try {
    return rule()
  } catch (error) {
    throw error instanceof ToolError ? new ToolError(`${problem}: ${error.message}`, error) : error
  }
}
