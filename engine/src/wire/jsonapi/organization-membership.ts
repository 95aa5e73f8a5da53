import { z } from "zod"
import { formatInstant } from "../../core/time.ts"
import {
  type OrganizationMembershipInput,
  organizationMembershipStatuses,
  type OrganizationMembershipView,
} from "../../organizations/organization-membership.ts"
import type { TeamId } from "../../core/ids.ts"
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
import { attributePointers } from "./errors.ts"
import { emailFaults } from "../../organizations/email.ts"
import { usernameFaults } from "../../organizations/user.ts"
import { ruled } from "./ruled.ts"
import { toManySchema } from "./relationship.ts"
import { given } from "./given.ts"
import { dashedMembers } from "./member-name.ts"
import { decodeUser } from "./user.ts"

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
  relationships: z.object({ teams: toManySchema(z.object({ id: z.string() })).optional() }).optional(),
})

export function decodeOrganizationMembershipInput(body: unknown): OrganizationMembershipInput {
  const { attributes, relationships } = decodeDocument(body, schema, { types: ["organization-memberships"] })
  return given({ ...attributes, teamIds: relationships?.teams?.data.map(({ id }) => id) })
}

/** The other direction of `encodeOrganizationMembership`; `included` holds the user. */
export function decodeOrganizationMembership(
  resource: unknown,
  included: ReadonlyMap<string, unknown>,
): OrganizationMembershipView {
  const { id, attributes: own, ...related } = readResource(resource, "organization-memberships")
  return {
    id,
    status: own.oneOf("status", organizationMembershipStatuses),
    createdAt: own.instant("createdAt"),
    organizationName: related.one("organization"),
    user: decodeUser(included.get(`users/${related.one("user")}`)),
    teamIds: related.many("teams") as TeamId[],
  }
}

export const encodeOrganizationMembershipInput = ({
  teamIds,
  ...input
}: OrganizationMembershipInput): RequestDocument =>
  encodeDocument("organization-memberships", dashedMembers(input), {
    teams: teamIds && encodeIdentifiers("teams", teamIds),
  })
