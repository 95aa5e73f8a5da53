import type { Caller } from "../../core/caller.ts"
import type { OrganizationId, TeamId } from "../../core/ids.ts"
import { organizationWideAccess } from "../../workspaces/access/workspace-permissions.ts"
import { teamsOf } from "../../workspaces/access/workspace-authorization.ts"

export interface FeedVisibility {
  /** `granted` means the workspaces that a team of the caller has access to. */
  readonly sees: "everything" | "granted" | "nothing"
  readonly teams: readonly TeamId[]
}

export function feedVisibilityOf(caller: Caller, organizationId: OrganizationId): FeedVisibility {
  const wide = organizationWideAccess(caller, organizationId)
  if (wide === "none") return { sees: "nothing", teams: [] }
  if (wide === "by-grant") return { sees: "granted", teams: teamsOf(caller, organizationId) }
  return { sees: "everything", teams: [] }
}
