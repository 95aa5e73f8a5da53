import { z } from "zod"
import {
  type ConfigurationVersionInput,
  configurationVersionStatuses,
  type ConfigurationVersionView,
  type IngressAttributes,
  type IngressAttributesView,
  type Readme,
} from "../../workspaces/configuration-version.ts"
import type { ConfigurationVersionId, WorkspaceId } from "../../core/ids.ts"
import { formatInstant } from "../../core/time.ts"
import { readResource } from "./answer.ts"
import { decodeDocument, encodeDocument, type RequestDocument, type Resource, toOne } from "./document.ts"
import { dashedMembers } from "./member-name.ts"

const text = z.string().nullish()
const ingressSchema = z.object({
  branch: text,
  "clone-url": text,
  "commit-sha": text,
  "commit-message": text,
  "commit-url": text,
  "compare-url": text,
  identifier: text,
  "is-pull-request": z.boolean().nullish(),
  "on-default-branch": z.boolean().nullish(),
  "pull-request-number": z.int().nullish(),
  "pull-request-title": text,
  "pull-request-url": text,
  tag: text,
  "sender-username": text,
  "sender-avatar-url": text,
  "sender-html-url": text,
})

// Nothing here fetches from a VCS: whoever does tells the origin here, `ingress-attributes` as their own document has them, and
// the readme of what is not uploaded, as Markdown.
const schema = z.object({
  attributes: z
    .object({
      "auto-queue-runs": z.boolean().nullish(),
      speculative: z.boolean().nullish(),
      provisional: z.boolean().nullish(),
      "ingress-attributes": ingressSchema.nullish(),
      readme: z.string().nullish(),
    })
    .nullish(),
})

export function decodeConfigurationVersion(body: unknown): ConfigurationVersionInput {
  const { attributes } = decodeDocument(body, schema, { types: ["configuration-versions"] })
  const ingress = attributes?.["ingress-attributes"] ?? null
  return {
    autoQueueRuns: attributes?.["auto-queue-runs"] ?? true,
    speculative: attributes?.speculative ?? false,
    provisional: attributes?.provisional ?? false,
    ingressAttributes: ingress && decodeIngress(ingress),
    readme: attributes?.readme ?? null,
  }
}

const decodeIngress = (ingress: z.infer<typeof ingressSchema>): IngressAttributes => ({
  branch: ingress.branch ?? null,
  cloneUrl: ingress["clone-url"] ?? null,
  commitSha: ingress["commit-sha"] ?? null,
  commitMessage: ingress["commit-message"] ?? null,
  commitUrl: ingress["commit-url"] ?? null,
  compareUrl: ingress["compare-url"] ?? null,
  identifier: ingress.identifier ?? null,
  isPullRequest: ingress["is-pull-request"] ?? false,
  onDefaultBranch: ingress["on-default-branch"] ?? false,
  pullRequestNumber: ingress["pull-request-number"] ?? null,
  pullRequestTitle: ingress["pull-request-title"] ?? null,
  pullRequestUrl: ingress["pull-request-url"] ?? null,
  tag: ingress.tag ?? null,
  senderUsername: ingress["sender-username"] ?? null,
  senderAvatarUrl: ingress["sender-avatar-url"] ?? null,
  senderHtmlUrl: ingress["sender-html-url"] ?? null,
})

/** `base` is the address of the server, without the API's prefix; null beside other documents, which show no address. */
export function encodeConfigurationVersion(version: ConfigurationVersionView, base: string | null): Resource {
  const path = `/api/v2/configuration-versions/${version.id}`
  return {
    id: version.id,
    type: "configuration-versions",
    attributes: {
      source: version.source,
      "created-at": formatInstant(version.createdAt),
      status: version.status,
      speculative: version.speculative,
      provisional: version.provisional,
      "auto-queue-runs": version.autoQueueRuns,
      error: version.error,
      "error-message": version.errorMessage,
      "changed-files": [],
      "upload-url":
        base === null || version.upload === null
          ? null
          : `${base}/uploads/configuration-versions/${version.id}?credential=${encodeURIComponent(version.upload)}`,
    },
    relationships: {
      workspace: toOne("workspaces", version.workspaceId),
      "ingress-attributes": {
        ...toOne("ingress-attributes", version.ingressAttributesId),
        links: { related: version.ingressAttributesId === null ? null : `${path}/ingress-attributes` },
      },
    },
    links: { self: path, ...(version.status === "uploaded" ? { download: `${path}/download` } : {}) },
  }
}

