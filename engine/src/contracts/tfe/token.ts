import { z } from "zod"
import type { TeamId, UserId } from "../../core/ids.ts"
import {
  type CreatedToken,
  organizationTokenKinds,
  type TeamTokenQuery,
  teamTokenSortKeys,
  type TokenView,
} from "../../organizations/token.ts"
import { instant, instantInput, nullAsAbsent, nullIfEmpty } from "../codec.ts"
import { type Body, constant, document, mapped, one, oneOrNull, optional, readOnly, writable } from "./document.ts"
import { contract, created, filledText, nothing, page, resource } from "./endpoint.ts"

const attributes = {
  createdAt: readOnly(instant, { rule: "Time of the creation.", example: "2026-11-26T12:00:00.000Z" }),
  lastUsedAt: readOnly(instant.nullable(), { rule: "Time of the last use, to the hour; null if it was never used." }),
  expiresAt: writable(instant.nullable(), {
    input: instantInput.nullable(),
    wireName: "expired-at",
    rule: "Time from which the token is refused, in the future. Null: never.",
    default: null,
    example: "2030-01-31T12:00:00Z",
  }),
  description: writable(nullIfEmpty, {
    input: nullAsAbsent(z.string()),
    rule: "Description, at most 255 characters.",
    default: null,
    example: "deployments",
  }),
  tokenType: optional(z.literal("audit-trails"), { rule: "Of the token for audit trails alone." }),
}
const parts = {
  id: z.custom<string>(),
  self: (id: string) => `/api/v2/authentication-tokens/${id}`,
  sentTypes: { names: ["authentication-token", "authentication-tokens", "agent-tokens"], optional: true },
  relationships: {
    createdBy: readOnly(oneOrNull<UserId>("users"), { rule: "User who created the token." }),
    userId: optional(one<UserId>("users"), { wireName: "user", rule: "Owner, if it is a user." }),
    teamId: optional(one<TeamId>("teams"), { wireName: "team", rule: "Owner, if it is a team." }),
    organizationName: optional(one<string>("organizations"), {
      wireName: "organization",
      rule: "Owner, if it is an organization.",
    }),
    agentPoolId: optional(one<string>("agent-pools"), {
      wireName: "agent-pool",
      rule: "Owner, if it is an agent pool.",
    }),
  },
} as const

const flat = document("authentication-tokens", {
  ...parts,
  attributes: { ...attributes, token: constant(null, { rule: "Null: only the answer that creates a token has it." }) },
})
const flatCreated = document("authentication-tokens", {
  ...parts,
  attributes: {
    ...attributes,
    secret: readOnly(z.string(), { wireName: "token", rule: "The token itself, this once." }),
  },
})

const fromView = ({ owner: { kind, ...ids }, ...view }: TokenView) => ({
  ...view,
  ...ids,
  ...(kind === "audit-trails" && { tokenType: kind }),
})

function toView(members: ReturnType<typeof flat.decode>): TokenView {
  const { userId, teamId, organizationName = "", agentPoolId, tokenType, ...view } = members
  if (userId !== undefined) return { ...view, owner: { kind: "user", userId } }
  if (teamId !== undefined) return { ...view, owner: { kind: "team", teamId } }
  if (agentPoolId !== undefined) return { ...view, owner: { kind: "agent-pool", agentPoolId } }
  return { ...view, owner: { kind: tokenType ?? "organization", organizationName } }
}

export const token = mapped(flat, { from: fromView, to: toView })
export const createdToken = mapped(flatCreated, {
  from: ({ secret, ...view }: CreatedToken) => ({ ...fromView(view), secret }),
  to: ({ secret, ...view }) => ({ ...toView(view), secret }),
})

type Input = ReturnType<typeof flat.input.decode>
/** Optional body: clients that create the single token of a team or an organization often send none. */
const body: Body<Input> = {
  ...flat.input,
  decode: (sent) => (sent === undefined ? {} : flat.input.decode(sent)),
  optional: true,
}

const teamTokenSort = z.codec(z.string(), z.custom<TeamTokenQuery["sort"]>(), {
  decode(value, context) {
    if (value === "") return undefined
    const descending = value.startsWith("-")
    const key = teamTokenSortKeys.find((known) => known === (descending ? value.slice(1) : value))
    if (key !== undefined) return { key, descending }
    context.issues.push({
      code: "custom",
      message: `sort must be one of ${teamTokenSortKeys.join(", ")}`,
      input: value,
    })
    return z.NEVER
  },
  encode: (sort) => (sort === undefined ? "" : `${sort.descending ? "-" : ""}${sort.key}`),
})

