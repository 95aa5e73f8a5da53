import { z } from "zod"
import type {
  ConfigurationVersionInput,
  ConfigurationVersionView,
  IngressAttributes,
  IngressAttributesView,
  Readme,
} from "../../workspaces/configuration-version.ts"
import { decodeDocument, type Resource, toOne } from "./document.ts"

const text = z.string().max(4_096).nullish()
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

// Until configurations are uploaded and read, their origin and readme are told here: `ingress-attributes` as their own
// document has them, and `readme` as Markdown.
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

export function encodeConfigurationVersion(version: ConfigurationVersionView): Resource {
  const path = `/api/v2/configuration-versions/${version.id}`
  return {
    id: version.id,
    type: "configuration-versions",
    attributes: {
      source: version.source,
      status: version.status,
      speculative: version.speculative,
      provisional: version.provisional,
      "auto-queue-runs": version.autoQueueRuns,
      error: version.error,
      "error-message": version.errorMessage,
      "changed-files": [],
      "upload-url": null,
    },
    relationships: {
      workspace: toOne("workspaces", version.workspaceId),
      "ingress-attributes": {
        ...toOne("ingress-attributes", version.ingressAttributesId),
        links: { related: version.ingressAttributesId === null ? null : `${path}/ingress-attributes` },
      },
    },
    links: { self: path },
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
