// The engine over HTTP. Each family encodes requests and decodes answers with the codecs that the server uses in the other direction.
import type { Engine } from "../engine.ts"
import { remoteAcmeManagement } from "./acme-management.ts"
import {
  remoteAgentPools,
  remoteOrganizationMemberships,
  remoteOrganizations,
  remoteProjects,
  remoteSiteSettings,
  remoteSshKeys,
  remoteVcsConnections,
} from "./organizations.ts"
import {
  remoteAppRoleMethod,
  remoteAuthMethods,
  remoteCertificateLogins,
  remoteKubernetesLogins,
  remoteLockedUsers,
  remoteUserpassMethod,
} from "./logins.ts"
import {
  remoteAssessments,
  remoteConfigurationVersions,
  remoteRemoteStateConsumers,
  remoteRetentionPolicies,
  remoteTerraformVersions,
  remoteVariables,
  remoteWorkspaces,
} from "./workspaces.ts"
import { remoteBulkActions } from "./bulk-actions.ts"
import { remoteDiscovery } from "./discovery.ts"
import { remoteEvents, remoteWebhooks } from "./events.ts"
import { remoteLeases, remotePolicies, remoteServiceTokens, remoteTokenRoles } from "./access.ts"
import { remoteBlockedKeys, remoteMounts, remotePki } from "./pki.ts"
import { pkiCallsOver } from "./pki-calls.ts"
import { remoteCertificateInventory } from "./certificates.ts"
import { remoteRunClaims, remoteRuns } from "./runs.ts"
import { remoteStateVersions } from "./state-versions.ts"
import { remoteTags } from "./tags.ts"
import { remoteTeamProjects, remoteTeams, remoteTeamWorkspaces } from "./teams.ts"
import { remoteTokens, remoteUsers } from "./users.ts"
import { mountPathOf } from "../pki/mounts/mount.ts"
import { createTransport, type TransportOptions } from "./transport.ts"

/**
 * Opens a remote engine. `url` is the server's URL, with or without the version prefix. Nothing is sent before the first call. Throws
 * `unauthenticated` for a token that no header can contain, and `Error` for a URL with credentials, a query or a fragment.
 */
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
    lockedUsers: remoteLockedUsers(system),
    leases: remoteLeases(system),
    mounts: remoteMounts(system),
    certificateLogins: (methodPath) =>
      remoteCertificateLogins(pkiCallsOver(transport, `auth/${mountPathOf(methodPath)}`)),
    kubernetesLogins: (methodPath) =>
      remoteKubernetesLogins(pkiCallsOver(transport, `auth/${mountPathOf(methodPath)}`)),
    pki: (mountPath) => remotePki(transport, mountPath),
    userpass: (methodPath) => remoteUserpassMethod(transport, methodPath),
    appRoles: (methodPath) => remoteAppRoleMethod(transport, methodPath),
    acme: (mountPath) => remoteAcmeManagement(pkiCallsOver(transport, mountPath)),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
}
