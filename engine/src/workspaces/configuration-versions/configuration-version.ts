import { conflict, type Fault } from "../../core/errors.ts"
import type { ConfigurationVersionId, OrganizationId, WorkspaceId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { Actor } from "../workspace/workspace.ts"

export const configurationVersionStatuses = [
  "pending",
  "fetching",
  "uploaded",
  "archived",
  "errored",
  "backing_data_soft_deleted",
  "backing_data_permanently_deleted",
] as const
export type ConfigurationVersionStatus = (typeof configurationVersionStatuses)[number]

/** Origin of a configuration, as the VCS reported it. */
export interface IngressAttributes {
  readonly branch: string | null
  readonly cloneUrl: string | null
  readonly commitSha: string | null
  readonly commitMessage: string | null
  readonly commitUrl: string | null
  readonly compareUrl: string | null
  readonly identifier: string | null
  readonly isPullRequest: boolean
  readonly onDefaultBranch: boolean
  readonly pullRequestNumber: number | null
  readonly pullRequestTitle: string | null
  readonly pullRequestUrl: string | null
  readonly tag: string | null
  readonly senderUsername: string | null
  readonly senderAvatarUrl: string | null
  readonly senderHtmlUrl: string | null
}

export interface ConfigurationVersion {
  readonly id: ConfigurationVersionId
  readonly workspaceId: WorkspaceId
  readonly organizationId: OrganizationId
  readonly source: string
  readonly status: ConfigurationVersionStatus
  /** True if the version is only for plans that never apply. Such a version is never current. */
  readonly speculative: boolean
  /** True if the version becomes current only after a run has applied it. */
  readonly provisional: boolean
  readonly autoQueueRuns: boolean
  readonly error: string | null
  readonly errorMessage: string | null
  readonly createdAt: Instant
  readonly ingress: { readonly id: string; readonly attributes: IngressAttributes } | null
  readonly readme: Readme | null
  /** Null for versions of an earlier release, which did not record it. */
  readonly createdBy: Actor | null
  /** Digest of the archive. Null until it is uploaded. */
  readonly contentDigest: string | null
}

export interface Readme {
  readonly id: string
  readonly markdown: string
}

export interface ConfigurationVersionInput {
  readonly speculative: boolean
  readonly provisional: boolean
  readonly autoQueueRuns: boolean
  readonly ingressAttributes: IngressAttributes | null
  /** Markdown of the readme. If the archive contains a readme, that one is used instead. */
  readonly readme: string | null
}

export interface ConfigurationVersionView extends Omit<
  ConfigurationVersion,
  "organizationId" | "ingress" | "readme" | "createdBy" | "contentDigest"
> {
  readonly ingressAttributesId: string | null
  /** Credential in the upload URL. Null except in the response to creation. */
  readonly upload: string | null
}

export interface IngressAttributesView extends IngressAttributes {
  readonly id: string
}

export const maxReadmeBytes = 1024 * 1024

const maxIngressText = 4_096

export function configurationVersionFaults({ readme, ingressAttributes }: ConfigurationVersionInput): Fault[] {
  const faults = Object.entries(ingressAttributes ?? {}).flatMap(([name, value]): Fault[] =>
    typeof value === "string" && value.length > maxIngressText
      ? [
          {
            field: ["ingressAttributes", name],
            detail: `ingress-attributes has a value that is too long (maximum is ${maxIngressText} characters)`,
          },
        ]
      : [],
  )
  if (readme === null || new TextEncoder().encode(readme).length <= maxReadmeBytes) return faults
  return [...faults, { field: ["readme"], detail: `readme is too long (maximum is ${maxReadmeBytes} bytes)` }]
}

/**
 * Returns whether the version becomes the workspace's current one at its creation. The newest version that is neither speculative nor
 * provisional is current.
 */
export const becomesCurrent = ({ speculative, provisional }: ConfigurationVersion): boolean =>
  !speculative && !provisional

/**
 * Returns the version after its archive was received. The same archive again is a retry whose first response was lost. Another one replaces
 * the first, until a run uses the version.
 */
export function receive(
  version: ConfigurationVersion,
  { digest, readme }: { readonly digest: string; readonly readme: Readme | null },
  isUsed: boolean,
): ConfigurationVersion {
  const { id: subject, status } = version
  if (status === "uploaded" && version.contentDigest === digest) return version
  if (status === "uploaded" && isUsed)
    throw conflict(
      "The configuration version is used by a run and does not accept another upload; create a new version.",
      { subject },
    )
  if (status !== "pending" && status !== "uploaded")
    throw conflict(`The configuration version is ${status} and does not accept an upload.`, { subject })
  const previous = status === "pending" ? version.readme : null
  return { ...version, status: "uploaded", contentDigest: digest, readme: readme ?? previous }
}

/** Text of HCP Terraform, which clients match. */
const transitionNotAllowed = "transition not allowed"

export function archive(version: ConfigurationVersion, isCurrent: boolean): ConfigurationVersion {
  if (isCurrent)
    throw conflict(`${transitionNotAllowed}: configuration could not be archived because it is current`, {
      subject: version.id,
    })
  // The data could be restored, and only administrators of the workspace may decide that.
  if (version.status.startsWith("backing_data_"))
    throw conflict(`${transitionNotAllowed}: configuration could not be archived because its data was deleted`, {
      subject: version.id,
    })
  return { ...version, status: "archived" }
}

/** Throws `conflict` if an unfinished run needs the version: its executor has not read it yet, or will read it again to apply. */
export function rejectWhileRunning({ id }: Pick<ConfigurationVersion, "id">, isRunning: boolean): void {
  if (isRunning)
    throw conflict("The configuration version is used by an unfinished run; wait for the run to end, or cancel it.", {
      subject: id,
    })
}

export type ConfigurationDataAction = "soft-delete" | "restore" | "permanently-delete"

const dataTransitions: Readonly<
  Record<
    ConfigurationDataAction,
    { readonly from: ConfigurationVersionStatus; readonly to: ConfigurationVersionStatus }
  >
> = {
  "soft-delete": { from: "uploaded", to: "backing_data_soft_deleted" },
  restore: { from: "backing_data_soft_deleted", to: "uploaded" },
  "permanently-delete": { from: "backing_data_soft_deleted", to: "backing_data_permanently_deleted" },
}

/** Changes the backing data of a version. `isNeeded` is true if it is the workspace's current one, or an unfinished run uses it. */
export function changeConfigurationData(
  version: ConfigurationVersion,
  action: ConfigurationDataAction,
  isNeeded: boolean,
): ConfigurationVersion {
  const { from, to } = dataTransitions[action]
  if (version.status !== from || isNeeded) throw conflict(transitionNotAllowed, { subject: version.id })
  return { ...version, status: to }
}

/**
 * Operations that read, compress, seal and open archives of configurations. They are separate from the repository, so that this work is
 * done outside of transactions.
 */
export interface ConfigurationArchive {
  /**
   * Throws `EngineError("unprocessable")` unless the bytes are a tar archive compressed with gzip, and `too-large` if it exceeds the
   * limits.
   */
  inspect(bytes: Uint8Array, workingDirectory: string | null): Promise<InspectedConfiguration>
  pack(id: ConfigurationVersionId, bytes: Uint8Array): Promise<readonly Uint8Array[]>
  unpack(id: ConfigurationVersionId, chunks: readonly Uint8Array[]): Promise<Uint8Array>
}

export interface InspectedConfiguration {
  /** Digest of the bytes. It distinguishes a retry from another configuration. */
  readonly digest: string
  /** Markdown of `README.md` in the working directory, else in the root. Null if there is none that can be displayed. */
  readonly readme: string | null
}

/** Limit of the size of an archive. Archives are held in memory during upload. */
export const maxConfigurationBytes = 64 * 1024 * 1024
