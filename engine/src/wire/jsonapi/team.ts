import { z } from "zod"
import { type OrganizationPermission, organizationPermissions } from "../../core/caller.ts"
import type { TeamId, UserId } from "../../core/ids.ts"
import { readResource } from "./answer.ts"
import {
  decodeDocument,
  encodeDocument,
  encodeIdentifiers,
  type RequestDocument,
  type Resource,
  toMany,
  toOne,
} from "./document.ts"
import { attributePointers, renamedPointers } from "./errors.ts"
import { given, type Given } from "./given.ts"
import { dashed, dashedMembers } from "./member-name.ts"
import {
  ssoTeamIdFaults,
  type TeamInput,
  type TeamPatch,
  teamNameFaults,
  type TeamView,
  teamVisibilities,
} from "../../organizations/team.ts"
import type { TeamMember } from "../../organizations/teams.ts"
import { ruled } from "./ruled.ts"
import { decodeIdentifiers } from "./relationship.ts"
import { decodeUser } from "./user.ts"

export const teamNames = { access: "organizationAccess" }
export const teamPointers = renamedPointers(attributePointers(), teamNames)

export function encodeTeam(team: TeamView): Resource {
  const { permissions } = team
  return {
    id: team.id,
    type: "teams",
    attributes: {
      name: team.name,
      visibility: team.visibility,
      "users-count": team.userIds.length,
      "sso-team-id": team.ssoTeamId,
      "allow-member-token-management": team.allowMemberTokenManagement,
      // The name that HCP Terraform's documentation has for it.
      "allow-team-token-management": team.allowMemberTokenManagement,
      "organization-access": Object.fromEntries(
        organizationPermissions.map((member) => [dashed(member), team.access[member]]),
      ),
      permissions: {
        "can-update-membership": permissions.canUpdateMembership,
        "can-destroy": permissions.canDestroy,
        "can-update-organization-access": permissions.canUpdateOrganizationAccess,
        "can-update-api-token": permissions.canUpdateApiToken,
        "can-update-visibility": permissions.canUpdateVisibility,
        "can-update-name": permissions.canUpdateName,
      },
    },
    relationships: {
      organization: toOne("organizations", team.organizationName),
      users: toMany("users", team.userIds),
      "authentication-token": { links: { related: `/api/v2/teams/${team.id}/authentication-token` } },
    },
    links: { self: `/api/v2/teams/${team.id}` },
  }
}

/** With the memberships of the organization that its members have. */
export function encodeTeamWithMembers(team: TeamView, members: readonly TeamMember[]): Resource {
  const { relationships, ...resource } = encodeTeam(team)
  const ids = members.map(({ organizationMembershipId }) => organizationMembershipId)
  return {
    ...resource,
    relationships: { ...relationships, "organization-memberships": toMany("organization-memberships", ids) },
  }
}

/** A member as a membership of the organization, without what only that membership's own document holds. */
export const encodeMember = (team: TeamView, { organizationMembershipId, user }: TeamMember): Resource => ({
  id: organizationMembershipId,
  type: "organization-memberships",
  attributes: {
    status: "active",
    username: user.username,
    ...(user.email === null ? {} : { email: user.email }),
  },
  relationships: {
    organization: toOne("organizations", team.organizationName),
    user: toOne("users", user.id),
  },
})

const access = z.object(
  Object.fromEntries(organizationPermissions.map((member) => [dashed(member), z.boolean().optional()])),
)
const settings = z.object({
  name: ruled(teamNameFaults).optional(),
  visibility: z.enum(teamVisibilities).optional(),
  "organization-access": access.nullish(),
  "sso-team-id": ruled(ssoTeamIdFaults).nullish(),
  "allow-member-token-management": z.boolean().nullish(),
  "allow-team-token-management": z.boolean().nullish(),
})
const createSchema = z.object({ attributes: settings.extend({ name: ruled(teamNameFaults) }).prefault({} as never) })
const updateSchema = z.object({ attributes: settings.prefault({}) })
const types = { types: ["teams"] }

export function decodeTeamInput(body: unknown): TeamInput {
  const { attributes } = decodeDocument(body, createSchema, types)
  return { ...patchOf(attributes), name: attributes.name }
}

export const decodeTeamPatch = (body: unknown): TeamPatch =>
  patchOf(decodeDocument(body, updateSchema, types).attributes)

function patchOf({ name, visibility, ...attributes }: z.infer<typeof settings>): TeamPatch {
  const flags = attributes["organization-access"]
  return given({
    name,
    visibility,
    access: flags === undefined || flags === null ? undefined : accessOf(flags),
    ssoTeamId: attributes["sso-team-id"],
    allowMemberTokenManagement:
      attributes["allow-member-token-management"] ?? attributes["allow-team-token-management"] ?? undefined,
  })
}

const accessOf = (flags: z.infer<typeof access>): Given<Record<OrganizationPermission, boolean>> =>
  given(Object.fromEntries(organizationPermissions.map((member) => [member, flags[dashed(member)]])))

/** Members are named by their usernames, which public clients put where ids stand. */
export const decodeUsernames = (body: unknown): string[] => decodeIdentifiers(body, "users")

export const decodeMembershipIds = (body: unknown): string[] => decodeIdentifiers(body, "organization-memberships")

/** The other direction of `encodeTeam`. */
export function decodeTeam(resource: unknown): TeamView {
  const { id, attributes: own, ...related } = readResource(resource, "teams")
  return {
    id: id as TeamId,
    organizationName: related.one("organization"),
    name: own.text("name"),
    visibility: own.oneOf("visibility", teamVisibilities),
    access: own.members("organizationAccess").flags(organizationPermissions),
    ssoTeamId: own.textOrNull("ssoTeamId"),
    allowMemberTokenManagement: own.flag("allowMemberTokenManagement"),
    permissions: own
      .members("permissions")
      .flags([
        "canUpdateMembership",
        "canDestroy",
        "canUpdateOrganizationAccess",
        "canUpdateApiToken",
        "canUpdateVisibility",
        "canUpdateName",
      ]),
    userIds: related.many("users") as UserId[],
  }
}

/** Of an input as well as of a patch. */
export const encodeTeamPatch = ({ access: flags, ...settings }: TeamPatch): RequestDocument =>
  encodeDocument("teams", dashedMembers({ ...settings, [teamNames.access]: flags && dashedMembers(flags) }))

export const encodeUsernames = (usernames: readonly string[]) => encodeIdentifiers("users", usernames)
export const encodeMembershipIds = (ids: readonly string[]) => encodeIdentifiers("organization-memberships", ids)

/** The other direction of `encodeTeamWithMembers`, with its members and their users beside it. */
export const decodeTeamMembers = (resource: unknown, included: ReadonlyMap<string, unknown>): TeamMember[] =>
  readResource(resource, "teams")
    .many("organizationMemberships")
    .map((organizationMembershipId) => {
      const membership = included.get(`organization-memberships/${organizationMembershipId}`)
      const userId = readResource(membership, "organization-memberships").one("user")
      return { organizationMembershipId, user: decodeUser(included.get(`users/${userId}`)) }
    })
