import { z } from "zod"
import type { ProjectId } from "../../core/ids.ts"
import { executionModes } from "../../organizations/organization.ts"
import {
  activityDurationFaults,
  type ProjectBinding,
  projectDescriptionFaults,
  projectNameFaults,
  type ProjectView,
} from "../../organizations/project.ts"
import { ruled, toMany } from "./json-api/document.ts"
import { toManySchema } from "./json-api/relationship.ts"
import { emptyAsNull, flags, instant, nullAsAbsent, nullAsEmpty, someFlags } from "../codec.ts"
import {
  alias,
  computed,
  constant,
  document,
  identifiers,
  link,
  mapped,
  one,
  oneInput,
  oneOrNull,
  readOnly,
  writable,
} from "./document.ts"
import {
  commaList,
  contract,
  created,
  inclusionOfParts,
  nothing,
  page,
  resource,
  resourceWithIncluded,
  text,
} from "./endpoint.ts"

const overwrites = ["defaultExecutionMode", "defaultAgentPool"] as const
const pathOf = (id: string): string => `/api/v2/projects/${id}`

const binding = z.object({
  attributes: z.object({ key: z.string(), value: z.string().nullish() }).prefault({} as never),
})
const bindings = z.codec(toManySchema(binding), z.custom<readonly ProjectBinding[]>(), {
  decode: ({ data }) => data.map(({ attributes: { key, value } }) => ({ key, value: value ?? "" })),
  encode: (values) => ({ data: values.map((attributes) => ({ type: "tag-bindings", attributes })) }),
})

const flat = document("projects", {
  id: z.custom<ProjectId>(),
  self: pathOf,
  attributes: {
    name: writable(z.string(), {
      input: ruled(projectNameFaults),
      required: true,
      rule: "Name, unique in the organization: letters, numbers, spaces, - and _, at most 40 characters.",
      example: "network",
    }),
    description: writable(z.string(), {
      input: nullAsEmpty(ruled(projectDescriptionFaults)),
      rule: "Description, at most 256 characters.",
      default: "",
      example: "Shared networks",
    }),
    createdAt: readOnly(instant, { rule: "Time of the creation.", example: "2026-11-26T12:00:00.000Z" }),
    workspaceCount: readOnly(z.number(), { rule: "Number of workspaces." }),
    teamCount: readOnly(z.number(), { rule: "Number of teams with access to the project." }),
    isUnified: constant(false, { rule: "Always false." }),
    autoDestroyActivityDuration: writable(z.string().nullable(), {
      input: ruled(activityDurationFaults).nullable(),
      rule: "Time without activity after which a workspace is destroyed, as days (14d) or hours (24h).",
      default: null,
      example: "14d",
    }),
    defaultExecutionMode: writable(z.enum(executionModes), {
      input: z.enum(executionModes).nullable(),
      rule: "Execution mode of workspaces without one of their own. Null inherits the one of the organization.",
      default: null,
      example: "local",
    }),
    defaultAgentPoolId: alias("defaultAgentPoolId", z.string().nullable(), {
      input: emptyAsNull(z.string()),
      writeOnly: true,
      rule: "Id of the default agent pool, if the relationship is left out.",
      example: "apool-9tVs3bYhfsB4mJ7q",
    }),
    settingOverwrites: writable(flags(overwrites), {
      input: nullAsAbsent(someFlags(overwrites)),
      rule: "For default-execution-mode and default-agent-pool: true if the project has its own value, false if it inherits the organization's.",
      default: {},
      example: { "default-execution-mode": true },
    }),
    permissions: readOnly(
      flags(
        [
          "canRead",
          "canUpdate",
          "canDestroy",
          "canCreateWorkspace",
          "canMoveWorkspaces",
          "canReadTeams",
          "canManageTeams",
        ],
        { canMoveWorkspaces: "can-move-workspace" },
      ),
      { rule: "What the caller may do with the project." },
    ),
  },
  relationships: {
    organizationName: readOnly(one<string>("organizations"), { wireName: "organization", rule: "Organization." }),
    defaultAgentPoolId: writable(oneOrNull<string>("agent-pools"), {
      input: oneInput<string>("agent-pools"),
      wireName: "default-agent-pool",
      rule: "Agent pool of workspaces without one of their own. Null inherits the one of the organization.",
    }),
    tagBindings: {
      ...link((id) => `${pathOf(id)}/tag-bindings`, { rule: "Key-value tags. A request replaces all of them." }),
      input: bindings,
    },
    effectiveTagBindings: computed(
      z.object({ links: z.object({ related: z.string() }), data: z.array(z.unknown()).optional() }),
      ({ id, effectiveTagBindingIds }: { readonly id: string } & WithBindings) => ({
        ...(effectiveTagBindingIds && toMany("effective-tag-bindings", effectiveTagBindingIds)),
        links: { related: `${pathOf(id)}/effective-tag-bindings` },
      }),
      { rule: "The same tags, as workspaces inherit them; with their ids if include names them." },
    ),
  },
})

interface WithBindings {
  readonly effectiveTagBindingIds?: readonly string[] | undefined
}

export const project = mapped(flat, {
  from: ({ counts, ...view }: ProjectView & WithBindings) => ({
    ...view,
    workspaceCount: counts.workspaces,
    teamCount: counts.teams,
  }),
  to: ({ workspaceCount, teamCount, ...view }) => ({
    ...view,
    counts: { workspaces: workspaceCount, teams: teamCount },
  }),
})

const include = {
  parameter: "include",
  schema: inclusionOfParts("effective_tag_bindings", "organization"),
  rule: "Resources beside the projects: effective_tag_bindings, organization, or both with a comma.",
  example: "organization",
}

export const projects = contract({
  list: {
    method: "GET",
    path: "/organizations/:organization_name/projects",
    summary: "Lists the projects that the caller sees.",
    rights: "Members of the organization.",
    query: {
      names: { parameter: "filter[names]", schema: commaList, rule: "Names, with commas between.", example: "network" },
      search: { parameter: "q", schema: text, rule: "Part of the name.", example: "net" },
      include,
    },
    answers: page(project),
  },
  create: {
    method: "POST",
    path: "/organizations/:organization_name/projects",
    summary: "Creates a project.",
    rights: "`manage-projects`.",
    body: project.input,
    owned: true,
    answers: created(project),
  },
  get: {
    method: "GET",
    path: "/projects/:project_id",
    summary: "Returns a project.",
    rights: "Callers who see the project.",
    query: { include },
    answers: resourceWithIncluded(project),
  },
  update: {
    method: "PATCH",
    path: "/projects/:project_id",
    summary: "Changes a project. Members left out keep their values.",
    rights: "`can-update` on the project.",
    body: project.patch,
    owned: true,
    answers: resource(project),
  },
  delete: {
    method: "DELETE",
    path: "/projects/:project_id",
    summary: "Deletes a project. The default project, and one that has workspaces, cannot be deleted.",
    rights: "`can-destroy` on the project.",
    answers: nothing,
  },
  moveWorkspaces: {
    method: "POST",
    path: "/projects/:project_id/relationships/workspaces",
    summary: "Moves workspaces into the project, all or none.",
    rights: "`can-move-workspace` on both projects.",
    body: identifiers("workspaces"),
    answers: nothing,
  },
})
