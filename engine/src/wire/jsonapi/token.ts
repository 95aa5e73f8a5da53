import { z } from "zod"
import { badRequest } from "../../core/errors.ts"
import { formatInstant, parseInstant } from "../../core/time.ts"
import { type TeamTokenQuery, teamTokenSortKeys, type TokenInput } from "../../organizations/token.ts"
import type { CreatedToken, TokenView } from "../../organizations/tokens.ts"
import type { TeamId, UserId } from "../../core/ids.ts"
import { readResource, type ResourceReader } from "./answer.ts"
import { decodeDocument, encodeDocument, type RequestDocument, type Resource, toOne } from "./document.ts"
import { attributePointers, renamedPointers } from "./errors.ts"
import { given } from "./given.ts"
import { dashedMembers } from "./member-name.ts"

export const tokenNames = { expiresAt: "expiredAt" }
export const tokenPointers = renamedPointers(attributePointers(), tokenNames)

export function encodeToken(token: TokenView): Resource {
  return {
    id: token.id,
    type: "authentication-tokens",
    attributes: {
      "created-at": formatInstant(token.createdAt),
      "last-used-at": token.lastUsedAt === null ? null : formatInstant(token.lastUsedAt),
      "expired-at": token.expiresAt === null ? null : formatInstant(token.expiresAt),
      description: token.description === "" ? null : token.description,
      ...(token.owner.kind === "audit-trails" && { "token-type": token.owner.kind }),
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
    case "audit-trails":
      return { organization: toOne("organizations", owner.organizationName) }
    case "agent-pool":
      return { "agent-pool": toOne("agent-pools", owner.agentPoolId) }
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

export function decodeTeamTokenQuery(query: URLSearchParams): TeamTokenQuery {
  const text = query.get("sort") || undefined
  const descending = text?.startsWith("-") ?? false
  const name = descending ? text?.slice(1) : text
  const key = teamTokenSortKeys.find((known) => known === name)
  if (text !== undefined && key === undefined) {
    const detail = `sort must be one of ${teamTokenSortKeys.join(", ")}`
    throw badRequest("The sort key is not valid.", [{ detail, parameter: "sort" }])
  }
  return given({ search: query.get("q") || undefined, sort: key && { key, descending } })
}

/** The other direction of `decodeTeamTokenQuery`. */
export const encodeTeamTokenQuery = ({ search, sort }: TeamTokenQuery) =>
  [
    ["q", search],
    ["sort", sort && `${sort.descending ? "-" : ""}${sort.key}`],
  ] as const

/** Clients that make the one token of a team or an organization often send no body at all. */
export function decodeTokenInput(body: unknown): TokenInput {
  if (body === undefined) return {}
  const { attributes } = decodeDocument(body, schema, {
    types: ["authentication-token", "authentication-tokens", "agent-tokens"],
    typeOptional: true,
  })
  return given({ description: attributes.description ?? undefined, expiresAt: attributes["expired-at"] })
}

/** The other direction of `encodeToken`. */
export function decodeToken(resource: unknown): TokenView {
  const reader = readResource(resource, "authentication-tokens")
  const { attributes: own } = reader
  return {
    id: reader.id,
    owner: decodeOwner(reader),
    description: own.textOrNull("description") ?? "",
    createdBy: reader.oneOrNull("createdBy") as UserId | null,
    createdAt: own.instant("createdAt"),
    lastUsedAt: own.instantOrNull("lastUsedAt"),
    expiresAt: own.instantOrNull("expiredAt"),
  }
}

/** The other direction of `encodeCreatedToken`. */
export const decodeCreatedToken = (resource: unknown): CreatedToken => ({
  ...decodeToken(resource),
  secret: readResource(resource, "authentication-tokens").attributes.text("token"),
})

function decodeOwner(reader: ResourceReader): TokenView["owner"] {
  if (reader.hasRelationship("user")) return { kind: "user", userId: reader.one("user") as UserId }
  if (reader.hasRelationship("team")) return { kind: "team", teamId: reader.one("team") as TeamId }
  if (reader.hasRelationship("agentPool")) return { kind: "agent-pool", agentPoolId: reader.one("agentPool") }
  const kind = reader.attributes.has("tokenType") ? "audit-trails" : "organization"
  return { kind, organizationName: reader.one("organization") }
}

export function encodeTokenInput({ description, expiresAt }: TokenInput): RequestDocument {
  const expiredAt = typeof expiresAt === "number" ? formatInstant(expiresAt) : expiresAt
  return encodeDocument("authentication-tokens", dashedMembers({ description, [tokenNames.expiresAt]: expiredAt }))
}
