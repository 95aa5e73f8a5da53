import { z } from "zod"
import { formatInstant } from "../../core/time.ts"
import type {
  OrganizationMembershipInput,
  OrganizationMembershipView,
} from "../../organizations/organization-membership.ts"
import { emailFaults } from "../../organizations/email.ts"
import { usernameFaults } from "../../organizations/user.ts"
import { decodeDocument, type Resource, toMany, toOne } from "./document.ts"
import { attributePointers } from "./errors.ts"
import { ruled } from "./ruled.ts"
import { given } from "./given.ts"

export const organizationMembershipPointers = attributePointers(["teams"])

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
  attributes: z
    .object({ email: ruled(emailFaults).optional(), username: ruled(usernameFaults).optional() })
    .prefault({}),
  relationships: z.object({ teams: z.object({ data: z.array(z.object({ id: z.string() })) }).optional() }).optional(),
})

export function decodeOrganizationMembershipInput(body: unknown): OrganizationMembershipInput {
  const { attributes, relationships } = decodeDocument(body, schema, { types: ["organization-memberships"] })
  return given({ ...attributes, teamIds: relationships?.teams?.data.map(({ id }) => id) })
}
