import { z } from "zod"
import { type OrganizationPermission, organizationPermissions } from "../../core/caller.ts"
import { type TeamInput, type TeamPatch, type TeamView, teamVisibilities } from "../../organizations/team.ts"
import { decodeDocument, type Resource, toMany, toOne } from "./document.ts"
import { attributePointers, renamedPointers } from "./errors.ts"
import { given, type Given } from "./given.ts"
import { dashed } from "./member-name.ts"
import { decodeIdentifiers } from "./relationship.ts"

export const teamPointers = renamedPointers(attributePointers(), { access: "organizationAccess" })

export function encodeTeam(team: TeamView): Resource {
  const { permissions } = team
  return {
    id: team.id,
    type: "teams",
    attributes: {
      name: team.name,
      visibility: team.visibility,
      "users-count": team.userIds.length,
      "sso-team-id": null,
      "allow-member-token-management": false,
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

const access = z.object(
  Object.fromEntries(organizationPermissions.map((member) => [dashed(member), z.boolean().optional()])),
)
const settings = z.object({
  name: z.string().optional(),
  visibility: z.enum(teamVisibilities).optional(),
  "organization-access": access.nullish(),
})
const createSchema = z.object({ attributes: settings.extend({ name: z.string() }).prefault({} as never) })
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
  return given({ name, visibility, access: flags === undefined || flags === null ? undefined : accessOf(flags) })
}

const accessOf = (flags: z.infer<typeof access>): Given<Record<OrganizationPermission, boolean>> =>
  given(Object.fromEntries(organizationPermissions.map((member) => [member, flags[dashed(member)]])))

/** Members are named by their usernames, which public clients put where ids stand. */
export const decodeUsernames = (body: unknown): string[] => decodeIdentifiers(body, "users")

export const decodeMembershipIds = (body: unknown): string[] => decodeIdentifiers(body, "organization-memberships")
