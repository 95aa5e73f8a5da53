// What teams were given: on workspaces and on projects.
import { z } from "zod"
import {
  partsOf,
  type ProjectAccessPatch,
  projectAccessParts,
  type ProjectParts,
  projectWorkspaceParts,
} from "../../organizations/custom-project-access.ts"
import { projectAccessLevels } from "../../organizations/project-permissions.ts"
import type { TeamProject, TeamProjectInput } from "../../organizations/team-project.ts"
import { type CustomAccess, workspaceAccessLevels } from "../../workspaces/permissions.ts"
import {
  customOf,
  type TeamWorkspace,
  type TeamWorkspaceInput,
  type TeamWorkspacePatch,
} from "../../workspaces/team-workspace.ts"
import type { ProjectId, TeamId, WorkspaceId } from "../../core/ids.ts"
import { type MembersReader, readResource } from "./answer.ts"
import { decodeDocument, encodeDocument, type RequestDocument, type Resource, toOne } from "./document.ts"
import { attributePointers } from "./errors.ts"
import { given } from "./given.ts"
import { camelCased, dashed, dashedMembers } from "./member-name.ts"

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
    attributes: {
      access: subject.access,
      "project-access": dashedMembers(partsOf(subject).projectAccess),
      "workspace-access": dashedMembers(partsOf(subject).workspaceAccess),
    },
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

const runAccess = ["read", "plan", "apply"] as const
const variableAccess = ["none", "read", "write"] as const
const stateVersionAccess = ["none", "read-outputs", "read", "write"] as const
const sentinelMockAccess = ["none", "read"] as const
const customParts = {
  runs: z.enum(runAccess).optional(),
  variables: z.enum(variableAccess).optional(),
  "state-versions": z.enum(stateVersionAccess).optional(),
  "sentinel-mocks": z.enum(sentinelMockAccess).optional(),
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

/** One optional member for each part, under its wire name. */
const partsSchema = (table: Readonly<Record<string, readonly (string | boolean)[]>>) =>
  z
    .object(
      Object.fromEntries(
        Object.entries(table).map(([name, values]) => [
          dashed(name),
          values[0] === false ? z.boolean().optional() : z.enum(values as readonly string[]).optional(),
        ]),
      ),
    )
    .nullish()
const projectAttributes = z.object({
  access: z.enum(projectAccessLevels).optional(),
  "project-access": partsSchema(projectAccessParts),
  "workspace-access": partsSchema(projectWorkspaceParts),
})
const projectCreateSchema = z.object({
  attributes: projectAttributes.extend({ access: z.enum(projectAccessLevels) }).prefault({} as never),
  relationships: z.object({ team: related, project: related }).prefault({} as never),
})
const projectUpdateSchema = z.object({ attributes: projectAttributes.prefault({}) })
const projectTypes = { types: ["team-projects"] }

export function decodeTeamProjectInput(body: unknown): TeamProjectInput {
  const { attributes, relationships } = decodeDocument(body, projectCreateSchema, projectTypes)
  return {
    ...projectPatchOf(attributes),
    access: attributes.access,
    teamId: relationships.team.data.id,
    projectId: relationships.project.data.id,
  }
}

export const decodeTeamProjectPatch = (body: unknown): ProjectAccessPatch =>
  projectPatchOf(decodeDocument(body, projectUpdateSchema, projectTypes).attributes)

const projectPatchOf = (attributes: z.infer<typeof projectAttributes>): ProjectAccessPatch =>
  given({
    access: attributes.access,
    projectAccess: partsIn(attributes["project-access"]),
    workspaceAccess: partsIn(attributes["workspace-access"]),
  })

const partsIn = (members: object | null | undefined) =>
  members
    ? given(Object.fromEntries(Object.entries(members).map(([name, value]) => [camelCased(name), value])))
    : undefined

/** The other direction of `encodeTeamWorkspace`. */
export function decodeTeamWorkspace(resource: unknown): TeamWorkspace {
  const { id, attributes: own, ...related } = readResource(resource, "team-workspaces")
  const subject = {
    id,
    teamId: related.one("team") as TeamId,
    workspaceId: related.one("workspace") as WorkspaceId,
  }
  const access = own.oneOf("access", workspaceAccessLevels)
  return access === "custom" ? { ...subject, access, custom: decodeCustom(own) } : { ...subject, access }
}

const decodeCustom = (own: MembersReader): CustomAccess => ({
  runs: own.oneOf("runs", runAccess),
  variables: own.oneOf("variables", variableAccess),
  stateVersions: own.oneOf("stateVersions", stateVersionAccess),
  sentinelMocks: own.oneOf("sentinelMocks", sentinelMockAccess),
  workspaceLocking: own.flag("workspaceLocking"),
  runTasks: own.flag("runTasks"),
})

export const encodeTeamWorkspaceInput = ({ teamId, workspaceId, ...patch }: TeamWorkspaceInput): RequestDocument =>
  encodeDocument("team-workspaces", attributesOf(patch), {
    team: toOne("teams", teamId),
    workspace: toOne("workspaces", workspaceId),
  })

export const encodeTeamWorkspacePatch = (patch: TeamWorkspacePatch): RequestDocument =>
  encodeDocument("team-workspaces", attributesOf(patch))

const attributesOf = ({ access, custom }: TeamWorkspacePatch) => dashedMembers({ access, ...custom })

/** The other direction of `encodeTeamProject`. */
export function decodeTeamProject(resource: unknown): TeamProject {
  const { id, attributes: own, ...related } = readResource(resource, "team-projects")
  const subject = { id, teamId: related.one("team") as TeamId, projectId: related.one("project") as ProjectId }
  const access = own.oneOf("access", projectAccessLevels)
  if (access !== "custom") return { ...subject, access }
  const parts = {
    projectAccess: readParts(own.members("projectAccess"), projectAccessParts),
    workspaceAccess: readParts(own.members("workspaceAccess"), projectWorkspaceParts),
  } as ProjectParts
  return { ...subject, access, parts }
}

const readParts = (own: MembersReader, table: Readonly<Record<string, readonly (string | boolean)[]>>) =>
  Object.fromEntries(
    Object.entries(table).map(([name, values]) => [
      name,
      values[0] === false ? own.flag(name) : own.oneOf(name, values as readonly string[]),
    ]),
  )

export const encodeTeamProjectInput = ({ teamId, projectId, ...patch }: TeamProjectInput): RequestDocument =>
  encodeDocument("team-projects", projectAttributesOf(patch), {
    team: toOne("teams", teamId),
    project: toOne("projects", projectId),
  })

export const encodeTeamProjectPatch = (patch: ProjectAccessPatch): RequestDocument =>
  encodeDocument("team-projects", projectAttributesOf(patch))

const projectAttributesOf = ({ access, projectAccess, workspaceAccess }: ProjectAccessPatch) =>
  dashedMembers({
    access,
    projectAccess: projectAccess && dashedMembers(projectAccess),
    workspaceAccess: workspaceAccess && dashedMembers(workspaceAccess),
  })
