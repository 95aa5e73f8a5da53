// Access of teams to workspaces and projects.
import { z } from "zod"
import type { ProjectId, TeamId, WorkspaceId } from "../../core/ids.ts"
import {
  partsOf,
  projectAccessParts,
  type ProjectParts,
  projectWorkspaceParts,
  type TeamProject,
} from "../../organizations/team-project-access.ts"
import { projectAccessLevels } from "../../organizations/project.ts"
import { workspaceAccessLevels } from "../../workspaces/access/workspace-permissions.ts"
import {
  customOf,
  type TeamWorkspace,
  type TeamWorkspaceInput,
  type TeamWorkspacePatch,
} from "../../workspaces/access/team-workspace-access.ts"
import { dashed } from "./json-api/member-name.ts"
import { dashedObject, nullAsAbsent } from "../codec.ts"
import { type Body, document, immutable, mapped, mappedBody, one, requiredOneInput, writable } from "./document.ts"
import { contract, created, nothing, page, requiredText, resource } from "./endpoint.ts"

/** Adds empty relationships to a request without any, so that each missing one is reported. */
const namingEach = <T>(body: Body<T>): Body<T> => ({
  ...body,
  decode(sent) {
    const data = (sent as { readonly data?: object } | null | undefined)?.data
    const isObject = typeof data === "object" && data !== null && !Array.isArray(data)
    return body.decode(isObject ? { data: { relationships: {}, ...data } } : sent)
  },
})

const team = immutable(one<TeamId>("teams"), {
  input: requiredOneInput<string>("teams"),
  wireName: "team",
  rule: "Team.",
  related: ({ teamId }: { readonly teamId: string }) => `/api/v2/teams/${teamId}`,
})
const custom = (rule: string) => `${rule} Set with access custom; other levels have their own.`

const flatWorkspace = document("team-workspaces", {
  id: z.custom<string>(),
  self: (id) => `/api/v2/team-workspaces/${id}`,
  attributes: {
    access: writable(z.enum(workspaceAccessLevels), {
      required: true,
      rule: "Level of access, as in permissions.md.",
      example: "write",
    }),
    runs: writable(z.enum(["read", "plan", "apply"]), {
      rule: custom("Runs: see, queue, or apply them."),
      default: "read",
      example: "apply",
    }),
    variables: writable(z.enum(["none", "read", "write"]), {
      rule: custom("Variables."),
      default: "none",
      example: "write",
    }),
    stateVersions: writable(z.enum(["none", "read-outputs", "read", "write"]), {
      rule: custom("States, or their outputs alone."),
      default: "none",
      example: "read",
    }),
    sentinelMocks: writable(z.enum(["none", "read"]), {
      rule: custom("Stored and returned; there are no mocks."),
      default: "none",
      example: "read",
    }),
    workspaceLocking: writable(z.boolean(), { rule: custom("Lock and unlock."), default: false, example: true }),
    runTasks: writable(z.boolean(), { rule: custom("Manage run tasks."), default: false, example: true }),
  },
  relationships: {
    teamId: team,
    workspaceId: immutable(one<WorkspaceId>("workspaces"), {
      input: requiredOneInput<string>("workspaces"),
      wireName: "workspace",
      rule: "Workspace.",
      related: ({ workspaceId }: { readonly workspaceId: string }) => `/api/v2/workspaces/${workspaceId}`,
    }),
  },
})

export const teamWorkspace = mapped(flatWorkspace, {
  from(view: TeamWorkspace) {
    const { id, access, teamId, workspaceId } = view
    return { id, access, teamId, workspaceId, ...customOf(view) }
  },
  to: ({ id, access, teamId, workspaceId, ...parts }): TeamWorkspace =>
    access === "custom" ? { id, teamId, workspaceId, access, custom: parts } : { id, teamId, workspaceId, access },
})
const teamWorkspaceInput = mappedBody(namingEach(flatWorkspace.input), {
  from: ({ custom: parts, ...input }: TeamWorkspaceInput) => ({ ...input, ...parts }),
  to: ({ access, teamId, workspaceId, ...parts }) => ({ access, teamId, workspaceId, custom: parts }),
})
const teamWorkspacePatch = mappedBody(flatWorkspace.patch, {
  from: ({ custom: parts, ...patch }: TeamWorkspacePatch) => ({ ...patch, ...parts }),
  to: ({ access, ...parts }) => ({ ...(access !== undefined && { access }), custom: parts }),
})

type Table = Readonly<Record<string, readonly (string | boolean)[]>>
const shapeOf = (table: Table) =>
  Object.fromEntries(
    Object.entries(table).map(([name, values]) => [
      name,
      values[0] === false ? z.boolean() : z.enum(values as readonly string[]),
    ]),
  )
const valuesOf = (table: Table): string =>
  Object.entries(table)
    .map(([name, values]) => `${dashed(name)} (${values.join(", ")})`)
    .join(", ")
