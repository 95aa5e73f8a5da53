import type { OrganizationPermissions } from "./organization-permissions.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Organization, OrganizationInput, OrganizationPatch } from "./organization.ts"

/** What a caller is shown of an organization. */
export interface OrganizationView extends Organization {
  readonly permissions: OrganizationPermissions
}

/** The organization family of the engine; organizations are named, as in every path. */
export interface Organizations {
  /** The caller becomes its first owner. Refuses with `invalid` a name that is taken, in any case of its letters. */
  create(input: OrganizationInput): Promise<OrganizationView>
  /** Those the caller belongs to; `search` is part of the name or of the email. */
  list(search: string | undefined, page: PageRequest): Promise<Page<OrganizationView>>
  get(name: string): Promise<OrganizationView>
  /** For owners; members left out keep their values. The plan is a site administrator's to set. */
  update(name: string, patch: OrganizationPatch): Promise<OrganizationView>
  /** With everything in it; for owners. */
  delete(name: string): Promise<void>
}
