import { z } from "zod"
import type { ConfigurationVersionId, WorkspaceId } from "../../core/ids.ts"
import {
  configurationVersionStatuses,
  type ConfigurationVersionView,
  type IngressAttributes,
} from "../../workspaces/configuration-versions/configuration-version.ts"
import { dashedObject, instant } from "../codec.ts"
import { credentialAddress } from "./credential-address.ts"
import { computed, document, one, oneOrNull, readOnly, withDefault } from "./document.ts"
import { accepted, bytes, contract, created, nothing, page, resource } from "./endpoint.ts"

const text = (rule: string, example: string) =>
  withDefault(z.string().nullable(), null, { input: z.string(), rule, example })
const flag = (rule: string) => withDefault(z.boolean(), false, { rule, example: true })

/** Members of a document of their own, and of the request that creates a configuration version. */
const ingressMembers = {
  branch: text("Branch.", "main"),
  cloneUrl: text("Address to clone the repository from.", "https://github.com/acme/network.git"),
  commitSha: text("Commit.", "2f1a6d5c0b7e4f3a9d8c7b6a5f4e3d2c1b0a9f8e"),
  commitMessage: text("Message of the commit.", "Add a subnet"),
  commitUrl: text("Page of the commit.", "https://github.com/acme/network/commit/2f1a6d5"),
  compareUrl: text("Page of the changes since the previous commit.", "https://github.com/acme/network/compare/a...b"),
  identifier: text("Repository.", "acme/network"),
  isPullRequest: flag("The commit is of a pull request."),
  onDefaultBranch: flag("The branch is the repository's default branch."),
  pullRequestNumber: withDefault(z.int().nullable(), null, {
    input: z.int(),
    rule: "Number of the pull request.",
    example: 12,
  }),
  pullRequestTitle: text("Title of the pull request.", "Add a subnet"),
  pullRequestUrl: text("Page of the pull request.", "https://github.com/acme/network/pull/12"),
  tag: text("Tag.", "v1.2.0"),
  senderUsername: text("Author of the change.", "ada"),
  senderAvatarUrl: text("Picture of the author.", "https://github.com/ada.png"),
  senderHtmlUrl: text("Page of the author.", "https://github.com/ada"),
}
type IngressSchemas = { readonly [Name in keyof IngressAttributes]: z.ZodType<IngressAttributes[Name]> }
const ingressInput = dashedObject<IngressAttributes>(
  Object.fromEntries(
    Object.entries(ingressMembers).map(([name, { input }]) => [name, input]),
  ) as object as IngressSchemas,
)

export const ingressAttributes = document("ingress-attributes", {
  id: z.custom<string>(),
  attributes: ingressMembers,
  relationships: {},
})

export const readme = document("workspace-readme", {
  id: z.custom<string>(),
  attributes: {
    markdown: readOnly(z.string(), { wireName: "raw-markdown", rule: "Text in Markdown.", example: "# Network" }),
  },
  relationships: {},
})

const path = (id: string) => `/api/v2/configuration-versions/${id}`

const definition = document("configuration-versions", {
  id: z.custom<ConfigurationVersionId>(),
  self: path,
  nullableAttributes: true,
  attributes: {
    source: readOnly(z.string(), { rule: "Client that created the version.", example: "tfe-api" }),
    createdAt: readOnly(instant, { rule: "Time of creation.", example: "2026-11-26T12:00:00.000Z" }),
    status: readOnly(z.enum(configurationVersionStatuses), {
      rule: "pending until the archive is uploaded.",
      example: "uploaded",
    }),
    speculative: withDefault(z.boolean(), false, {
      rule: "Only for plans that are never applied; never the current version.",
      example: true,
    }),
    provisional: withDefault(z.boolean(), false, {
      rule: "Becomes the current version once a run has applied it.",
      example: true,
    }),
    autoQueueRuns: withDefault(z.boolean(), true, {
      rule: "Create a run when the archive is uploaded.",
      example: false,
    }),
    error: readOnly(z.string().nullable(), { rule: "Code of the error that the version ended with." }),
    errorMessage: readOnly(z.string().nullable(), { rule: "Text of that error." }),
    changedFiles: computed(z.array(z.string()), () => [], { rule: "Always empty." }),
    upload: readOnly(credentialAddress.nullable(), {
      wireName: "upload-url",
      rule: "Address for the archive, which needs no token. Only in the answer to the creation.",
      example: "https://chancery.example/uploads/configuration-versions/cv-ntv3HbhJqvFzamy7?credential=...",
    }),
    ingressAttributes: {
      ...withDefault(ingressInput.nullable(), null, {
        input: ingressInput,
        rule: "Origin of the configuration: members as in ingress-attributes, each text at most 4,096 characters.",
        example: { branch: "main" },
      }),
      writeOnly: true as const,
    },
    readme: {
      ...withDefault(z.string().nullable(), null, {
        input: z.string(),
        rule: "Readme in Markdown, at most 1 MiB, of a configuration that is not uploaded.",
        example: "# Network",
      }),
      writeOnly: true as const,
    },
  },
  relationships: {
    workspaceId: readOnly(one<WorkspaceId>("workspaces"), { wireName: "workspace", rule: "Workspace." }),
    ingressAttributesId: readOnly(oneOrNull<string>("ingress-attributes"), {
      wireName: "ingress-attributes",
      rule: "Origin, if it was given.",
      related: ({ id, ingressAttributesId }: ConfigurationVersionView) =>
        ingressAttributesId === null ? null : `${path(id)}/ingress-attributes`,
    }),
  },
})

