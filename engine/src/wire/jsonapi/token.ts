import { z } from "zod"
import { formatInstant, parseInstant } from "../../core/time.ts"
import type { TokenInput } from "../../organizations/token.ts"
import type { CreatedToken, TokenView } from "../../organizations/tokens.ts"
import { decodeDocument, type Resource, toOne } from "./document.ts"
import { attributePointers, renamedPointers } from "./errors.ts"
import { given } from "./given.ts"

export const tokenPointers = renamedPointers(attributePointers(), { expiresAt: "expiredAt" })

export function encodeToken(token: TokenView): Resource {
  return {
    id: token.id,
    type: "authentication-tokens",
    attributes: {
      "created-at": formatInstant(token.createdAt),
      "last-used-at": token.lastUsedAt === null ? null : formatInstant(token.lastUsedAt),
      "expired-at": token.expiresAt === null ? null : formatInstant(token.expiresAt),
      description: token.description === "" ? null : token.description,
      token: null,
    },
    relationships: {
      "created-by": toOne("users", token.createdBy),
      ...ownerOf(token),
    },
    links: { self: `/api/v2/authentication-tokens/${token.id}` },
  }
}

/** Shows the secret, this once. */
export function encodeCreatedToken({ secret, ...token }: CreatedToken): Resource {
  const resource = encodeToken(token)
  return { ...resource, attributes: { ...resource.attributes, token: secret } }
}

function ownerOf({ owner }: TokenView) {
  switch (owner.kind) {
    case "user":
      return { user: toOne("users", owner.userId) }
    case "team":
      return { team: toOne("teams", owner.teamId) }
    case "organization":
      return { organization: toOne("organizations", owner.organizationName) }
    default:
      return owner satisfies never
  }
}

const instant = z.string().transform((text, context) => {
  const parsed = parseInstant(text)
  if (parsed !== undefined) return parsed
  context.addIssue({ code: "custom", message: "must be an ISO 8601 timestamp with a time zone" })
  return z.NEVER
})
const schema = z.object({
  attributes: z.object({ description: z.string().nullish(), "expired-at": instant.nullish() }).prefault({}),
})

/** Clients that make the one token of a team or an organization often send no body at all. */
export function decodeTokenInput(body: unknown): TokenInput {
  if (body === undefined) return {}
  const { attributes } = decodeDocument(body, schema, {
    types: ["authentication-token", "authentication-tokens"],
    typeOptional: true,
  })
  return given({ description: attributes.description ?? undefined, expiresAt: attributes["expired-at"] })
}
