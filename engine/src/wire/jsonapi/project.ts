import { z } from "zod"
import { formatInstant } from "../../core/time.ts"
import { executionModes } from "../../organizations/organization.ts"
import type { ProjectInput, ProjectPatch } from "../../organizations/project.ts"
import type { ProjectView } from "../../organizations/projects.ts"
import { decodeDocument, type Resource, toOne } from "./document.ts"
import { attributePointers } from "./errors.ts"
import { given } from "./given.ts"
import { relatedId, toOneSchema } from "./relationship.ts"

export const projectPointers = attributePointers(["defaultAgentPool", "tagBindings"])

export function encodeProject(project: ProjectView): Resource {
  const path = `/api/v2/projects/${project.id}`
  const { permissions, settingOverwrites } = project
  return {
    id: project.id,
    type: "projects",
    attributes: {
      name: project.name,
      description: project.description,
      "created-at": formatInstant(project.createdAt),
      "workspace-count": project.counts.workspaces,
      "team-count": project.counts.teams,
      "is-unified": false,
      "auto-destroy-activity-duration": project.autoDestroyActivityDuration,
      "default-execution-mode": project.defaultExecutionMode,
      "setting-overwrites": {
        "default-execution-mode": settingOverwrites.defaultExecutionMode,
        "default-agent-pool": settingOverwrites.defaultAgentPool,
      },
      permissions: {
        "can-read": permissions.canRead,
        "can-update": permissions.canUpdate,
        "can-destroy": permissions.canDestroy,
        "can-create-workspace": permissions.canCreateWorkspace,
        "can-move-workspace": permissions.canMoveWorkspaces,
      },
    },
    relationships: {
      organization: toOne("organizations", project.organizationName),
      "default-agent-pool": toOne("agent-pools", project.defaultAgentPoolId),
      "tag-bindings": { links: { related: `${path}/tag-bindings` } },
      "effective-tag-bindings": { links: { related: `${path}/effective-tag-bindings` } },
    },
    links: { self: path },
  }
}

const settings = z.object({
  name: z.string().optional(),
  description: z.string().nullish(),
  "auto-destroy-activity-duration": z.string().nullish(),
  "default-execution-mode": z.enum(executionModes).nullish(),
  "setting-overwrites": z
    .object({ "default-execution-mode": z.boolean().optional(), "default-agent-pool": z.boolean().optional() })
    .nullish(),
})
const binding = z.object({
  attributes: z.object({ key: z.string(), value: z.string().nullish() }).prefault({} as never),
})
const relationships = z
  .object({
    "default-agent-pool": toOneSchema.optional(),
    "tag-bindings": z.object({ data: z.array(binding) }).optional(),
  })
  .optional()
const createSchema = z.object({
  attributes: settings.extend({ name: z.string() }).prefault({} as never),
  relationships,
})
const updateSchema = z.object({ attributes: settings.prefault({}), relationships })
const types = { types: ["projects"] }

export function decodeProjectInput(body: unknown): ProjectInput {
  const { attributes, relationships: related } = decodeDocument(body, createSchema, types)
  return { ...patchOf(attributes, related), name: attributes.name }
}

export function decodeProjectPatch(body: unknown): ProjectPatch {
  const { attributes, relationships: related } = decodeDocument(body, updateSchema, types)
  return patchOf(attributes, related)
}

function patchOf(attributes: z.infer<typeof settings>, related: z.infer<typeof relationships>): ProjectPatch {
  const overwrites = attributes["setting-overwrites"]
  return given({
    name: attributes.name,
    description: attributes.description === null ? "" : attributes.description,
    autoDestroyActivityDuration: attributes["auto-destroy-activity-duration"],
    defaultExecutionMode: attributes["default-execution-mode"],
    defaultAgentPoolId: relatedId(related?.["default-agent-pool"]),
    tagBindings: related?.["tag-bindings"]?.data.map(({ attributes: { key, value } }) => ({ key, value: value ?? "" })),
    settingOverwrites:
      overwrites === undefined || overwrites === null
        ? undefined
        : given({
            defaultExecutionMode: overwrites["default-execution-mode"],
            defaultAgentPool: overwrites["default-agent-pool"],
          }),
  })
}
