// All resources of `/api/v2`, from which OpenAPI and the reference are made.
import { agentPool, agentPools } from "./agent-pool.ts"
import { apiDescription } from "./api-description.ts"
import { assessment, assessments } from "./assessment.ts"
import { bulkAction, bulkActions, bulkRequest } from "./bulk-action.ts"
import { configurationVersion, configurationVersions, ingressAttributes, readme } from "./configuration-version.ts"
import { entitlementSet, organization, organizations } from "./organization.ts"
import { organizationMembership, organizationMemberships } from "./organization-membership.ts"
import { project, projects } from "./project.ts"
import { organizationRetention, retentionPolicy, siteRetention, workspaceRetention } from "./retention-policy.ts"
import { effectiveTagBinding, tag, tagBinding, tags } from "./tag.ts"
import { appInstallation, oauthClient, oauthToken, vcsConnections } from "./vcs-connection.ts"
import { siteSettings, siteSettingsContract } from "./site-settings.ts"
import { sshKey, sshKeys } from "./ssh-key.ts"
import { teamProject, teamProjects, teamWorkspace, teamWorkspaces } from "./team-access.ts"
import { terraformVersion, terraformVersions } from "./terraform-version.ts"
import { createdToken, token, tokens } from "./token.ts"
import { variable, variables } from "./variable.ts"
import { deadLetter, webhook, webhooks } from "./webhook.ts"
import { lock, namedWorkspaces, workspace, workspaces } from "./workspace.ts"
import { account, adminUser, user, users } from "./user.ts"
import { team, teams } from "./team.ts"
import { remoteStateConsumers } from "./remote-state-consumers.ts"
import { apply, comment, plan, run, runCapacity, runEvent, runs } from "./run.ts"
import {
  stateVersion,
  stateVersionInput,
  stateVersionOutput,
  stateVersions,
  workspaceOutput,
  workspaceResource,
} from "./state-version.ts"
import { claimInput, executionSshKey, executionVariable, logSize, runClaim, runClaims } from "./run-claim.ts"
import { event, events } from "./event.ts"
import type { Definition } from "./document.ts"
import type { Contract, Endpoint } from "./endpoint.ts"

/** Page of docs/reference. Keys of `contracts` are tags and prefixes of operation ids in OpenAPI. */
export interface Resource {
  readonly title: string
  readonly contracts: Readonly<Record<string, Contract>>
  readonly documents: readonly {
    readonly title: string
    readonly document: Definition
    readonly create?: Endpoint["body"]
  }[]
}

