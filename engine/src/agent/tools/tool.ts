// Programs that execute runs, and how they are named on disk, on mirrors and in messages.

export type ToolKind = "terraform" | "opentofu"

export interface ToolRequest {
  readonly kind: ToolKind
  /** Version, constraint (`~> 1.10.0`) or `latest`, as in `terraform-version` of a workspace. */
  readonly version: string
}

export interface InstalledTool {
  readonly kind: ToolKind
  readonly version: string
  /** Absolute path. */
  readonly program: string
  /** Origin for the log of the run: a path, the URL of the mirror, or PATH. */
  readonly origin: string
}

export interface ToolSource {
  /** Returns undefined if the source has no version that matches. Throws `ToolError` if it cannot be used. */
  find(request: ToolRequest, signal: AbortSignal): Promise<InstalledTool | undefined>
}

interface ToolNames {
  readonly product: string
  /** Name of the program, of its folder, and the start of the names of its archives. */
  readonly program: string
}

export const toolNames: Readonly<Record<ToolKind, ToolNames>> = {
  terraform: { product: "Terraform", program: "terraform" },
  opentofu: { product: "OpenTofu", program: "tofu" },
}

/** Operating system and architecture, as Go and the names of archives write them. */
export interface Platform {
  readonly os: string
  readonly arch: string
}

const architectures: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" }

/** Converts `process.platform` and `process.arch`. */
export const platformOf = (os: string, arch: string): Platform => ({ os, arch: architectures[arch] ?? arch })

export const archiveName = (kind: ToolKind, version: string, { os, arch }: Platform): string =>
  `${toolNames[kind].program}_${version}_${os}_${arch}.zip`

export const checksumsName = (kind: ToolKind, version: string): string =>
  `${toolNames[kind].program}_${version}_SHA256SUMS`

/** HashiCorp and OpenTofu name the detached signature of the checksums differently. */
export const signatureName = (kind: ToolKind, version: string): string =>
  `${checksumsName(kind, version)}.${kind === "terraform" ? "sig" : "gpgsig"}`

/** One place that may have versions of a tool. */
export interface ToolOrigin {
  /** Name for messages: `the mirror https://…`, `the folder /opt/tools`, `PATH`. */
  readonly name: string
  /** Returns the versions of a kind in any order. Empty if there are none. Throws `ToolError` if they cannot be read. */
  versions(kind: ToolKind, signal: AbortSignal): Promise<readonly string[]>
  /** Returns the program of an exact version. Undefined if there is none. Throws `ToolError` if it cannot be used. */
  install(kind: ToolKind, version: string, signal: AbortSignal): Promise<InstalledTool | undefined>
}
