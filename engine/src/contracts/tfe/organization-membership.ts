import { z } from "zod"
import type { TeamId, UserId } from "../../core/ids.ts"
import { emailFaults, usernameFaults } from "../../organizations/user.ts"
import {
  organizationMembershipStatuses,
  type OrganizationMembershipView,
} from "../../organizations/organization-membership.ts"
import { ruled } from "./json-api/document.ts"
import { absentAsNull, instant } from "../codec.ts"
import { document, many, manyInput, mapped, one, readOnly, writable } from "./document.ts"
import {
  commaList,
  contract,
  filledText,
  inclusionOfParts,
  nothing,
  page,
  resourceWithIncluded,
  text,
} from "./endpoint.ts"
import { user } from "./user.ts"

const flat = document("organization-memberships", {
  id: z.custom<string>(),
  self: (id) => `/api/v2/organization-memberships/${id}`,
  attributes: {
    status: readOnly(z.enum(organizationMembershipStatuses), {
      rule: "invited until a user who was added by email has a token or a username, then active.",
      example: "active",
    }),
    username: writable(z.string(), {
      input: ruled(usernameFaults),
      rule: "Username. Needed without email; the user is created if there is none.",
      example: "ada",
    }),
    email: writable(absentAsNull(z.string()), {
      input: ruled(emailFaults),
      rule: "Email address, if the caller may see it. Nothing is mailed.",
      example: "ada@example.com",
    }),
    createdAt: readOnly(instant, { rule: "Time of the creation.", example: "2026-11-26T12:00:00.000Z" }),
  },
  relationships: {
    organizationName: readOnly(one<string>("organizations"), { wireName: "organization", rule: "Organization." }),
    userId: readOnly(one<UserId>("users"), { wireName: "user", rule: "User." }),
    teamIds: writable(many<TeamId>("teams"), {
      input: manyInput<string>("teams"),
      wireName: "teams",
      rule: "Teams of the user that the caller sees. In a request, the teams that the user joins.",
    }),
  },
})

export const organizationMembership = mapped(flat, {
  from: ({ user: { id, username, email }, ...view }: OrganizationMembershipView) => ({
    ...view,
    userId: id,
    username,
    email,
  }),
  to: ({ userId, username: _, email: _email, ...view }, included) => ({
    ...view,
    user: user.decode(included.get(`users/${userId}`)),
  }),
})

const include = {
  parameter: "include",
  schema: inclusionOfParts("teams", "user"),
  rule: "Resources beside the memberships: teams, user, or both with a comma.",
  example: "user",
}

export const organizationMemberships = contract({
  list: {
    method: "GET",
    path: "/organizations/:organization_name/organization-memberships",
    summary: "Lists the memberships of an organization.",
    rights: "Members of the organization.",
    query: {
      search: { parameter: "q", schema: text, rule: "Part of the username or of the email address.", example: "ada" },
      emails: {
        parameter: "filter[email]",
        schema: commaList,
        rule: "Email addresses, with commas between.",
        example: "ada@example.com",
      },
      status: { parameter: "filter[status]", schema: filledText, rule: "active or invited.", example: "invited" },
      include,
    },
    answers: page(organizationMembership),
  },
  create: {
    method: "POST",
    path: "/organizations/:organization_name/organization-memberships",
    summary: "Adds a user to the organization, and creates the user if there is none. The answer includes the user.",
    rights: "`manage-membership`.",
    body: flat.input,
    answers: resourceWithIncluded(organizationMembership, 201),
  },
  get: {
    method: "GET",
    path: "/organization-memberships/:membership_id",
    summary: "Returns a membership.",
    rights: "Members of the organization.",
    query: { include },
    answers: resourceWithIncluded(organizationMembership),
  },
  delete: {
    method: "DELETE",
    path: "/organization-memberships/:membership_id",
    summary: "Removes a user from the organization and from its teams.",
    rights: "`manage-membership`.",
    answers: nothing,
  },
})