/** Resources by the name of their page. */
export const tfeResources: Readonly<Record<string, Resource>> = {
  "agent-pools": {
    title: "Agent pools",
    contracts: { agentPools },
    documents: [
      {
        title: "agent pools",
        document: agentPool,
        create: agentPool.input,
      },
    ],
  },
  "assessment-results": {
    title: "Assessment results",
    contracts: { assessments },
    documents: [
      {
        title: "results",
        document: assessment,
        create: assessment.input,
      },
    ],
  },
  "bulk-actions": {
    title: "Bulk actions",
    contracts: { bulkActions },
    documents: [{ title: "bulk actions", document: bulkAction, create: bulkRequest }],
  },
  "configuration-versions": {
    title: "Configuration versions",
    contracts: { configurationVersions },
    documents: [
      { title: "configuration-versions", document: configurationVersion, create: configurationVersion.input },
      { title: "ingress-attributes", document: ingressAttributes },
      { title: "workspace-readme", document: readme },
    ],
  },
  events: { title: "Events", contracts: { events }, documents: [{ title: "events", document: event }] },
  openapi: { title: "OpenAPI document", contracts: { apiDescription }, documents: [] },
  "organization-memberships": {
    title: "Organization memberships",
    contracts: { organizationMemberships },
    documents: [
      {
        title: "memberships",
        document: organizationMembership,
        create: organizationMembership.input,
      },
    ],
  },
  organizations: {
    title: "Organizations",
    contracts: { organizations },
    documents: [
      { title: "organizations", document: organization, create: organization.input },
      { title: "entitlement sets", document: entitlementSet },
    ],
  },
  projects: {
    title: "Projects",
    contracts: { projects },
    documents: [{ title: "projects", document: project, create: project.input }],
  },
  "remote-state-consumers": { title: "Remote state consumers", contracts: { remoteStateConsumers }, documents: [] },
  "retention-policies": {
    title: "Data retention policies",
    contracts: { workspaceRetention, organizationRetention, siteRetention },
    documents: [{ title: "policies", document: retentionPolicy }],
  },
  "run-claims": {
    title: "Run claims",
    contracts: { runClaims },
    documents: [
      { title: "run-claims", document: runClaim, create: claimInput },
      { title: "execution-variables", document: executionVariable },
      { title: "execution-ssh-keys", document: executionSshKey },
      { title: "run-logs", document: logSize },
    ],
  },
  runs: {
    title: "Runs",
    contracts: { runs },
    documents: [
      { title: "runs", document: run, create: run.input },
      { title: "plans", document: plan },
      { title: "applies", document: apply },
      { title: "comments", document: comment, create: comment.input },
      { title: "run-events", document: runEvent },
      { title: "organization-capacity", document: runCapacity },
    ],
  },
  "site-settings": {
    title: "Site settings",
    contracts: { siteSettings: siteSettingsContract },
    documents: [{ title: "settings", document: siteSettings }],
  },
  "ssh-keys": {
    title: "SSH keys",
    contracts: { sshKeys },
    documents: [{ title: "SSH keys", document: sshKey, create: sshKey.input }],
  },
  "state-versions": {
    title: "State versions",
    contracts: { stateVersions },
    documents: [
      { title: "state-versions", document: stateVersion, create: stateVersionInput },
      { title: "state-version-outputs", document: stateVersionOutput },
      { title: "workspace-outputs", document: workspaceOutput },
      { title: "resources", document: workspaceResource },
    ],
  },
  tags: {
    title: "Tags",
    contracts: { tags },
    documents: [
      { title: "tags", document: tag },
      { title: "bindings", document: tagBinding },
      { title: "effective bindings", document: effectiveTagBinding },
    ],
  },
  "team-access": {
    title: "Team access",
    contracts: { teamWorkspaces, teamProjects },
    documents: [
      { title: "access to workspaces", document: teamWorkspace, create: teamWorkspace.input },
      { title: "access to projects", document: teamProject, create: teamProject.input },
    ],
  },
  teams: { title: "Teams", contracts: { teams }, documents: [{ title: "teams", document: team, create: team.input }] },
  "terraform-versions": {
    title: "Terraform versions",
    contracts: { terraformVersions },
    documents: [
      {
        title: "versions",
        document: terraformVersion,
        create: terraformVersion.input,
      },
    ],
  },
  tokens: {
    title: "Authentication tokens",
    contracts: { tokens },
    documents: [
      { title: "tokens", document: token, create: token.input },
      { title: "the answer that creates one", document: { ...createdToken, relationships: {} } },
    ],
  },
  users: {
    title: "Users",
    contracts: { users },
    documents: [
      { title: "users", document: user },
      { title: "the caller's account", document: account },
      { title: "users for site administrators", document: adminUser, create: adminUser.input },
    ],
  },
  variables: {
    title: "Variables",
    contracts: { variables },
    documents: [
      {
        title: "variables",
        document: variable,
        create: variable.input,
      },
    ],
  },
  "vcs-connections": {
    title: "VCS connections",
    contracts: { vcsConnections },
    documents: [
      { title: "OAuth clients", document: oauthClient, create: oauthClient.input },
      { title: "OAuth tokens", document: oauthToken },
      { title: "installations of GitHub apps", document: appInstallation, create: appInstallation.input },
    ],
  },
  webhooks: {
    title: "Webhooks",
    contracts: { webhooks },
    documents: [
      { title: "webhooks", document: webhook, create: webhook.input },
      { title: "undelivered events", document: deadLetter },
    ],
  },
  workspaces: {
    title: "Workspaces",
    contracts: { workspaces, namedWorkspaces },
    documents: [
      { title: "workspaces", document: workspace, create: workspace.input },
      { title: "locks in requests", document: lock },
    ],
  },
}
