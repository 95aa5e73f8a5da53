// Every store there is. A service names the few it uses: `Storage<Pick<Stores, "workspaces" | "tags">>`.
import type { IdentityStore } from "./organizations/identity-store.ts"
import type { OrganizationStore } from "./organizations/organization-store.ts"
import type { ProjectStore } from "./organizations/project-store.ts"
import type { AccessStore } from "./workspaces/access-store.ts"
import type { WorkspaceStore } from "./workspaces/workspace-store.ts"

export interface Stores {
  readonly identity: IdentityStore
  readonly organizations: OrganizationStore
  readonly projects: ProjectStore
  readonly access: AccessStore
  readonly workspaces: WorkspaceStore
}
