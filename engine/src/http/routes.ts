import { type Route, withSmallBodies } from "./route.ts"
import { agentPoolRoutes } from "./routes/agent-pools.ts"
import { apiDescriptionRoutes } from "./routes/api-description.ts"
import { assessmentRoutes } from "./routes/assessments.ts"
import { bulkActionRoutes } from "./routes/bulk-actions.ts"
import { configurationVersionRoutes } from "./routes/configuration-versions.ts"
import { eventRoutes } from "./routes/events.ts"
import { organizationMembershipRoutes } from "./routes/organization-memberships.ts"
import { organizationRoutes } from "./routes/organizations.ts"
import { projectRoutes } from "./routes/projects.ts"
import { remoteStateConsumerRoutes } from "./routes/remote-state-consumers.ts"
import { retentionPolicyRoutes } from "./routes/retention-policies.ts"
import { siteSettingsRoutes } from "./routes/site-settings.ts"
import { runRoutes } from "./routes/runs.ts"
import { webhookRoutes } from "./routes/webhooks.ts"
import { sshKeyRoutes } from "./routes/ssh-keys.ts"
import { runClaimRoutes } from "./routes/run-claims.ts"
import { stateVersionRoutes } from "./routes/state-versions.ts"
import { tagRoutes } from "./routes/tags.ts"
import { teamAccessRoutes } from "./routes/team-access.ts"
import { teamRoutes } from "./routes/teams.ts"
import { terraformVersionRoutes } from "./routes/terraform-versions.ts"
import { tokenRoutes } from "./routes/tokens.ts"
import { userRoutes } from "./routes/users.ts"
import { variableRoutes } from "./routes/variables.ts"
import { vcsConnectionRoutes } from "./routes/vcs-connections.ts"
import { workspaceRoutes } from "./routes/workspaces.ts"

/** Every endpoint that needs a token, relative to `/api/v2`. */
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
  // Keys and messages in these may have 64 KiB by themselves.
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
