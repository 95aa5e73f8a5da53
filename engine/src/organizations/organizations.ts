import type { OrganizationPermissions } from "./organization-permissions.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Organization, OrganizationInput, OrganizationPatch } from "./organization.ts"

/** What a caller is shown of an organization. */
export interface OrganizationView extends Organization {
  readonly permissions: OrganizationPermissions
}

/** The organization family of the engine; organizations are named, as in every path. */
export interface Organizations {
  create(input: OrganizationInput): Promise<OrganizationView>
  /** Those the caller belongs to; `search` is part of the name. */
  list(search: string | undefined, page: PageRequest): Promise<Page<OrganizationView>>
  get(name: string): Promise<OrganizationView>
  update(name: string, patch: OrganizationPatch): Promise<OrganizationView>
  /** With everything in it. */
  delete(name: string): Promise<void>
}
