// The one way from an organization's name to an organization the caller belongs to and may act on.
import { type Caller, type Membership, membershipIn } from "../core/caller.ts"
import { notFound } from "../core/errors.ts"
import type { Organization } from "./organization.ts"
import {
  type OrganizationPermissionName,
  type OrganizationPermissions,
  permissionsIn,
  requireOrganization,
} from "./organization-permissions.ts"
import type { OrganizationRepository } from "./organization-store.ts"

export interface AuthorizedOrganization {
  readonly organization: Organization
  readonly membership: Membership
  readonly permissions: OrganizationPermissions
}

/** Not found unless the caller belongs to the organization and holds every permission asked for. */
export async function authorizeOrganization(
  { organizations }: { readonly organizations: OrganizationRepository },
  caller: Caller,
  name: string,
  ...needed: readonly OrganizationPermissionName[]
): Promise<AuthorizedOrganization> {
  const organization = await organizations.findByName(name)
  if (organization === undefined) throw notFound(name)
  const membership = membershipIn(caller, organization.id)
  const permissions = permissionsIn(caller, organization.id)
  if (membership === undefined || permissions === undefined) throw notFound(name)
  for (const permission of needed) requireOrganization(permissions, permission, name)
  return { organization, membership, permissions }
}

/** What only site administrators may do does not exist for anyone else. */
export function requireSiteAdmin(caller: Caller): void {
  if (caller.kind !== "user" || !caller.siteAdmin) throw notFound()
}
