import { conflict, type Fault } from "../core/errors.ts"
import type { ConfigurationVersionId, OrganizationId, WorkspaceId } from "../core/ids.ts"
import type { Instant } from "../core/time.ts"
import type { Actor } from "./workspace.ts"

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

/** Where a configuration came from, as the VCS told it. */
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
  /** Only for plans that never apply; never current. */
  readonly speculative: boolean
  /** Current only once a run has applied it. */
  readonly provisional: boolean
  readonly autoQueueRuns: boolean
  readonly error: string | null
  readonly errorMessage: string | null
  readonly createdAt: Instant
  readonly ingress: { readonly id: string; readonly attributes: IngressAttributes } | null
  readonly readme: Readme | null
  /** Null for one that was made before this was written down. */
  readonly createdBy: Actor | null
  /** Of its archive; null until that has arrived. */
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
  /** Markdown of the configuration's readme, where it is not uploaded: it is looked for in what is. */
  readonly readme: string | null
}

export interface ConfigurationVersionView extends Omit<
  ConfigurationVersion,
  "organizationId" | "ingress" | "readme" | "createdBy" | "contentDigest"
> {
  readonly ingressAttributesId: string | null
  /** While pending, for who may upload: the credential that the upload address carries. */
  readonly upload: string | null
}

export interface IngressAttributesView extends IngressAttributes {
  readonly id: string
}

export const readmeBytesMaximum = 1024 * 1024

const ingressTextMaximum = 4_096

export function configurationVersionFaults({ readme, ingressAttributes }: ConfigurationVersionInput): Fault[] {
  const faults = Object.entries(ingressAttributes ?? {}).flatMap(([name, value]): Fault[] =>
    typeof value === "string" && value.length > ingressTextMaximum
      ? [
          {
            field: ["ingressAttributes", name],
            detail: `An ingress attribute is too long (maximum is ${ingressTextMaximum} characters)`,
          },
        ]
      : [],
  )
  if (readme === null || new TextEncoder().encode(readme).length <= readmeBytesMaximum) return faults
  return [...faults, { field: ["readme"], detail: `readme is too long (maximum is ${readmeBytesMaximum} bytes)` }]
}

/**
 * The newest that is neither speculative nor provisional is the workspace's current one, once it is there: uploaded, or kept
 * elsewhere by whoever tells what the VCS brought.
 */
export const becomesCurrent = (version: ConfigurationVersion): boolean =>
  !version.speculative &&
  !version.provisional &&
  (version.status === "uploaded" || version.ingress !== null || version.readme !== null)

/** What it is once its archive has arrived; the same archive again is a retry whose first answer was lost. */
export function receive(
  version: ConfigurationVersion,
  { digest, readme }: { readonly digest: string; readonly readme: Readme | null },
): ConfigurationVersion {
  if (version.status === "uploaded" && version.contentDigest === digest) return version
  if (version.status !== "pending")
    throw conflict(`The configuration version is ${version.status}; nothing can be uploaded to it.`, {
      subject: version.id,
    })
  return { ...version, status: "uploaded", contentDigest: digest, readme: readme ?? version.readme }
}

export function archive(version: ConfigurationVersion, isCurrent: boolean): ConfigurationVersion {
  if (isCurrent)
    throw conflict("The current configuration version of a workspace cannot be archived.", { subject: version.id })
  // It may be about to be restored, which is for administrators of the workspace to say.
  if (version.status.startsWith("backing_data_"))
    throw conflict("The data of the configuration version was deleted, so it cannot be archived.", {
      subject: version.id,
    })
  return { ...version, status: "archived" }
}

/** Whoever executes the run has not read it yet, or will read it again to apply. */
export function refuseWhileRunning({ id }: Pick<ConfigurationVersion, "id">, isRunning: boolean): void {
  if (isRunning)
    throw conflict("A run that has not ended needs the configuration version; it cannot be given up before.", {
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

/** `isNeeded`: it is the workspace's current one, or that of a run that has not ended. */
export function changeConfigurationData(
  version: ConfigurationVersion,
  action: ConfigurationDataAction,
  isNeeded: boolean,
): ConfigurationVersion {
  const { from, to } = dataTransitions[action]
  // Clients know this by its text, as for states (workspace-facts 1.3).
  if (version.status !== from || isNeeded) throw conflict("transition not allowed", { subject: version.id })
  return { ...version, status: to }
}
