// The tools of an agent: a folder, a mirror and the PATH, in this order.
import { readFile, stat } from "node:fs/promises"
import { resolve } from "node:path"
import { createDownloader } from "../../client/outgoing/download.ts"
import type { Clock } from "../../core/time.ts"
import { folderOrigin } from "./folder-origin.ts"
import { mirrorOrigin } from "./mirror-origin.ts"
import { parseSigningKeys, type SigningKey } from "./openpgp.ts"
import { pathOrigin } from "./path-origin.ts"
import { publisherKeys } from "./publisher-keys.ts"
import { createReleaseInstaller } from "./release-installer.ts"
import {
  type InstalledTool,
  type Platform,
  platformOf,
  toolNames,
  type ToolOrigin,
  type ToolRequest,
  type ToolSource,
} from "./tool.ts"
import { openToolCache, removeAbandonedInstallations } from "./tool-cache.ts"
import { ToolError } from "./tool-error.ts"
import { assertVersionText, chooseVersion, isExactVersion, sortVersions } from "./version-choice.ts"

export interface ToolOptions {
  /** Folder that the agent may write. Programs are installed below `tools` in it. */
  readonly cache: string
  /** `--tools`: folder with programs or archives. */
  readonly folder?: string
  /** `--tools-mirror`: base URL, http or https. It may contain a user name and a password. */
  readonly mirror?: string
  /** `--tools-key`: file with OpenPGP keys that may sign checksums, in addition to those of HashiCorp and OpenTofu. */
  readonly keyFile?: string
  /** `--tools-signature`: `off` accepts checksums without a signature. Default: `required`. */
  readonly signature?: "required" | "off"
  /** Certificates that the mirror's is checked against, in addition to those of the system, in PEM. */
  readonly certificateAuthority?: string
  /** Proxy for requests to the mirror. Default: direct connections. */
  readonly proxyUrl?: string
  /** Default: the PATH of this process. */
  readonly path?: string
  /** Default: the platform of this process. */
  readonly platform?: Platform
  /** Timeout of one file of the mirror. Default: 30 minutes. */
  readonly fileTimeoutMs?: number
  /** Timeout of connections, and between two chunks of a file of the mirror. Default: 30 seconds. */
  readonly idleTimeoutMs?: number
  readonly clock: Clock
}

export interface Tools extends ToolSource, AsyncDisposable {
  /** Returns the program. Throws `ToolError`, which names all that was tried and the existing versions, if there is none. */
  find(request: ToolRequest, signal: AbortSignal): Promise<InstalledTool>
  /** Returns lines for the start of the agent: the origins in the order in which they are tried. */
  describe(): readonly string[]
}

const maxKeyFileBytes = 256 * 1024
/** Versions that an error names for each origin. */
const maxNamedVersions = 8

/** Opens the origins. Throws `ToolError` if an option is not usable. */
export async function openTools(options: ToolOptions): Promise<Tools> {
  const { clock, signature = "required", path = process.env["PATH"] ?? "" } = options
  const platform = options.platform ?? platformOf(process.platform, process.arch)
  const cache = resolve(options.cache)
  const folder = options.folder === undefined ? undefined : await existingFolder(options.folder)
  const mirror = options.mirror === undefined ? undefined : mirrorUrl(options.mirror, signature)
  const ownKeys = options.keyFile === undefined ? [] : await readKeys(options.keyFile)
  const keysOf = (armored: string): readonly SigningKey[] => [...parseSigningKeys(Buffer.from(armored)), ...ownKeys]
  await removeAbandonedInstallations(cache, clock.now())

  const installer = createReleaseInstaller({
    cache: openToolCache(cache),
    keys: { terraform: keysOf(publisherKeys.terraform.armored), opentofu: keysOf(publisherKeys.opentofu.armored) },
    signature,
    platform,
  })
  const downloader = createDownloader(options)
  const { fileTimeoutMs } = options
  const origins: readonly ToolOrigin[] = [
    ...(folder === undefined ? [] : [folderOrigin({ folder, installer, platform })]),
    ...(mirror === undefined
      ? []
      : [
          mirrorOrigin({
            url: mirror,
            downloader,
            installer,
            ...(fileTimeoutMs === undefined ? {} : { fileTimeoutMs }),
          }),
        ]),
    pathOrigin(path),
  ]

  return {
    find: (request, signal) => findTool(origins, request, signal),
    describe: () => [
      ...origins.map(({ name }, index) => `terraform and tofu, ${index + 1} of ${origins.length}: ${name}`),
      ...(ownKeys.length === 0
        ? []
        : [`additional signing keys: ${[...new Set(ownKeys.map((key) => key.primaryFingerprint))].join(", ")}`]),
      ...(signature === "off" ? ["signatures of releases: not required"] : []),
    ],
    [Symbol.asyncDispose]: () => downloader[Symbol.asyncDispose](),
  }
}

