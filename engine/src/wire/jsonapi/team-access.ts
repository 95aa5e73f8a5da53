// What teams were given: on workspaces and on projects.
import { z } from "zod"
import { projectAccessLevels } from "../../organizations/project-permissions.ts"
import type { TeamProject, TeamProjectInput } from "../../organizations/team-project.ts"
import { type CustomAccess, workspaceAccessLevels } from "../../workspaces/permissions.ts"
import {
  customOf,
  type TeamWorkspace,
  type TeamWorkspaceInput,
  type TeamWorkspacePatch,
} from "../../workspaces/team-workspace.ts"
import { decodeDocument, type Resource, toOne } from "./document.ts"
import { attributePointers } from "./errors.ts"
import { given } from "./given.ts"

export const teamAccessPointers = attributePointers(["team", "workspace", "project"])

export function encodeTeamWorkspace(subject: TeamWorkspace): Resource {
  const parts = customOf(subject)
  return {
    id: subject.id,
    type: "team-workspaces",
    attributes: {
      access: subject.access,
      runs: parts.runs,
      variables: parts.variables,
      "state-versions": parts.stateVersions,
      "sentinel-mocks": parts.sentinelMocks,
      "workspace-locking": parts.workspaceLocking,
      "run-tasks": parts.runTasks,
    },
    relationships: {
      team: { ...toOne("teams", subject.teamId), links: { related: `/api/v2/teams/${subject.teamId}` } },
      workspace: {
        ...toOne("workspaces", subject.workspaceId),
        links: { related: `/api/v2/workspaces/${subject.workspaceId}` },
      },
    },
    links: { self: `/api/v2/team-workspaces/${subject.id}` },
  }
}

export function encodeTeamProject(subject: TeamProject): Resource {
  return {
    id: subject.id,
    type: "team-projects",
    attributes: { access: subject.access },
    relationships: {
      team: { ...toOne("teams", subject.teamId), links: { related: `/api/v2/teams/${subject.teamId}` } },
      project: {
        ...toOne("projects", subject.projectId),
        links: { related: `/api/v2/projects/${subject.projectId}` },
      },
    },
    links: { self: `/api/v2/team-projects/${subject.id}` },
  }
}

const customParts = {
  runs: z.enum(["read", "plan", "apply"]).optional(),
  variables: z.enum(["none", "read", "write"]).optional(),
  "state-versions": z.enum(["none", "read-outputs", "read", "write"]).optional(),
  "sentinel-mocks": z.enum(["none", "read"]).optional(),
  "workspace-locking": z.boolean().optional(),
  "run-tasks": z.boolean().optional(),
}
const workspaceAttributes = z.object({ access: z.enum(workspaceAccessLevels).optional(), ...customParts })
const related = z.object({ data: z.object({ id: z.string() }) })
const workspaceCreateSchema = z.object({
  attributes: workspaceAttributes.extend({ access: z.enum(workspaceAccessLevels) }).prefault({} as never),
  relationships: z.object({ team: related, workspace: related }).prefault({} as never),
})
const workspaceUpdateSchema = z.object({ attributes: workspaceAttributes.prefault({}) })
const workspaceTypes = { types: ["team-workspaces"] }

export function decodeTeamWorkspaceInput(body: unknown): TeamWorkspaceInput {
  const { attributes, relationships } = decodeDocument(body, workspaceCreateSchema, workspaceTypes)
  return {
    ...patchOf(attributes),
    access: attributes.access,
    teamId: relationships.team.data.id,
    workspaceId: relationships.workspace.data.id,
  }
}

export const decodeTeamWorkspacePatch = (body: unknown): TeamWorkspacePatch =>
  patchOf(decodeDocument(body, workspaceUpdateSchema, workspaceTypes).attributes)

function patchOf(attributes: z.infer<typeof workspaceAttributes>): TeamWorkspacePatch {
  const custom: Partial<CustomAccess> = given({
    runs: attributes.runs,
    variables: attributes.variables,
    stateVersions: attributes["state-versions"],
    sentinelMocks: attributes["sentinel-mocks"],
    workspaceLocking: attributes["workspace-locking"],
    runTasks: attributes["run-tasks"],
  })
  return { ...given({ access: attributes.access }), custom }
}

const projectAttributes = z.object({ access: z.enum(projectAccessLevels).optional() })
const projectCreateSchema = z.object({
  attributes: z.object({ access: z.enum(projectAccessLevels) }).prefault({} as never),
  relationships: z.object({ team: related, project: related }).prefault({} as never),
})
const projectUpdateSchema = z.object({ attributes: projectAttributes.prefault({}) })
const projectTypes = { types: ["team-projects"] }

export function decodeTeamProjectInput(body: unknown): TeamProjectInput {
  const { attributes, relationships } = decodeDocument(body, projectCreateSchema, projectTypes)
  return { access: attributes.access, teamId: relationships.team.data.id, projectId: relationships.project.data.id }
}

export const decodeTeamProjectPatch = (body: unknown): Partial<Pick<TeamProject, "access">> =>
  given(decodeDocument(body, projectUpdateSchema, projectTypes).attributes)
