// Every store there is. A service names the few it uses: `Storage<Pick<Stores, "workspaces" | "access">>`.
import type { IdentityStore } from "./organizations/identity-store.ts"
import type { AccessStore } from "./workspaces/access-store.ts"
import type { WorkspaceStore } from "./workspaces/workspace-store.ts"

export interface Stores {
  readonly identity: IdentityStore
  readonly access: AccessStore
  readonly workspaces: WorkspaceStore
}