/**
 * Returns the first match. An origin that fails ends the search: a later origin could have another version, and a run must not depend on
 * which server answers.
 */
export async function findTool(
  origins: readonly ToolOrigin[],
  { kind, version: text }: ToolRequest,
  signal: AbortSignal,
): Promise<InstalledTool> {
  assertVersionText(text)
  for (const origin of origins) {
    const version = isExactVersion(text) ? text : newestMatch(text, await origin.versions(kind, signal))
    const installed = version === undefined ? undefined : await origin.install(kind, version, signal)
    if (installed !== undefined) return installed
  }
  const tried = await Promise.all(
    origins.map(async (origin) => `${origin.name} has ${listVersions(await origin.versions(kind, signal))}`),
  )
  throw new ToolError(
    `terraform-version ${JSON.stringify(text)} matches no ${toolNames[kind].product} of this agent: ${tried.join("; ")}. ` +
      "Change terraform-version, or add the version to the folder of --tools or the mirror of --tools-mirror.",
  )
}

/** `latest` falls back to a pre-release, because an origin may have nothing else. */
const newestMatch = (text: string, versions: readonly string[]): string | undefined =>
  chooseVersion(text, versions) ?? (text === "latest" ? sortVersions(versions).at(-1) : undefined)

function listVersions(versions: readonly string[]): string {
  const newestFirst = sortVersions(versions).toReversed()
  if (newestFirst.length === 0) return "none"
  const others = newestFirst.length - maxNamedVersions
  return `${newestFirst.slice(0, maxNamedVersions).join(", ")}${others > 0 ? ` and ${others} older` : ""}`
}

async function existingFolder(option: string): Promise<string> {
  const folder = resolve(option)
  const found = await stat(folder).catch(() => undefined)
  if (found?.isDirectory() !== true) throw new ToolError(`--tools ${folder} is not a folder`)
  return folder
}

function mirrorUrl(text: string, signature: "required" | "off"): string {
  const url = URL.parse(text)
  // The text is not repeated, because it may contain a password.
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:") || url.search !== "" || url.hash !== "")
    throw new ToolError("--tools-mirror must be an http or https URL without a query")
  if (url.protocol === "http:" && signature === "off")
    throw new ToolError("--tools-signature off requires an https URL in --tools-mirror; http would protect nothing")
  return url.href.replace(/\/+$/, "")
}

async function readKeys(option: string): Promise<readonly SigningKey[]> {
  const file = resolve(option)
  const found = await stat(file).catch(() => undefined)
  if (found?.isFile() !== true) throw new ToolError(`--tools-key ${file} is not a file`)
  if (found.size > maxKeyFileBytes) throw new ToolError(`--tools-key ${file} has more than ${maxKeyFileBytes} bytes`)
  try {
    return parseSigningKeys(await readFile(file))
  } catch (error) {
    throw new ToolError(`--tools-key ${file} is not usable: ${(error as Error).message}`, error)
  }
}
