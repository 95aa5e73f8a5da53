import { type Route, withSmallBodies } from "./route.ts"
import { agentPoolRoutes } from "./agent-pools.ts"
import { projectRoutes } from "./projects.ts"
import { apiDescriptionRoutes } from "./api-description.ts"
import { assessmentRoutes, remoteStateConsumerRoutes, retentionPolicyRoutes, workspaceRoutes } from "./workspaces.ts"
import { bulkActionRoutes } from "./bulk-actions.ts"
import { configurationVersionRoutes } from "./configuration-versions.ts"
import { terraformVersionRoutes } from "./terraform-versions.ts"
import { eventRoutes } from "./events.ts"
import { webhookRoutes } from "./webhooks.ts"
import { organizationMembershipRoutes, organizationRoutes, siteSettingsRoutes } from "./organizations.ts"
import { runRoutes } from "./runs.ts"
import { sshKeyRoutes } from "./ssh-keys.ts"
import { vcsConnectionRoutes } from "./vcs-connections.ts"
import { runClaimRoutes } from "./run-claims.ts"
import { stateVersionRoutes } from "./state-versions.ts"
import { tagRoutes } from "./tags.ts"
import { teamAccessRoutes, teamRoutes } from "./teams.ts"
import { tokenRoutes } from "./tokens.ts"
import { userRoutes } from "./users.ts"
import { variableRoutes } from "./variables.ts"

/** All endpoints that require a token, relative to `/api/v2`. */
export const apiRoutes: readonly Route[] = [
  ...withSmallBodies([
    ...organizationMembershipRoutes,
    ...userRoutes,
    ...tokenRoutes,
    ...siteSettingsRoutes,
    ...terraformVersionRoutes,
    ...webhookRoutes,
    ...retentionPolicyRoutes,
  ]),
  // Keys and messages of these may be 64 KiB long, so they have no small bound.
  ...sshKeyRoutes,
  ...assessmentRoutes,
  ...vcsConnectionRoutes,
  ...organizationRoutes,
  ...projectRoutes,
  ...teamRoutes,
  ...teamAccessRoutes,
  ...workspaceRoutes,
  ...bulkActionRoutes,
  ...runClaimRoutes,
  ...stateVersionRoutes,
  ...tagRoutes,
  ...agentPoolRoutes,
  ...runRoutes,
  ...configurationVersionRoutes,
  ...variableRoutes,
  ...eventRoutes,
  ...remoteStateConsumerRoutes,
  ...apiDescriptionRoutes,
]
