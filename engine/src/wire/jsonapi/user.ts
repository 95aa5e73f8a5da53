import { z } from "zod"
import type { AccountPatch, UserInput } from "../../organizations/user.ts"
import type { UserView } from "../../organizations/users.ts"
import { decodeDocument, type Resource } from "./document.ts"
import { given } from "./given.ts"

export function encodeUser(user: UserView): Resource {
  return {
    id: user.id,
    type: "users",
    attributes: {
      username: user.username,
      "is-service-account": user.serviceAccount,
      "auth-method": "token",
      "avatar-url": null,
      "v2-only": true,
      ...(user.email === null ? {} : { email: user.email }),
      permissions: { "can-create-organizations": !user.serviceAccount },
    },
    links: { self: `/api/v2/users/${user.id}` },
  }
}

/** One's own account: what `terraform login` asks for (workspace-facts 2.5). */
export function encodeAccount(user: UserView): Resource {
  const { attributes, ...resource } = encodeUser(user)
  return {
    ...resource,
    attributes: {
      ...attributes,
      "is-site-admin": user.siteAdmin,
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

const attributes = z.object({ username: z.string().optional(), email: z.string().optional() })
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
