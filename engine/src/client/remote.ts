// The engine over HTTP: each family turns its verbs into requests and the answers back into values, with the codecs that the
// server uses the other way round.
import type { Engine } from "../engine.ts"
import { remoteAcmeManagement } from "./acme-management.ts"
import { remoteAgentPools } from "./agent-pools.ts"
import { remoteAppRoleMethod } from "./app-roles.ts"
import { remoteAssessments } from "./assessments.ts"
import { remoteAuthMethods } from "./auth-methods.ts"
import { remoteBulkActions } from "./bulk-actions.ts"
import { remoteConfigurationVersions } from "./configuration-versions.ts"
import { remoteDiscovery } from "./discovery.ts"
import { remoteEvents } from "./events.ts"
import { remoteKubernetesLogins } from "./kubernetes-logins.ts"
import { remoteLeases } from "./leases.ts"
import { remoteMounts } from "./mounts.ts"
import { remoteOrganizationMemberships } from "./organization-memberships.ts"
import { remoteOrganizations } from "./organizations.ts"
import { pkiCallsOver } from "./pki-calls.ts"
import { remoteCertificateInventory } from "./certificate-inventory.ts"
import { remoteBlockedKeys } from "./blocked-keys.ts"
import { remotePolicies } from "./policies.ts"
import { remotePki } from "./pki.ts"
import { remoteProjects } from "./projects.ts"
import { remoteRemoteStateConsumers } from "./remote-state-consumers.ts"
import { remoteRetentionPolicies } from "./retention-policies.ts"
import { remoteRunClaims } from "./run-claims.ts"
import { remoteRuns } from "./runs.ts"
import { remoteServiceTokens } from "./service-tokens.ts"
import { remoteSiteSettings } from "./site-settings.ts"
import { remoteSshKeys } from "./ssh-keys.ts"
import { remoteStateVersions } from "./state-versions.ts"
import { remoteTags } from "./tags.ts"
import { remoteTeamProjects, remoteTeamWorkspaces } from "./team-access.ts"
import { remoteTeams } from "./teams.ts"
import { remoteTerraformVersions } from "./terraform-versions.ts"
import { remoteTokenRoles } from "./token-roles.ts"
import { remoteTokens } from "./tokens.ts"
import { mountPathOf } from "../pki/mount.ts"
import { createTransport, type TransportOptions } from "./transport.ts"
import { remoteUsers } from "./users.ts"
import { remoteVariables } from "./variables.ts"
import { remoteVcsConnections } from "./vcs-connections.ts"
import { remoteWebhooks } from "./webhooks.ts"
import { remoteWorkspaces } from "./workspaces.ts"

/** `url` is the server's address, with or without the version prefix. Nothing is sent before the first call. */
export function openRemote(url: string, options: TransportOptions): Engine {
  const transport = createTransport(url, options)
  const system = pkiCallsOver(transport)
  return {
    discovery: remoteDiscovery(transport),
    organizations: remoteOrganizations(transport),
    organizationMemberships: remoteOrganizationMemberships(transport),
    projects: remoteProjects(transport),
    users: remoteUsers(transport),
    teams: remoteTeams(transport),
    teamProjects: remoteTeamProjects(transport),
    teamWorkspaces: remoteTeamWorkspaces(transport),
    tokens: remoteTokens(transport),
    siteSettings: remoteSiteSettings(transport),
    terraformVersions: remoteTerraformVersions(transport),
    workspaces: remoteWorkspaces(transport, remoteTags(transport)),
    bulkActions: remoteBulkActions(transport),
    stateVersions: remoteStateVersions(transport),
    runs: remoteRuns(transport),
    configurationVersions: remoteConfigurationVersions(transport),
    runClaims: remoteRunClaims(transport),
    variables: remoteVariables(transport),
    events: remoteEvents(transport),
    webhooks: remoteWebhooks(transport),
    assessments: remoteAssessments(transport),
    vcsConnections: remoteVcsConnections(transport),
    tags: remoteTags(transport),
    remoteStateConsumers: remoteRemoteStateConsumers(transport),
    retentionPolicies: remoteRetentionPolicies(transport),
    sshKeys: remoteSshKeys(transport),
    agentPools: remoteAgentPools(transport),
    policies: remotePolicies(system),
    blockedKeys: remoteBlockedKeys(system),
    certificateInventory: remoteCertificateInventory(system),
    serviceTokens: remoteServiceTokens(system),
    tokenRoles: remoteTokenRoles(system),
    authMethods: remoteAuthMethods(system),
    leases: remoteLeases(system),
    mounts: remoteMounts(system),
    kubernetesLogins: (methodPath) =>
      remoteKubernetesLogins(pkiCallsOver(transport, `auth/${mountPathOf(methodPath)}`)),
    pki: (mountPath) => remotePki(transport, mountPath),
    appRoles: (methodPath) => remoteAppRoleMethod(transport, methodPath),
    acme: (mountPath) => remoteAcmeManagement(pkiCallsOver(transport, mountPath)),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
}
