import { z } from "zod"
import { organizationPermissions } from "../../core/caller.ts"
import type { TeamId, UserId } from "../../core/ids.ts"
import {
  ssoTeamIdFaults,
  type TeamMember,
  teamNameFaults,
  type TeamView,
  teamVisibilities,
} from "../../organizations/team.ts"
import { readAnswer } from "./json-api/answer.ts"
import { decodeCommaList } from "./json-api/query.ts"
import { type Resource, ruled, toOne as encodeOne } from "./json-api/document.ts"
import { flags, nullAsAbsent, someFlags } from "../codec.ts"
import { alias, computed, document, identifiers, link, many, one, optional, readOnly, writable } from "./document.ts"
import { commaList, contract, created, nothing, page, resource, resourceWithIncluded, text } from "./endpoint.ts"
import { user } from "./user.ts"

export const team = document("teams", {
  id: z.custom<TeamId>(),
  self: (id) => `/api/v2/teams/${id}`,
  attributes: {
    name: writable(z.string(), {
      input: ruled(teamNameFaults),
      required: true,
      rule: "Name, unique in the organization: letters, numbers, spaces, -, _ and /, at most 90 characters.",
      example: "platform",
    }),
    visibility: writable(z.enum(teamVisibilities), {
      rule: "Who sees the team: its members and those with access to secret teams (secret), or every member (organization).",
      default: "secret",
      example: "organization",
    }),
    usersCount: computed(z.int(), ({ userIds }: TeamView) => userIds.length, {
      rule: "Number of members.",
      example: 2,
    }),
    ssoTeamId: writable(z.string().nullable(), {
      input: ruled(ssoTeamIdFaults).nullable(),
      rule: "Name of the team at an identity provider, at most 255 characters. It is stored and returned.",
      default: null,
      example: "00g1a2b3",
    }),
    allowMemberTokenManagement: writable(z.boolean(), {
      input: nullAsAbsent(z.boolean()),
      rule: "Allow members to manage the token of the team.",
      default: true,
      example: false,
    }),
    allowTeamTokenManagement: alias("allowMemberTokenManagement", z.boolean(), {
      input: nullAsAbsent(z.boolean()),
      rule: "The same, by its name in the documentation of HCP Terraform.",
      default: true,
      example: false,
    }),
    access: writable(flags(organizationPermissions), {
      wireName: "organization-access",
      input: nullAsAbsent(someFlags(organizationPermissions)),
      rule: "Rights in the organization. A request changes those that it names; it cannot give rights that its caller lacks.",
      default: {},
      example: { "manage-workspaces": true },
    }),
    permissions: readOnly(
      flags([
        "canUpdateMembership",
        "canDestroy",
        "canUpdateOrganizationAccess",
        "canUpdateApiToken",
        "canUpdateVisibility",
        "canUpdateName",
      ]),
      { rule: "What the caller may do with the team." },
    ),
  },
  relationships: {
    organizationName: readOnly(one<string>("organizations"), { wireName: "organization", rule: "Organization." }),
    userIds: readOnly(many<UserId>("users"), { wireName: "users", rule: "Members." }),
    authenticationToken: link((id) => `/api/v2/teams/${id}/authentication-token`, { rule: "Token of the team." }),
    organizationMembershipIds: optional(many<string>("organization-memberships"), {
      wireName: "organization-memberships",
      rule: "Memberships of the members, if include is given.",
    }),
  },
})

const parts = ["users", "organization-memberships"] as const
const inclusion = z.codec(z.string(), z.custom<readonly (typeof parts)[number][] | undefined>(), {
  decode(value, context) {
    const names = decodeCommaList(value)
    const unknown = names?.find((name) => !parts.some((part) => part === name))
    if (unknown === undefined) return names as (typeof parts)[number][] | undefined
    const message = `include parameter "${unknown}" is not one of ${parts.join(", ")}`
    context.issues.push({ code: "custom", message, input: value })
    return z.NEVER
  },
  encode: (names) => (names ?? []).join(","),
})

const include = {
  parameter: "include",
  schema: inclusion,
  rule: "Members beside the team: users, organization-memberships, or both with a comma.",
  example: "users",
}
const managesMembers = "`manage-teams` or `manage-membership`, and every right that the team gives"

export const teams = contract({
  list: {
    method: "GET",
    path: "/organizations/:organization_name/teams",
    summary: "Lists the teams that the caller sees.",
    rights: "Members of the organization.",
    query: {
      search: { parameter: "q", schema: text, rule: "Part of the name.", example: "plat" },
      names: { parameter: "filter[names]", schema: commaList, rule: "Names, with commas between.", example: "owners" },
    },
    answers: page(team),
  },
  create: {
    method: "POST",
    path: "/organizations/:organization_name/teams",
    summary: "Creates a team.",
    rights: "`manage-teams`; `manage-organization-access` to give rights.",
    body: team.input,
    answers: created(team),
  },
  get: {
    method: "GET",
    path: "/teams/:team_id",
    summary: "Returns a team.",
    rights: "Callers who see the team.",
    query: { include },
    answers: resourceWithIncluded(team),
  },
  update: {
    method: "PATCH",
    path: "/teams/:team_id",
    summary: "Changes a team. Attributes left out keep their values; the team owners keeps its name and its rights.",
    rights: "`manage-teams`; `manage-organization-access` for `organization-access`.",
    body: team.patch,
    answers: resource(team),
  },
  delete: {
    method: "DELETE",
    path: "/teams/:team_id",
    summary: "Deletes a team. The team owners cannot be deleted.",
    rights: "`manage-teams`.",
    answers: nothing,
  },
  addUsers: {
    method: "POST",
    path: "/teams/:team_id/relationships/users",
    summary: "Adds members by username; users who are members are ignored.",
    rights: `${managesMembers}.`,
    body: identifiers("users"),
    answers: nothing,
  },
  removeUsers: {
    method: "DELETE",
    path: "/teams/:team_id/relationships/users",
    summary: "Removes members by username. The team owners keeps its last member.",
    rights: `${managesMembers}.`,
    body: identifiers("users"),
    answers: nothing,
  },
  addOrganizationMemberships: {
    method: "POST",
    path: "/teams/:team_id/relationships/organization-memberships",
    summary: "Adds members by the id of their membership in the organization.",
    rights: `${managesMembers}.`,
    body: identifiers("organization-memberships"),
    answers: nothing,
  },
  removeOrganizationMemberships: {
    method: "DELETE",
    path: "/teams/:team_id/relationships/organization-memberships",
    summary: "Removes members by the id of their membership in the organization.",
    rights: `${managesMembers}.`,
    body: identifiers("organization-memberships"),
    answers: nothing,
  },
})

/** Encodes the membership of a team member, without members that only the membership's own document has. */
export const encodeMember = (team: TeamView, { organizationMembershipId, user: member }: TeamMember): Resource => ({
  id: organizationMembershipId,
  type: "organization-memberships",
  attributes: {
    status: "active",
    username: member.username,
    ...(member.email === null ? {} : { email: member.email }),
  },
  relationships: {
    organization: encodeOne("organizations", team.organizationName),
    user: encodeOne("users", member.id),
  },
})

const memberSchema = z.object({
  relationships: z.object({ user: z.object({ data: z.object({ id: z.string() }) }) }),
})
export const decodeMember = (id: string, included: ReadonlyMap<string, unknown>): TeamMember => {
  const { relationships } = readAnswer(memberSchema, included.get(`organization-memberships/${id}`), "a membership")
  return { organizationMembershipId: id, user: user.decode(included.get(`users/${relationships.user.data.id}`)) }
}
