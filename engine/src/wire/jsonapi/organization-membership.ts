import { z } from "zod"
import { formatInstant } from "../../core/time.ts"
import type {
  OrganizationMembershipInput,
  OrganizationMembershipView,
} from "../../organizations/organization-membership.ts"
import { decodeDocument, type Resource, toMany, toOne } from "./document.ts"
import { attributePointers, type Pointers } from "./errors.ts"
import { given } from "./given.ts"

const base = attributePointers(["teams"])
/** `["teams", 0, "id"]` is a member of an identifier, not an attribute. */
export const organizationMembershipPointers: Pointers = (field) =>
  field[0] === "teams" && field.length === 3 ? `/data/relationships/teams/data/${field[1]}/${field[2]}` : base(field)

export function encodeOrganizationMembership(membership: OrganizationMembershipView): Resource {
  const { user } = membership
  return {
    id: membership.id,
    type: "organization-memberships",
    attributes: {
      status: membership.status,
      username: user.username,
      ...(user.email === null ? {} : { email: user.email }),
      "created-at": formatInstant(membership.createdAt),
    },
    relationships: {
      organization: toOne("organizations", membership.organizationName),
      user: toOne("users", user.id),
      teams: toMany("teams", membership.teamIds),
    },
    links: { self: `/api/v2/organization-memberships/${membership.id}` },
  }
}

const schema = z.object({
  attributes: z.object({ email: z.string().optional(), username: z.string().optional() }).prefault({}),
  relationships: z.object({ teams: z.object({ data: z.array(z.object({ id: z.string() })) }).optional() }).optional(),
})

export function decodeOrganizationMembershipInput(body: unknown): OrganizationMembershipInput {
  const { attributes, relationships } = decodeDocument(body, schema, { types: ["organization-memberships"] })
  return given({ ...attributes, teamIds: relationships?.teams?.data.map(({ id }) => id) })
}