export const configurationVersion = {
  ...definition,
  encode(version: ConfigurationVersionView) {
    const { links, ...rest } = definition.encode(version)
    return {
      ...rest,
      links: { ...links, ...(version.status === "uploaded" && { download: `${path(version.id)}/download` }) },
    }
  },
}

/** Replaces the credential of an upload by the URL that contains it. `base` is the URL of the server. */
export const withUploadAddress = (version: ConfigurationVersionView, base: string): ConfigurationVersionView =>
  version.upload === null
    ? version
    : {
        ...version,
        upload: `${base}/uploads/configuration-versions/${version.id}?credential=${encodeURIComponent(version.upload)}`,
      }

const ofWorkspace = "/workspaces/:workspace_id/configuration-versions"
const readsRuns = "`can-read-run` on the workspace."
const appliesRuns = "`can-queue-apply` on the workspace."
const updates = "`can-update` on the workspace. Not in the hosted edition."

export const configurationVersions = contract({
  create: {
    method: "POST",
    path: ofWorkspace,
    summary: "Creates a version, whose archive is uploaded to upload-url.",
    rights: "`can-queue-run` on the workspace.",
    body: configurationVersion.input,
    answers: created(configurationVersion),
  },
  list: {
    method: "GET",
    path: ofWorkspace,
    summary: "Lists the versions of a workspace, the newest first.",
    rights: readsRuns,
    answers: page(configurationVersion),
  },
  readme: {
    method: "GET",
    path: "/workspaces/:workspace_id/readme",
    summary: "Returns the readme of the current version.",
    rights: readsRuns,
    answers: resource(readme),
  },
  get: {
    method: "GET",
    path: "/configuration-versions/:configuration_version_id",
    summary: "Returns a version.",
    rights: readsRuns,
    answers: resource(configurationVersion),
  },
  upload: {
    method: "PUT",
    path: "/configuration-versions/:configuration_version_id/upload",
    summary: "Uploads the archive (tar, compressed with gzip) of a pending version.",
    rights: "`can-queue-run` on the workspace.",
    bytes: {},
    answers: nothing,
  },
  download: {
    method: "GET",
    path: "/configuration-versions/:configuration_version_id/download",
    summary: "Returns the archive of an uploaded version.",
    rights: readsRuns,
    answers: bytes("application/octet-stream"),
  },
  downloadOfRun: {
    method: "GET",
    path: "/runs/:run_id/configuration-version/download",
    summary: "Returns the archive that a run uses.",
    rights: readsRuns,
    answers: bytes("application/octet-stream"),
  },
  ingressAttributes: {
    method: "GET",
    path: "/configuration-versions/:configuration_version_id/ingress-attributes",
    summary: "Returns the origin of a version that came from a VCS.",
    rights: readsRuns,
    answers: resource(ingressAttributes),
  },
  archive: {
    method: "POST",
    path: "/configuration-versions/:configuration_version_id/actions/archive",
    summary: "Discards the archive of a version that no workspace or run needs.",
    rights: appliesRuns,
    answers: accepted,
  },
  softDeleteBackingData: {
    method: "POST",
    path: "/configuration-versions/:configuration_version_id/actions/soft_delete_backing_data",
    summary: "Hides the archive until it is restored.",
    rights: updates,
    answers: nothing,
  },
  restoreBackingData: {
    method: "POST",
    path: "/configuration-versions/:configuration_version_id/actions/restore_backing_data",
    summary: "Restores a hidden archive.",
    rights: updates,
    answers: nothing,
  },
  permanentlyDeleteBackingData: {
    method: "POST",
    path: "/configuration-versions/:configuration_version_id/actions/permanently_delete_backing_data",
    summary: "Deletes a hidden archive.",
    rights: updates,
    answers: nothing,
  },
  delete: {
    method: "DELETE",
    path: "/configuration-versions/:configuration_version_id",
    summary: "Deletes a version that no unfinished run needs.",
    rights: appliesRuns,
    answers: nothing,
  },
})
