import { z } from "zod"
import { formatInstant } from "../../core/time.ts"
import { executionModes } from "../../organizations/organization.ts"
import {
  activityDurationFaults,
  projectDescriptionFaults,
  type ProjectInput,
  projectNameFaults,
  type ProjectPatch,
} from "../../organizations/project.ts"
import type { ProjectView } from "../../organizations/projects.ts"
import type { ProjectId } from "../../core/ids.ts"
import { readResource } from "./answer.ts"
import { decodeDocument, encodeDocument, relatedTo, type RequestDocument, type Resource, toOne } from "./document.ts"
import { attributePointers } from "./errors.ts"
import { dashedMembers } from "./member-name.ts"
import { given } from "./given.ts"
import { ruled } from "./ruled.ts"
import { relatedId, toManySchema, toOneSchema } from "./relationship.ts"

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
        "can-read-teams": permissions.canReadTeams,
        "can-manage-teams": permissions.canManageTeams,
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
  name: ruled(projectNameFaults).optional(),
  description: ruled(projectDescriptionFaults).nullish(),
  "auto-destroy-activity-duration": ruled(activityDurationFaults).nullish(),
  "default-execution-mode": z.enum(executionModes).nullish(),
  // Where some clients put what others name as a relationship.
  "default-agent-pool-id": z
    .string()
    .nullish()
    .transform((id) => (id === "" ? null : id)),
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
    "tag-bindings": toManySchema(binding).optional(),
  })
  .optional()
const createSchema = z.object({
  attributes: settings.extend({ name: ruled(projectNameFaults) }).prefault({} as never),
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
  const pool = related?.["default-agent-pool"]
  return given({
    name: attributes.name,
    description: attributes.description === null ? "" : attributes.description,
    autoDestroyActivityDuration: attributes["auto-destroy-activity-duration"],
    defaultExecutionMode: attributes["default-execution-mode"],
    defaultAgentPoolId: pool === undefined ? attributes["default-agent-pool-id"] : relatedId(pool),
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

/** The other direction of `encodeProject`. */
export function decodeProject(resource: unknown): ProjectView {
  const { id, attributes: own, ...related } = readResource(resource, "projects")
  const overwrites = own.members("settingOverwrites")
  const permissions = own.members("permissions")
  return {
    id: id as ProjectId,
    organizationName: related.one("organization"),
    name: own.text("name"),
    description: own.text("description"),
    createdAt: own.instant("createdAt"),
    autoDestroyActivityDuration: own.textOrNull("autoDestroyActivityDuration"),
    defaultExecutionMode: own.oneOf("defaultExecutionMode", executionModes),
    defaultAgentPoolId: related.oneOrNull("defaultAgentPool"),
    settingOverwrites: overwrites.flags(["defaultExecutionMode", "defaultAgentPool"]),
    permissions: {
      ...permissions.flags([
        "canRead",
        "canUpdate",
        "canDestroy",
        "canCreateWorkspace",
        "canReadTeams",
        "canManageTeams",
      ]),
      canMoveWorkspaces: permissions.flag("canMoveWorkspace"),
    },
    counts: { workspaces: own.number("workspaceCount"), teams: own.number("teamCount") },
  }
}

/** Of an input as well as of a patch. */
export function encodeProjectPatch(patch: ProjectPatch): RequestDocument {
  const { defaultAgentPoolId, settingOverwrites, tagBindings, ...settings } = patch
  const attributes = dashedMembers({
    ...settings,
    settingOverwrites: settingOverwrites && dashedMembers(settingOverwrites),
  })
  return encodeDocument("projects", attributes, {
    "default-agent-pool": relatedTo("agent-pools", defaultAgentPoolId),
    "tag-bindings": tagBindings && {
      data: tagBindings.map(({ key, value }) => ({ type: "tag-bindings", attributes: { key, value } })),
    },
  })
}
