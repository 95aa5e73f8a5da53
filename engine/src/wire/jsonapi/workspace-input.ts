// Input of workspaces at create and update. Members of a wrong type are left out and reported in `faults`, so that the rules still check
// the rest and the client gets all faults at once.
import { z } from "zod"
import type { Fault } from "../../core/errors.ts"
import { formatInstant, parseInstant } from "../../core/time.ts"
import { executionModes } from "../../organizations/organization.ts"
import type { TagInput, WorkspaceInput } from "../../workspaces/workspace-input.ts"
import { salvageDocument } from "./document.ts"
import { attributePointers } from "./errors.ts"
import { given } from "./given.ts"
import { textProblem } from "../../core/text.ts"
import { dashedMembers } from "./member-name.ts"
import { unsupported } from "./unsupported.ts"

export const workspacePointers = attributePointers(["project", "tagBindings", "tags"])

// Many clients write null for "not set": where null says nothing else, it leaves the attribute out.
const flag = z.boolean().nullish()
const written = z.string().superRefine((text, context) => {
  const problem = textProblem(text)
  if (problem !== undefined) context.addIssue({ code: "custom", message: problem })
})
const text = written.nullish()
const texts = z.array(written).max(1_000).nullish()
const instant = z
  .string()
  .nullish()
  .transform((timestamp, context) => {
    if (timestamp === null || timestamp === undefined) return timestamp
    const parsed = parseInstant(timestamp)
    if (parsed === undefined) context.addIssue({ code: "custom", message: "must be an ISO 8601 timestamp with a zone" })
    return parsed ?? null
  })
const vcsRepo = z.object({
  identifier: text,
  "oauth-token-id": text,
  "github-app-installation-id": text,
  branch: text,
  "ingress-submodules": flag,
  "tags-regex": text,
  "source-directory": unsupported("source-directory", "", "registry modules"),
  "tag-prefix": unsupported("tag-prefix", "", "registry modules"),
})
const attributes = z.object({
  name: written.optional(),
  description: text,
  "execution-mode": z.enum(executionModes).nullish(),
  operations: flag,
  "agent-pool-id": text,
  "setting-overwrites": z.object({ "execution-mode": flag, "agent-pool": flag }).nullish(),
  "allow-destroy-plan": flag,
  "assessments-enabled": flag,
  "drift-detection": flag,
  "auto-apply": flag,
  "auto-apply-run-trigger": flag,
  "auto-destroy-at": instant,
  "auto-destroy-activity-duration": text,
  "inherits-project-auto-destroy": flag,
  "file-triggers-enabled": flag,
  "global-remote-state": flag,
  "project-remote-state": flag,
  "queue-all-runs": flag,
  "speculative-enabled": flag,
  "structured-run-output-enabled": flag,
  "engine-version": text,
  "terraform-version": text,
  "trigger-patterns": texts,
  "trigger-prefixes": texts,
  "vcs-repo": vcsRepo.nullish(),
  "working-directory": text,
  "source-name": text,
  "source-url": text,
  "migration-environment": unsupported("migration-environment", "", "migrations of legacy environments"),
  "hyok-enabled": unsupported("hyok-enabled", false, "keys of your own"),
})

type Attributes = Partial<z.infer<typeof attributes>>

const relationships = z.object({
  project: z.object({ data: z.object({ id: text }).nullish() }).nullish(),
  "tag-bindings": z
    .object({
      data: z
        .array(
          z.object({
            type: z.enum(["tag-bindings", ""]).optional(),
            attributes: z.object({ key: z.string(), value: z.string().nullish() }),
          }),
        )
        .max(1_000),
    })
    .nullish(),
  tags: z
    .object({
      data: z
        .array(
          z
            .object({
              type: z.enum(["tags", ""]).optional(),
              id: text,
              attributes: z.object({ name: text }).nullish(),
            })
            .transform(({ id, attributes: own }, context): TagInput => {
              if (id) return { id }
              if (own?.name === undefined || own.name === null)
                context.addIssue({ code: "custom", message: "needs an id or a name" })
              return { name: own?.name ?? "" }
            }),
        )
        .max(1_000),
    })
    .nullish(),
})

const schema = z.object({ attributes: attributes.nullish(), relationships: relationships.nullish() })

