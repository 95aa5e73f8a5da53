// The public surface of the engine: re-exports only.
export { openEngine, type EngineOptions } from "./open.ts"
export type { Engine } from "./engine.ts"
export { EngineError, type EngineErrorCode, type Fault, type FieldPath, isEngineError } from "./core/errors.ts"
export type { Edition } from "./core/edition.ts"
export { type OrganizationAccess, type OrganizationPermission, organizationPermissions } from "./core/caller.ts"
export { defaultPageSize, firstPage, maximumPageSize, type Page, type PageRequest } from "./core/page.ts"
export type { Log, Runtime } from "./core/runtime.ts"
export type { Instant } from "./core/time.ts"
export type {
  OrganizationMembershipInput,
  OrganizationMembershipView,
} from "./organizations/organization-membership.ts"
export type { OrganizationMembershipFilter, OrganizationMemberships } from "./organizations/organization-memberships.ts"
export type { ExecutionMode, OrganizationInput, OrganizationPatch, Plan } from "./organizations/organization.ts"
export type { Organizations, OrganizationView } from "./organizations/organizations.ts"
export type { ProjectAccessLevel } from "./organizations/project-permissions.ts"
export type { ProjectInput, ProjectPatch } from "./organizations/project.ts"
export type { ProjectFilter, Projects, ProjectView } from "./organizations/projects.ts"
export type { SiteSettings, SiteSettingsFamily } from "./organizations/site-settings.ts"
export type { TeamProject, TeamProjectInput, TeamProjects } from "./organizations/team-project.ts"
export type { TeamInput, TeamPatch, TeamView } from "./organizations/team.ts"
export type { TeamFilter, TeamMembers, Teams } from "./organizations/teams.ts"
export type { TokenInput } from "./organizations/token.ts"
export type { CreatedToken, Tokens, TokenView } from "./organizations/tokens.ts"
export type { AccountPatch, UserInput } from "./organizations/user.ts"
export type { Users, UserView } from "./organizations/users.ts"
export type { CustomAccess, WorkspaceAccessLevel, WorkspacePermissions } from "./workspaces/permissions.ts"
export type {
  TeamWorkspace,
  TeamWorkspaceInput,
  TeamWorkspacePatch,
  TeamWorkspaces,
} from "./workspaces/team-workspace.ts"
export type { Actor, Lock, WorkspaceRef } from "./workspaces/workspace.ts"
export type { WorkspaceView } from "./workspaces/workspace-view.ts"
export type { Workspaces } from "./workspaces/workspaces.ts"