const parts = <T extends object>(table: Table) => dashedObject<T>(shapeOf(table) as never)
const someParts = <T extends object>(table: Table) =>
  nullAsAbsent(
    dashedObject<Partial<T>>(
      Object.fromEntries(Object.entries(shapeOf(table)).map(([name, schema]) => [name, schema.optional()])) as never,
    ),
  )

const flatProject = document("team-projects", {
  id: z.custom<string>(),
  self: (id) => `/api/v2/team-projects/${id}`,
  attributes: {
    access: writable(z.enum(projectAccessLevels), {
      required: true,
      rule: "Level of access, as in permissions.md.",
      example: "maintain",
    }),
    projectAccess: writable(parts<ProjectParts["projectAccess"]>(projectAccessParts), {
      input: someParts<ProjectParts["projectAccess"]>(projectAccessParts),
      rule: custom(`Access to the project itself: ${valuesOf(projectAccessParts)}.`),
      default: {},
      example: { settings: "update" },
    }),
    workspaceAccess: writable(parts<ProjectParts["workspaceAccess"]>(projectWorkspaceParts), {
      input: someParts<ProjectParts["workspaceAccess"]>(projectWorkspaceParts),
      rule: custom(`Access to the workspaces of the project: ${valuesOf(projectWorkspaceParts)}.`),
      default: {},
      example: { runs: "apply" },
    }),
  },
  relationships: {
    teamId: team,
    projectId: immutable(one<ProjectId>("projects"), {
      input: requiredOneInput<string>("projects"),
      wireName: "project",
      rule: "Project.",
      related: ({ projectId }: { readonly projectId: string }) => `/api/v2/projects/${projectId}`,
    }),
  },
})

export const teamProject = mapped(flatProject, {
  from(view: TeamProject) {
    const { id, access, teamId, projectId } = view
    return { id, access, teamId, projectId, ...partsOf(view) }
  },
  to: ({ id, access, teamId, projectId, ...own }): TeamProject =>
    access === "custom" ? { id, teamId, projectId, access, parts: own } : { id, teamId, projectId, access },
})

const workspaceRights = "`can-update` on the workspace."
const projectRights = "`can-manage-teams` on the project."

export const teamWorkspaces = contract({
  list: {
    method: "GET",
    path: "/team-workspaces",
    summary: "Lists the teams with access to a workspace.",
    rights: "`can-read-settings` on the workspace.",
    query: {
      workspaceId: {
        parameter: "filter[workspace][id]",
        schema: requiredText("filter[workspace][id]"),
        required: true,
        rule: "Id of the workspace.",
        example: "ws-2HRvNs49EWPjDqT1",
      },
    },
    answers: page(teamWorkspace),
  },
  create: {
    method: "POST",
    path: "/team-workspaces",
    summary: "Gives a team access to a workspace. A team has one access to it.",
    rights: workspaceRights,
    body: teamWorkspaceInput,
    answers: created(teamWorkspace),
  },
  get: {
    method: "GET",
    path: "/team-workspaces/:id",
    summary: "Returns the access of a team to a workspace.",
    rights: "`can-read-settings` on the workspace.",
    answers: resource(teamWorkspace),
  },
  update: {
    method: "PATCH",
    path: "/team-workspaces/:id",
    summary: "Changes the access of a team to a workspace.",
    rights: workspaceRights,
    body: teamWorkspacePatch,
    answers: resource(teamWorkspace),
  },
  delete: {
    method: "DELETE",
    path: "/team-workspaces/:id",
    summary: "Takes the access of a team to a workspace.",
    rights: workspaceRights,
    answers: nothing,
  },
})

export const teamProjects = contract({
  list: {
    method: "GET",
    path: "/team-projects",
    summary: "Lists the teams with access to a project.",
    rights: "`can-read-teams` on the project.",
    query: {
      projectId: {
        parameter: "filter[project][id]",
        schema: requiredText("filter[project][id]"),
        required: true,
        rule: "Id of the project.",
        example: "prj-mN3xR7qPzVbT5kLw",
      },
    },
    answers: page(teamProject),
  },
  create: {
    method: "POST",
    path: "/team-projects",
    summary: "Gives a team access to a project and its workspaces. A team has one access to it.",
    rights: projectRights,
    body: namingEach(flatProject.input),
    answers: created(teamProject),
  },
  get: {
    method: "GET",
    path: "/team-projects/:id",
    summary: "Returns the access of a team to a project.",
    rights: "`can-read-teams` on the project.",
    answers: resource(teamProject),
  },
  update: {
    method: "PATCH",
    path: "/team-projects/:id",
    summary: "Changes the access of a team to a project.",
    rights: projectRights,
    body: flatProject.patch,
    answers: resource(teamProject),
  },
  delete: {
    method: "DELETE",
    path: "/team-projects/:id",
    summary: "Takes the access of a team to a project.",
    rights: projectRights,
    answers: nothing,
  },
})
