import { type AccessHolder, noAccess } from "./access.ts"
import type { OrganizationId, TeamId, UserId } from "./ids.ts"

/** Rights of a team across its organization. A caller has the union of the rights of its teams. */
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
  // Chancery has no policies, run tasks or registries for `/api/v2`. These rights are stored and returned.
  "managePolicies",
  "managePolicyOverrides",
  "manageRunTasks",
  "manageModules",
  "manageProviders",
] as const
export type OrganizationPermission = (typeof organizationPermissions)[number]
export type OrganizationAccess = { readonly [permission in OrganizationPermission]: boolean }

/** Rights of a caller in one organization. */
export interface Membership {
  /** Member of the team `owners`; `docs/conformance.md` calls it "team owner". */
  readonly owner: boolean
  readonly teams: readonly TeamId[]
  readonly access: OrganizationAccess
  /** Set for a team token, which acts for the team and is not one of its members. */
  readonly isTeamToken?: true
}

/**
 * The caller of a request, resolved once from its token. After the request, compare the identity version before using any part of it
 * (docs/decisions/cache-versions.md). Memberships give rights to organizations and their resources, `acl` to certificates; neither
 * implies the other (docs/decisions/tokens-and-policies.md).
 */
export type Caller = AccessHolder & Standing

type Standing =
  | {
      readonly kind: "user"
      readonly tokenId: string | undefined
      readonly userId: UserId
      /** For logs and records only. Rights depend on `userId`. */
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
  /** Executor of an agent pool. It has no membership. It may claim the pool's runs and report on them. */
  | {
      readonly kind: "agent"
      readonly tokenId: string
      readonly agentPoolId: string
      readonly organizationId: OrganizationId
      /** Set for a token of one claim (`claim-token.ts`). It continues this claim, and does nothing else. `tokenId` is the claim's id then. */
      readonly claimId?: string
    }
  /** Holder of a service token. It belongs to no organization. */
  | {
      readonly kind: "service"
      readonly tokenId: string
      /** Set for a client of an enrolment protocol, which sent credentials instead of a token (`delegated-login.ts`). */
      readonly login?: DelegatedClient
    }
  /** Client without a token. */
  | { readonly kind: "anonymous" }

/** Client that an auth method has verified for one request. */
export interface DelegatedClient {
  /** Accessor of the auth method. */
  readonly accessor: string
  /** Path of the method and name of the client. */
  readonly displayName: string
  /** Facts about the client, as in the metadata of a token. */
  readonly meta: Readonly<Record<string, string>>
}

export const anonymous: Caller = { kind: "anonymous", acl: noAccess }

/**
 * Returns the caller's rights in an organization, or undefined if it has none. Site administrators have the rights of owners in all
 * organizations.
 */
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