export const encodeIngressAttributes = (ingress: IngressAttributesView): Resource => ({
  id: ingress.id,
  type: "ingress-attributes",
  attributes: {
    branch: ingress.branch,
    "clone-url": ingress.cloneUrl,
    "commit-sha": ingress.commitSha,
    "commit-message": ingress.commitMessage,
    "commit-url": ingress.commitUrl,
    "compare-url": ingress.compareUrl,
    identifier: ingress.identifier,
    "is-pull-request": ingress.isPullRequest,
    "on-default-branch": ingress.onDefaultBranch,
    "pull-request-number": ingress.pullRequestNumber,
    "pull-request-title": ingress.pullRequestTitle,
    "pull-request-url": ingress.pullRequestUrl,
    tag: ingress.tag,
    "sender-username": ingress.senderUsername,
    "sender-avatar-url": ingress.senderAvatarUrl,
    "sender-html-url": ingress.senderHtmlUrl,
  },
})

export const encodeReadme = (readme: Readme): Resource => ({
  id: readme.id,
  type: "workspace-readme",
  attributes: { "raw-markdown": readme.markdown },
})

/** The other direction of `encodeConfigurationVersion`. */
export function decodeConfigurationVersionView(resource: unknown): ConfigurationVersionView {
  const { id, attributes: own, ...related } = readResource(resource, "configuration-versions")
  return {
    id: id as ConfigurationVersionId,
    workspaceId: related.one("workspace") as WorkspaceId,
    source: own.text("source"),
    status: own.oneOf("status", configurationVersionStatuses),
    speculative: own.flag("speculative"),
    provisional: own.flag("provisional"),
    autoQueueRuns: own.flag("autoQueueRuns"),
    error: own.textOrNull("error"),
    errorMessage: own.textOrNull("errorMessage"),
    createdAt: own.instant("createdAt"),
    ingressAttributesId: related.oneOrNull("ingressAttributes"),
    upload: own.isNull("uploadUrl") ? null : credentialIn(own.text("uploadUrl")),
  }
}

const credentialIn = (address: string): string => URL.parse(address)?.searchParams.get("credential") ?? ""

/** The other direction of `encodeIngressAttributes`. */
export function decodeIngressAttributes(resource: unknown): IngressAttributesView {
  const { id, attributes: own } = readResource(resource, "ingress-attributes")
  return {
    id,
    branch: own.textOrNull("branch"),
    cloneUrl: own.textOrNull("cloneUrl"),
    commitSha: own.textOrNull("commitSha"),
    commitMessage: own.textOrNull("commitMessage"),
    commitUrl: own.textOrNull("commitUrl"),
    compareUrl: own.textOrNull("compareUrl"),
    identifier: own.textOrNull("identifier"),
    isPullRequest: own.flag("isPullRequest"),
    onDefaultBranch: own.flag("onDefaultBranch"),
    pullRequestNumber: own.numberOrNull("pullRequestNumber"),
    pullRequestTitle: own.textOrNull("pullRequestTitle"),
    pullRequestUrl: own.textOrNull("pullRequestUrl"),
    tag: own.textOrNull("tag"),
    senderUsername: own.textOrNull("senderUsername"),
    senderAvatarUrl: own.textOrNull("senderAvatarUrl"),
    senderHtmlUrl: own.textOrNull("senderHtmlUrl"),
  }
}

/** The other direction of `encodeReadme`. */
export function decodeReadme(resource: unknown): Readme {
  const { id, attributes: own } = readResource(resource, "workspace-readme")
  return { id, markdown: own.text("rawMarkdown") }
}

/** The other direction of `decodeConfigurationVersion`. */
export const encodeConfigurationVersionInput = ({
  ingressAttributes: ingress,
  ...input
}: ConfigurationVersionInput): RequestDocument =>
  encodeDocument(
    "configuration-versions",
    dashedMembers({ ...input, ingressAttributes: ingress && dashedMembers(ingress) }),
  )
