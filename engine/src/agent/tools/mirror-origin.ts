// A mirror of releases. For Terraform it has the layout of releases.hashicorp.com, for OpenTofu that of its downloads on GitHub with the
// index of get.opentofu.org (docs/agent-tools.md, "Make a mirror").
import type { Downloader } from "../../client/outgoing/download.ts"
import { FetchFailure } from "../../core/fetch.ts"
import { type JsonBounds, defaultJsonBounds, parseBoundedJson } from "../../core/json-bounds.ts"
import { minuteMs } from "../../core/time.ts"
import type { ReleaseFile, ReleaseFiles, ReleaseInstaller } from "./release-installer.ts"
import { type ToolKind, toolNames, type ToolOrigin } from "./tool.ts"
import { ToolError } from "./tool-error.ts"

export interface MirrorOriginOptions {
  /** Base URL without a trailing slash. */
  readonly url: string
  readonly downloader: Downloader
  readonly installer: ReleaseInstaller
  /** Timeout of one file. Default: 30 minutes, as for 512 MiB at 300 kB/s. */
  readonly fileTimeoutMs?: number
}

/** The index of Terraform has about 2 MB. */
const maxIndexBytes = 16 * 1024 * 1024
const indexBounds: JsonBounds = { ...defaultJsonBounds, depth: 10 }

export function mirrorOrigin(options: MirrorOriginOptions): ToolOrigin {
  const shown = withoutCredentials(options.url)
  const name = `the mirror ${shown}`
  const { downloader, installer, fileTimeoutMs = 30 * minuteMs } = options

  async function open(path: string, maxBytes: number, signal: AbortSignal) {
    const url = `${options.url}/${path}`
    try {
      const body = await downloader.download({ url, maxBytes, timeoutMs: fileTimeoutMs, signal })
      return body && translateErrors(body, `${path} of ${name}`)
    } catch (error) {
      throw translated(error, `${path} of ${name}`)
    }
  }

  const files: ReleaseFiles = {
    name,
    origin: shown,
    open: (file, signal) => open(filePath(file), file.maxBytes, signal),
  }

  return {
    name,
    async versions(kind, signal) {
      const path = indexPaths[kind]
      const body = await open(path, maxIndexBytes, signal)
      if (body === undefined) return []
      const chunks: Buffer[] = []
      for await (const chunk of body) chunks.push(chunk)
      return parseIndex(kind, Buffer.concat(chunks), `${path} of ${name}`)
    },
    install: (kind, version, signal) => installer.install(files, kind, version, signal),
  }
}

const indexPaths: Readonly<Record<ToolKind, string>> = { terraform: "terraform/index.json", opentofu: "tofu/api.json" }

const filePath = ({ kind, version, name }: ReleaseFile): string =>
  kind === "terraform" ? `terraform/${version}/${name}` : `${toolNames[kind].program}/v${version}/${name}`

/** Returns the versions of an index. */
function parseIndex(kind: ToolKind, bytes: Buffer, subject: string): readonly string[] {
  let index: unknown
  try {
    index = parseBoundedJson(bytes, indexBounds)
  } catch (error) {
    throw new ToolError(`${subject} is not valid JSON: ${(error as Error).message}`, error)
  }
  const { versions } = (isObject(index) ? index : {}) as { readonly versions?: unknown }
  if (kind === "terraform" && isObject(versions)) return Object.keys(versions)
  if (kind === "opentofu" && Array.isArray(versions))
    return versions.flatMap((each: unknown) => (isObject(each) && typeof each["id"] === "string" ? [each["id"]] : []))
  throw new ToolError(`versions in ${subject} must be ${kind === "terraform" ? "an object" : "an array"}`)
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

async function* translateErrors(body: AsyncIterable<Buffer>, subject: string): AsyncGenerator<Buffer> {
  try {
    yield* body
  } catch (error) {
    throw translated(error, subject)
  }
}

const translated = (error: unknown, subject: string): unknown =>
  error instanceof FetchFailure ? new ToolError(`${subject} cannot be downloaded: ${error.message}`, error) : error

function withoutCredentials(text: string): string {
  const url = new URL(text)
  url.username = ""
  url.password = ""
  return url.href.replace(/\/$/, "")
}