/** Kind of token. Unknown kinds are rejected, so that a client never receives the organization's token instead of a lesser one. */
const kind = {
  parameter: "token",
  schema: z
    .enum(["", ...organizationTokenKinds], { error: `token must be one of ${organizationTokenKinds.join(", ")}` })
    .transform((name) => (name === "" ? undefined : name)) as z.ZodType<
    (typeof organizationTokenKinds)[number] | undefined,
    string
  >,
  rule: "organization, the default, or audit-trails, whose token opens nothing here.",
  example: "audit-trails",
}

const ofOrganization = "Owners."
const ofTeam = "`can-update-api-token` on the team."
const ofPool = "`manage-agent-pools`."
const ofUser = "The user, and site administrators."

export const tokens = contract({
  createForUser: {
    method: "POST",
    path: "/users/:user_id/authentication-tokens",
    summary: "Creates a token of a user.",
    rights: ofUser,
    body,
    answers: created(createdToken),
  },
  listForUser: {
    method: "GET",
    path: "/users/:user_id/authentication-tokens",
    summary: "Lists the tokens of a user.",
    rights: ofUser,
    answers: page(token),
  },
  createForOrganization: {
    method: "POST",
    path: "/organizations/:organization_name/authentication-token",
    summary: "Creates the token of an organization, and revokes the one before.",
    rights: ofOrganization,
    query: { kind },
    body,
    answers: created(createdToken),
  },
  getForOrganization: {
    method: "GET",
    path: "/organizations/:organization_name/authentication-token",
    summary: "Returns the token of an organization, without its secret.",
    rights: ofOrganization,
    query: { kind },
    answers: resource(token),
  },
  deleteForOrganization: {
    method: "DELETE",
    path: "/organizations/:organization_name/authentication-token",
    summary: "Revokes the token of an organization.",
    rights: ofOrganization,
    query: { kind },
    answers: nothing,
  },
  listForTeams: {
    method: "GET",
    path: "/organizations/:organization_name/team-tokens",
    summary: "Lists the tokens of the teams. Only owners see those of the team owners.",
    rights: "`manage-teams`.",
    query: {
      search: { parameter: "q", schema: filledText, rule: "Part of the name of the team.", example: "plat" },
      sort: {
        parameter: "sort",
        schema: teamTokenSort,
        rule: `Order: ${teamTokenSortKeys.join(", ")}; with - before it, descending. Default: team-name.`,
        example: "-expired-at",
      },
    },
    answers: page(token),
  },
  createForTeam: {
    method: "POST",
    path: "/teams/:team_id/authentication-token",
    summary: "Creates the team's token without a description, and revokes the one before.",
    rights: ofTeam,
    body,
    answers: created(createdToken),
  },
  getForTeam: {
    method: "GET",
    path: "/teams/:team_id/authentication-token",
    summary: "Returns the team's token without a description, without its secret.",
    rights: ofTeam,
    answers: resource(token),
  },
  deleteForTeam: {
    method: "DELETE",
    path: "/teams/:team_id/authentication-token",
    summary: "Revokes the team's token without a description.",
    rights: ofTeam,
    answers: nothing,
  },
  addForTeam: {
    method: "POST",
    path: "/teams/:team_id/authentication-tokens",
    summary: "Creates one more token of a team. Its description is unique in the team.",
    rights: ofTeam,
    body,
    answers: created(createdToken),
  },
  listForTeam: {
    method: "GET",
    path: "/teams/:team_id/authentication-tokens",
    summary: "Lists the tokens of a team.",
    rights: ofTeam,
    answers: page(token),
  },
  createForAgentPool: {
    method: "POST",
    path: "/agent-pools/:agent_pool_id/authentication-tokens",
    summary: "Creates a token for agents of a pool, which claims the runs of the pool and does nothing else.",
    rights: ofPool,
    body,
    answers: created(createdToken),
  },
  listForAgentPool: {
    method: "GET",
    path: "/agent-pools/:agent_pool_id/authentication-tokens",
    summary: "Lists the tokens of an agent pool.",
    rights: ofPool,
    answers: page(token),
  },
  get: {
    method: "GET",
    path: "/authentication-tokens/:token_id",
    summary: "Returns a token, without its secret.",
    rights: "Callers who may list it.",
    answers: resource(token),
  },
  delete: {
    method: "DELETE",
    path: "/authentication-tokens/:token_id",
    summary: "Revokes a token. It is refused from the next request on.",
    rights: "Callers who may list it.",
    answers: nothing,
  },
})
