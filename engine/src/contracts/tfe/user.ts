import { z } from "zod"
import type { UserId } from "../../core/ids.ts"
import { emailFaults, usernameFaults } from "../../organizations/user.ts"
import { ruled } from "./json-api/document.ts"
import { absentAsNull } from "../codec.ts"
import { computed, constant, document, readOnly, writable } from "./document.ts"
import { contract, created, nothing, page, resource, text } from "./endpoint.ts"

const username = {
  rule: "Name, unique on the server: letters, numbers, ., - and _, at most 60 characters.",
  example: "ada",
}
const email = { rule: "Email address, if the caller may see it.", example: "ada@example.com" }
const serviceAccount = {
  wireName: "is-service-account",
  rule: "True for the account of a team or an organization, which has only tokens.",
  default: false,
  example: true,
}
const siteAdmin = { wireName: "is-site-admin", rule: "Site administrator, if the caller may see it.", example: true }

const constants = {
  authMethod: constant("token", { rule: "Always token." }),
  avatarUrl: computed(z.string(), (view: { readonly username: string }) => avatarUrl(view.username), {
    rule: "Image of the first letter, as a data URL.",
  }),
  v2Only: constant(true, { rule: "Always true." }),
  permissions: computed(
    z.object({ "can-create-organizations": z.boolean() }),
    (view: { readonly serviceAccount: boolean }) => ({ "can-create-organizations": !view.serviceAccount }),
    { rule: "What the user may do." },
  ),
}

/** Returns a data URL with an image of the first letter. An image on another site would disclose to it which users are viewed. */
function avatarUrl(name: string): string {
  const [letter = ""] = name.toUpperCase().match(/[A-Z0-9]/) ?? []
  const image =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="16" fill="#5b6b7b"/>` +
    `<text x="16" y="22" font-size="18" text-anchor="middle" fill="#fff">${letter}</text></svg>`
  return `data:image/svg+xml,${encodeURIComponent(image)}`
}

const common = {
  id: z.custom<UserId>(),
  self: (id: string) => `/api/v2/users/${id}`,
  sentTypes: { optional: true },
} as const

/** User as other users see it. */
export const user = document("users", {
  ...common,
  attributes: {
    username: readOnly(z.string(), username),
    serviceAccount: readOnly(z.boolean(), serviceAccount),
    email: readOnly(absentAsNull(z.string()), email),
    siteAdmin: readOnly(absentAsNull(z.boolean()), siteAdmin),
    ...constants,
  },
  relationships: {},
})

/** The caller's own account, which `terraform login` reads (docs/compatibility.md, "Terraform login"). */
export const account = document("users", {
  ...common,
  attributes: {
    ...user.attributes,
    username: writable(z.string(), { ...username, input: ruled(usernameFaults) }),
    email: writable(absentAsNull(z.string()), { ...email, input: ruled(emailFaults) }),
    serviceAccount: readOnly(z.boolean(), serviceAccount),
    siteAdmin: readOnly(absentAsNull(z.boolean()), siteAdmin),
    twoFactor: computed(
      z.object({ enabled: z.literal(false), verified: z.literal(false) }),
      () => ({ enabled: false, verified: false }),
      { rule: "Always false." },
    ),
    ...constants,
  },
  relationships: {},
})

/** User as site administrators see it. */
export const adminUser = document("users", {
  ...common,
  attributes: {
    username: writable(z.string(), { ...username, input: ruled(usernameFaults) }),
    email: writable(absentAsNull(z.string()), { ...email, input: ruled(emailFaults) }),
    serviceAccount: writable(z.boolean(), serviceAccount),
    siteAdmin: writable(z.boolean().nullable(), {
      input: z.boolean(),
      wireName: "is-admin",
      rule: "Site administrator.",
      default: false,
      example: true,
    }),
    isSiteAdmin: computed(
      absentAsNull(z.boolean()),
      (view: { readonly siteAdmin: boolean | null }) => view.siteAdmin,
      siteAdmin,
    ),
    isSuspended: constant(false, { rule: "Always false." }),
    ...constants,
  },
  relationships: {},
})

const updateAccount = {
  method: "PATCH",
  summary: "Changes the caller's own account.",
  rights: "Tokens of users.",
  body: account.patch,
  answers: resource(account),
} as const

export const users = contract({
  get: {
    method: "GET",
    path: "/users/:user_id",
    summary: "Returns a user. The email address and administration are left out unless the caller may see them.",
    rights:
      "Users who share an organization with the user. The account of a team is visible to callers that see the team.",
    answers: resource(user),
  },
  account: {
    method: "GET",
    path: "/account/details",
    summary: "Returns the account of the token.",
    rights: "Any token.",
    answers: resource(account),
  },
  updateAccount: { ...updateAccount, path: "/account/details" },
  updateAccountAsClients: {
    ...updateAccount,
    path: "/account/update",
    summary: "The same, at the address that public clients use.",
  },
  list: {
    method: "GET",
    path: "/admin/users",
    summary: "Lists all users.",
    rights: "Site administrators.",
    query: {
      search: { parameter: "q", schema: text, rule: "Part of the username or of the email address.", example: "ada" },
    },
    answers: page(adminUser),
  },
  create: {
    method: "POST",
    path: "/admin/users",
    summary: "Creates a user. One of username and email is needed.",
    rights: "Site administrators.",
    body: adminUser.input,
    answers: created(adminUser),
  },
  getAsAdministrator: {
    method: "GET",
    path: "/admin/users/:user_id",
    summary: "Returns any user.",
    rights: "Site administrators.",
    answers: resource(adminUser),
  },
  delete: {
    method: "DELETE",
    path: "/admin/users/:user_id",
    summary: "Deletes a user. The user root, and the last owner of an organization, cannot be deleted.",
    rights: "Site administrators.",
    answers: nothing,
  },
  grantAdmin: {
    method: "POST",
    path: "/admin/users/:user_id/actions/grant_admin",
    summary: "Makes the user a site administrator.",
    rights: "Site administrators.",
    answers: resource(adminUser),
  },
  revokeAdmin: {
    method: "POST",
    path: "/admin/users/:user_id/actions/revoke_admin",
    summary: "Makes the user no site administrator. The user root stays one.",
    rights: "Site administrators.",
    answers: resource(adminUser),
  },
})
