import { type AccessHolder, noAccess } from "./access.ts"
import type { OrganizationId, TeamId, UserId } from "./ids.ts"

/** What a team may do across its organization; the union over a caller's teams is what counts. */
export const organizationPermissions = [
  "manageWorkspaces",
  "manageProjects",
  "readWorkspaces",
  "readProjects",
  "manageTeams",
  "manageMembership",
  "manageOrganizationAccess",
  "manageVcsSettings",
  "manageAgentPools",
  "accessSecretTeams",
  // Of policies, run tasks and registries there are none here: these are stored and returned.
  "managePolicies",
  "managePolicyOverrides",
  "manageRunTasks",
  "manageModules",
  "manageProviders",
] as const
export type OrganizationPermission = (typeof organizationPermissions)[number]
export type OrganizationAccess = { readonly [permission in OrganizationPermission]: boolean }

/** A caller's standing in one organization. */
export interface Membership {
  /** Member of the team `owners`; `docs/conformance.md` calls it "team owner". */
  readonly owner: boolean
  readonly teams: readonly TeamId[]
  readonly access: OrganizationAccess
  /** Of a team's own token, which acts for the team and is none of its members. */
  readonly isTeamToken?: true
}

/**
 * The caller of a request, resolved once from its token. Keep no part of it after the request without comparing the identity
 * version again (docs/decisions/cache-versions.md). Memberships give rights to organizations and their resources, `acl` to
 * certificates; neither implies the other (docs/decisions/tokens-and-policies.md).
 */
export type Caller = AccessHolder & Standing

type Standing =
  | {
      readonly kind: "user"
      readonly tokenId: string | undefined
      readonly userId: UserId
      /** For records; rights hang on the id. */
      readonly username?: string
      readonly siteAdmin: boolean
      readonly memberships: ReadonlyMap<OrganizationId, Membership>
    }
  | {
      readonly kind: "team"
      readonly tokenId: string
      readonly teamId: TeamId
      readonly teamName?: string
      readonly organizationId: OrganizationId
      readonly membership: Membership
    }
  | { readonly kind: "organization"; readonly tokenId: string; readonly organizationId: OrganizationId }
  /** Whoever executes runs for an agent pool: a member of nothing, who may claim the pool's runs and report on them. */
  | {
      readonly kind: "agent"
      readonly tokenId: string
      readonly agentPoolId: string
      readonly organizationId: OrganizationId
    }
  /** The holder of a service token, who belongs to no organization. */
  | { readonly kind: "service"; readonly tokenId: string }
  /** Whoever sends no token. */
  | { readonly kind: "anonymous" }

export const anonymous: Caller = { kind: "anonymous", acl: noAccess }

/** Standing in an organization, or undefined for a stranger to it. Site administrators stand as owners everywhere. */
export function membershipIn(caller: Caller, organizationId: OrganizationId): Membership | undefined {
  switch (caller.kind) {
    case "user":
      return caller.siteAdmin ? ownerMembership : caller.memberships.get(organizationId)
    case "team":
      return caller.organizationId === organizationId ? caller.membership : undefined
    case "organization":
      return caller.organizationId === organizationId ? organizationTokenMembership : undefined
    case "agent":
    case "service":
    case "anonymous":
      return undefined
    default:
      return caller satisfies never
  }
}

const everything = Object.fromEntries(
  organizationPermissions.map((name) => [name, true]),
) as unknown as OrganizationAccess
export const noOrganizationAccess = Object.fromEntries(
  organizationPermissions.map((name) => [name, false]),
) as unknown as OrganizationAccess
export const ownerMembership: Membership = { owner: true, teams: [], access: everything }
const organizationTokenMembership: Membership = { owner: false, teams: [], access: everything }
