import { z } from "zod"
import { emailFaults } from "../../organizations/email.ts"
import { type AccountPatch, type UserInput, usernameFaults } from "../../organizations/user.ts"
import type { UserView } from "../../organizations/users.ts"
import type { UserId } from "../../core/ids.ts"
import { readResource } from "./answer.ts"
import { decodeDocument, encodeDocument, type RequestDocument, type Resource } from "./document.ts"
import { ruled } from "./ruled.ts"
import { given } from "./given.ts"
import { dashedMembers } from "./member-name.ts"

export function encodeUser(user: UserView): Resource {
  return {
    id: user.id,
    type: "users",
    attributes: {
      username: user.username,
      "is-service-account": user.serviceAccount,
      "auth-method": "token",
      "avatar-url": avatarUrl(user.username),
      "v2-only": true,
      ...(user.email === null ? {} : { email: user.email }),
      ...(user.siteAdmin === null ? {} : { "is-site-admin": user.siteAdmin }),
      permissions: { "can-create-organizations": !user.serviceAccount },
    },
    links: { self: `/api/v2/users/${user.id}` },
  }
}

/** An image of the first letter within the address itself: no request to another site tells it who looks at whom. */
function avatarUrl(username: string): string {
  const [letter = ""] = username.toUpperCase().match(/[A-Z0-9]/) ?? []
  const image =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="16" fill="#5b6b7b"/>` +
    `<text x="16" y="22" font-size="18" text-anchor="middle" fill="#fff">${letter}</text></svg>`
  return `data:image/svg+xml,${encodeURIComponent(image)}`
}

/** Encodes the caller's own account, which `terraform login` reads. */
export function encodeAccount(user: UserView): Resource {
  const { attributes, ...resource } = encodeUser(user)
  return {
    ...resource,
    attributes: {
      ...attributes,
      "two-factor": { enabled: false, verified: false },
    },
  }
}

/** As administrators see it. */
export function encodeAdminUser(user: UserView): Resource {
  const { attributes, ...resource } = encodeUser(user)
  return {
    ...resource,
    attributes: { ...attributes, "is-admin": user.siteAdmin, "is-suspended": false },
    links: { self: `/api/v2/users/${user.id}` },
  }
}

const attributes = z.object({ username: ruled(usernameFaults).optional(), email: ruled(emailFaults).optional() })
const accountSchema = z.object({ attributes: attributes.prefault({}) })
const userSchema = z.object({
  attributes: attributes
    .extend({ "is-admin": z.boolean().optional(), "is-service-account": z.boolean().optional() })
    .prefault({}),
})
const options = { types: ["users"], typeOptional: true }

export const decodeAccountPatch = (body: unknown): AccountPatch =>
  given(decodeDocument(body, accountSchema, options).attributes)

export function decodeUserInput(body: unknown): UserInput {
  const { username, email, ...flags } = decodeDocument(body, userSchema, options).attributes
  return given({ username, email, siteAdmin: flags["is-admin"], serviceAccount: flags["is-service-account"] })
}

/** The other direction of `encodeUser`, `encodeAccount` and `encodeAdminUser`. */
export function decodeUser(resource: unknown): UserView {
  const { id, attributes: own } = readResource(resource, "users")
  return {
    id: id as UserId,
    username: own.text("username"),
    serviceAccount: own.flag("isServiceAccount"),
    email: own.has("email") ? own.text("email") : null,
    siteAdmin: own.has("isSiteAdmin") ? own.flag("isSiteAdmin") : null,
  }
}

export const encodeAccountPatch = (patch: AccountPatch): RequestDocument =>
  encodeDocument("users", dashedMembers(patch))

export const encodeUserInput = ({ siteAdmin, serviceAccount, ...input }: UserInput): RequestDocument =>
  encodeDocument("users", dashedMembers({ ...input, isAdmin: siteAdmin, isServiceAccount: serviceAccount }))