export function decodeWorkspaceInput(body: unknown): WorkspaceInput {
  const { value, faults } = salvageDocument(body, schema, { types: ["workspaces"] })
  const own: Attributes = value.attributes ?? {}
  const related = value.relationships ?? {}
  const version = versionOf(own)
  const overwrites = own["setting-overwrites"]
  const bindings = related["tag-bindings"]?.data
  const tags = related.tags?.data
  const project = related.project
  return given({
    name: own.name,
    description: own.description,
    executionMode: own["execution-mode"] ?? undefined,
    operations: own.operations ?? undefined,
    agentPoolId: own["agent-pool-id"],
    settingOverwrites: overwrites
      ? given({
          executionMode: overwrites["execution-mode"] ?? undefined,
          agentPool: overwrites["agent-pool"] ?? undefined,
        })
      : undefined,
    allowDestroyPlan: own["allow-destroy-plan"] ?? undefined,
    assessmentsEnabled: own["assessments-enabled"] ?? own["drift-detection"] ?? undefined,
    autoApply: own["auto-apply"] ?? undefined,
    autoApplyRunTrigger: own["auto-apply-run-trigger"] ?? undefined,
    autoDestroyAt: own["auto-destroy-at"],
    autoDestroyActivityDuration: own["auto-destroy-activity-duration"],
    inheritsProjectAutoDestroy: own["inherits-project-auto-destroy"] ?? undefined,
    fileTriggersEnabled: own["file-triggers-enabled"] ?? undefined,
    globalRemoteState: own["global-remote-state"] ?? undefined,
    projectRemoteState: own["project-remote-state"] ?? undefined,
    queueAllRuns: own["queue-all-runs"] ?? undefined,
    speculativeEnabled: own["speculative-enabled"] ?? undefined,
    structuredRunOutputEnabled: own["structured-run-output-enabled"] ?? undefined,
    engineVersion: version.value,
    triggerPatterns: own["trigger-patterns"] ?? undefined,
    triggerPrefixes: own["trigger-prefixes"] ?? undefined,
    vcsRepo: vcsRepoOf(own["vcs-repo"]),
    workingDirectory: own["working-directory"],
    sourceName: own["source-name"],
    sourceUrl: own["source-url"],
    projectId: project?.data?.id,
    tagBindings: bindings?.map(({ attributes: { key, value: written } }) => ({ key, value: written ?? "" })),
    tags,
    faults: faults.length + version.faults.length === 0 ? undefined : [...faults.map(named), ...version.faults],
  })
}

const namePointer = "/data/attributes/name"

/** The rules must know that the name was refused, and they know it by its field. */
const named = ({ detail, ...fault }: Fault): Fault =>
  fault.pointer === namePointer ? { detail, field: ["name"] } : { detail, ...fault }

/** Reads `engine-version` or `terraform-version`. Both may be present if they are equal. */
function versionOf(own: Attributes): {
  readonly value: string | undefined
  readonly faults: readonly Fault[]
} {
  const [ours, publicly] = [own["engine-version"] ?? undefined, own["terraform-version"] ?? undefined]
  const differ = ours !== undefined && publicly !== undefined && ours !== publicly
  const detail = "engine-version and terraform-version are one attribute and cannot have two values"
  return {
    value: ours ?? publicly,
    faults: differ ? [{ detail, pointer: "/data/attributes/terraform-version" }] : [],
  }
}

function vcsRepoOf(repo: z.infer<typeof vcsRepo> | null | undefined): WorkspaceInput["vcsRepo"] | undefined {
  if (repo === null || repo === undefined) return repo
  return given({
    identifier: repo.identifier,
    oauthTokenId: repo["oauth-token-id"],
    githubAppInstallationId: repo["github-app-installation-id"],
    branch: repo.branch,
    ingressSubmodules: repo["ingress-submodules"] ?? undefined,
    tagsRegex: repo["tags-regex"],
  })
}

/** The other direction of `decodeWorkspaceInput`. */
export function encodeWorkspaceInput(input: WorkspaceInput) {
  const { projectId, tagBindings, tags, faults: _faults, autoDestroyAt, vcsRepo: repo, ...own } = input
  const { settingOverwrites, ...plain } = own
  return {
    data: {
      type: "workspaces",
      attributes: {
        ...dashedMembers(plain),
        ...(settingOverwrites === undefined ? {} : { "setting-overwrites": dashedMembers(settingOverwrites) }),
        ...(autoDestroyAt === undefined
          ? {}
          : { "auto-destroy-at": autoDestroyAt === null ? null : formatInstant(autoDestroyAt) }),
        ...(repo === undefined ? {} : { "vcs-repo": repo === null ? null : dashedMembers(repo) }),
      },
      relationships: {
        ...(projectId === undefined
          ? {}
          : { project: { data: projectId === null ? null : { type: "projects", id: projectId } } }),
        ...(tagBindings === undefined
          ? {}
          : {
              "tag-bindings": {
                data: tagBindings.map(({ key, value }) => ({ type: "tag-bindings", attributes: { key, value } })),
              },
            }),
        ...(tags === undefined
          ? {}
          : {
              tags: {
                data: tags.map((tag) =>
                  "id" in tag ? { type: "tags", id: tag.id } : { type: "tags", attributes: { name: tag.name } },
                ),
              },
            }),
      },
    },
  }
}
