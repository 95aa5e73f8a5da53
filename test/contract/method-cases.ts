// Calls every method as callers that must get nothing: a stranger gets not-found, and a revoked token is unauthenticated.
import { beforeAll, expect, test } from "vitest"
import { firstPage as page } from "../../engine/src/core/page.ts"
import type { Engine } from "../../engine/src/engine.ts"
import { inPieces } from "../../engine/src/workspaces/state/state-upload.ts"
import { cheapPasswordHash } from "../../engine/testing/cheap-password.ts"
import { type Users, newUsers } from "./users.ts"
import type { OpenedEngine } from "./engines.ts"
import { methodsOf } from "./methods.ts"
import {
  newArchive,
  newAssessment,
  newConfiguration,
  newOauthClient,
  newSshKey,
  newTerraformVersion,
  newVariable,
  newWebhook,
} from "./new-records.ts"
import { notFound, refused } from "./refusals.ts"
import { newClaimInput } from "./run-cases.ts"
import { newRunInput, newStateInput } from "./state-cases.ts"

export type Subject = Awaited<ReturnType<typeof newSubject>>
export type Call = (engine: Engine, subject: Subject) => Promise<unknown>

const parameters: ReadonlyMap<string, string> = new Map()
const octets = new Uint8Array([0, 1, 255])
const listNumbers = { crlNumber: 1, deltaCrlBaseNumber: -1, nextUpdateMs: 3_600_000 }

/** One call per method, which the owner of everything in `subject` may make. */
export const calls: Readonly<Record<string, Call>> = {
  "discovery.apiVersion": ({ discovery }) => discovery.apiVersion(),
  "organizations.create": ({ organizations }) => organizations.create({ name: "any", email: "any@example.com" }),
  "organizations.list": ({ organizations }) => organizations.list(undefined, page),
  "organizations.get": ({ organizations }, { organization }) => organizations.get(organization),
  "organizations.update": ({ organizations }, { organization }) => organizations.update(organization, {}),
  "organizations.delete": ({ organizations }, { organization }) => organizations.delete(organization),
  "organizationMemberships.create": ({ organizationMemberships }, { organization, username }) =>
    organizationMemberships.create(organization, { username }),
  "organizationMemberships.list": ({ organizationMemberships }, { organization }) =>
    organizationMemberships.list(organization, {}, page),
  "organizationMemberships.get": ({ organizationMemberships }, { membershipId }) =>
    organizationMemberships.get(membershipId),
  "organizationMemberships.delete": ({ organizationMemberships }, { membershipId }) =>
    organizationMemberships.delete(membershipId),
  "projects.create": ({ projects }, { organization }) => projects.create(organization, { name: "any" }),
  "projects.list": ({ projects }, { organization }) => projects.list(organization, {}, page),
  "projects.get": ({ projects }, { projectId }) => projects.get(projectId),
  "projects.update": ({ projects }, { projectId }) => projects.update(projectId, { description: "" }),
  "projects.delete": ({ projects }, { projectId }) => projects.delete(projectId),
  "users.get": ({ users }, { userId }) => users.get(userId),
  "users.account": ({ users }) => users.account(),
  "users.updateAccount": ({ users }) => users.updateAccount({}),
  "users.create": ({ users }) => users.create({ username: "any" }),
  "users.getAsAdministrator": ({ users }, { userId }) => users.getAsAdministrator(userId),
  "users.list": ({ users }) => users.list(undefined, page),
  "users.findByUsername": ({ users }, { username }) => users.findByUsername(username),
  "users.setSiteAdmin": ({ users }, { userId }) => users.setSiteAdmin(userId, true),
  "users.delete": ({ users }, { userId }) => users.delete(userId),
  "teams.create": ({ teams }, { organization }) => teams.create(organization, { name: "any" }),
  "teams.list": ({ teams }, { organization }) => teams.list(organization, {}, page),
  "teams.get": ({ teams }, { teamId }) => teams.get(teamId),
  "teams.members": ({ teams }, { teamId }) => teams.members(teamId),
  "teams.update": ({ teams }, { teamId }) => teams.update(teamId, {}),
  "teams.delete": ({ teams }, { teamId }) => teams.delete(teamId),
  "teams.addMembers": ({ teams }, { teamId, username }) => teams.addMembers(teamId, { usernames: [username] }),
  "teams.removeMembers": ({ teams }, { teamId, username }) => teams.removeMembers(teamId, { usernames: [username] }),
  "teamProjects.create": ({ teamProjects }, { teamId, projectId }) =>
    teamProjects.create({ teamId, projectId, access: "read" }),
  "teamProjects.list": ({ teamProjects }, { projectId }) => teamProjects.list(projectId, page),
  "teamProjects.get": ({ teamProjects }, { teamProjectId }) => teamProjects.get(teamProjectId),
  "teamProjects.update": ({ teamProjects }, { teamProjectId }) => teamProjects.update(teamProjectId, {}),
  "teamProjects.delete": ({ teamProjects }, { teamProjectId }) => teamProjects.delete(teamProjectId),
  "teamWorkspaces.create": ({ teamWorkspaces }, { teamId, workspaceId }) =>
    teamWorkspaces.create({ teamId, workspaceId, access: "read" }),
  "teamWorkspaces.list": ({ teamWorkspaces }, { workspaceId }) => teamWorkspaces.list(workspaceId, page),
  "teamWorkspaces.get": ({ teamWorkspaces }, { teamWorkspaceId }) => teamWorkspaces.get(teamWorkspaceId),
  "teamWorkspaces.update": ({ teamWorkspaces }, { teamWorkspaceId }) => teamWorkspaces.update(teamWorkspaceId, {}),
  "teamWorkspaces.delete": ({ teamWorkspaces }, { teamWorkspaceId }) => teamWorkspaces.delete(teamWorkspaceId),
  "tokens.createForUser": ({ tokens }, { userId }) => tokens.createForUser(userId, {}),
  "tokens.listForUser": ({ tokens }, { userId }) => tokens.listForUser(userId, page),
  "tokens.createForOrganization": ({ tokens }, { organization }) => tokens.createForOrganization(organization, {}),
  "tokens.getForOrganization": ({ tokens }, { organization }) => tokens.getForOrganization(organization),
  "tokens.deleteForOrganization": ({ tokens }, { organization }) => tokens.deleteForOrganization(organization),
  "tokens.createForTeam": ({ tokens }, { teamId }) => tokens.createForTeam(teamId, {}),
  "tokens.getForTeam": ({ tokens }, { teamId }) => tokens.getForTeam(teamId),
  "tokens.deleteForTeam": ({ tokens }, { teamId }) => tokens.deleteForTeam(teamId),
  "tokens.addForTeam": ({ tokens }, { teamId }) => tokens.addForTeam(teamId, { description: "any" }),
  "tokens.listForTeams": ({ tokens }, { organization }) => tokens.listForTeams(organization, {}, page),
  "tokens.listForTeam": ({ tokens }, { teamId }) => tokens.listForTeam(teamId, page),
  "tokens.createForAgentPool": ({ tokens }, { agentPoolId }) =>
    tokens.createForAgentPool(agentPoolId, { description: "agent" }),
  "tokens.listForAgentPool": ({ tokens }, { agentPoolId }) => tokens.listForAgentPool(agentPoolId, page),
  "tokens.get": ({ tokens }, { tokenId }) => tokens.get(tokenId),
  "tokens.delete": ({ tokens }, { tokenId }) => tokens.delete(tokenId),
  "siteSettings.get": ({ siteSettings }) => siteSettings.get(),
  "siteSettings.update": ({ siteSettings }) => siteSettings.update({}),
  "terraformVersions.create": ({ terraformVersions }) =>
    terraformVersions.create({ ...newTerraformVersion, version: "0.99.0" }),
  "terraformVersions.list": ({ terraformVersions }) => terraformVersions.list({}, page),
  "terraformVersions.get": ({ terraformVersions }, { terraformVersionId }) => terraformVersions.get(terraformVersionId),
  "terraformVersions.update": ({ terraformVersions }, { terraformVersionId }) =>
    terraformVersions.update(terraformVersionId, { beta: true }),
  "terraformVersions.delete": ({ terraformVersions }, { terraformVersionId }) =>
    terraformVersions.delete(terraformVersionId),
  "workspaces.create": ({ workspaces }, { organization }) => workspaces.create(organization, { name: "any" }),
  "workspaces.list": ({ workspaces }, { organization }) => workspaces.list(organization, {}, page),
  "workspaces.get": ({ workspaces }, { workspace }) => workspaces.get(workspace),
  "workspaces.update": ({ workspaces }, { workspace }) => workspaces.update(workspace, {}),
  "bulkActions.run": ({ bulkActions }, { organization }) =>
    bulkActions.run(organization, { action: { kind: "unlock" }, all: true, dryRun: true }),
  "workspaces.safeDelete": ({ workspaces }, { workspace }) => workspaces.safeDelete(workspace),
  "workspaces.forceDelete": ({ workspaces }, { workspace }) => workspaces.forceDelete(workspace),
  "workspaces.assignSshKey": ({ workspaces }, { workspace }) => workspaces.assignSshKey(workspace, null),
  "workspaces.lock": ({ workspaces }, { workspace }) => workspaces.lock(workspace, { reason: "" }),
  "workspaces.extendLock": ({ workspaces }, { workspace }) => workspaces.extendLock(workspace, { ttlMs: 1_000 }),
  "workspaces.unlock": ({ workspaces }, { workspace }) => workspaces.unlock(workspace),
  "workspaces.forceUnlock": ({ workspaces }, { workspace }) => workspaces.forceUnlock(workspace),
  "workspaces.moveToProject": ({ workspaces }, { projectId, workspaceId }) =>
    workspaces.moveToProject(projectId, [workspaceId]),
  "stateVersions.create": ({ stateVersions }, { workspace }) => stateVersions.create(workspace, newStateInput(2)),
  "stateVersions.get": ({ stateVersions }, { stateVersionId }) => stateVersions.get(stateVersionId),
  "stateVersions.current": ({ stateVersions }, { workspace }) => stateVersions.current(workspace),
  "stateVersions.list": ({ stateVersions }, { workspace }) => stateVersions.list(workspace, {}, page),
  "stateVersions.upload": ({ stateVersions }, { stateVersionId }) =>
    stateVersions.upload(stateVersionId, "json-state", inPieces(Buffer.from("{}"))),
  "stateVersions.rollback": ({ stateVersions }, { workspace, stateVersionId }) =>
    stateVersions.rollback(workspace, stateVersionId),
  "stateVersions.softDeleteBackingData": ({ stateVersions }, { stateVersionId }) =>
    stateVersions.softDeleteBackingData(stateVersionId),
  "stateVersions.restoreBackingData": ({ stateVersions }, { stateVersionId }) =>
    stateVersions.restoreBackingData(stateVersionId),
  "stateVersions.permanentlyDeleteBackingData": ({ stateVersions }, { stateVersionId }) =>
    stateVersions.permanentlyDeleteBackingData(stateVersionId),
  "stateVersions.resources": ({ stateVersions }, { workspace }) => stateVersions.resources(workspace, page),
  "stateVersions.download": ({ stateVersions }, { stateVersionId }) => stateVersions.download(stateVersionId, "state"),
  "stateVersions.outputs": ({ stateVersions }, { stateVersionId }) => stateVersions.outputs(stateVersionId, page),
  "stateVersions.currentOutputs": ({ stateVersions }, { workspace }) => stateVersions.currentOutputs(workspace),
  "stateVersions.output": ({ stateVersions }, { outputId }) => stateVersions.output(outputId),
  "runs.create": ({ runs }, { workspace }) => runs.create(workspace, newRunInput()),
  "runs.get": ({ runs }, { runId }) => runs.get(runId),
  "runs.getByPlan": ({ runs }, { planId }) => runs.getByPlan(planId),
  "runs.getByApply": ({ runs }, { applyId }) => runs.getByApply(applyId),
  "runs.planJson": ({ runs }, { planId }) => runs.planJson(planId),
  "runs.redactedPlanJson": ({ runs }, { planId }) => runs.redactedPlanJson(planId),
  "runs.list": ({ runs }, { workspace }) => runs.list(workspace, {}, page),
  "runs.listForOrganization": ({ runs }, { organization }) => runs.listForOrganization(organization, {}, page),
  "runs.queue": ({ runs }, { organization }) => runs.queue(organization, page),
  "runs.capacity": ({ runs }, { organization }) => runs.capacity(organization),
  "runs.apply": ({ runs }, { runId }) => runs.apply(runId),
  "runs.discard": ({ runs }, { runId }) => runs.discard(runId),
  "runs.cancel": ({ runs }, { runId }) => runs.cancel(runId),
  "runs.forceCancel": ({ runs }, { runId }) => runs.forceCancel(runId),
  "runs.forceExecute": ({ runs }, { runId }) => runs.forceExecute(runId),
  "runs.addComment": ({ runs }, { runId }) => runs.addComment(runId, "any"),
  "runs.comments": ({ runs }, { runId }) => runs.comments(runId, page),
  "runs.comment": ({ runs }, { commentId }) => runs.comment(commentId),
  "runs.events": ({ runs }, { runId }) => runs.events(runId),
  "runs.event": ({ runs }, { runEventId }) => runs.event(runEventId),
  "runClaims.claim": ({ runClaims }, { workspace }) =>
    runClaims.claim({ kind: "workspace", ref: workspace }, newClaimInput),
  "runClaims.get": ({ runClaims }, { claimId }) => runClaims.get(claimId),
  "runClaims.heartbeat": ({ runClaims }, { claimId }) => runClaims.heartbeat(claimId),
  "runClaims.report": ({ runClaims }, { claimId }) =>
    runClaims.report(claimId, { status: "planning", hasChanges: null }),
  "runClaims.createToken": ({ runClaims }, { claimId }) => runClaims.createToken(claimId),
  "runClaims.release": ({ runClaims }, { claimId }) => runClaims.release(claimId),
  "runClaims.appendLog": ({ runClaims }, { claimId }) => runClaims.appendLog(claimId, "plan", 0, octets),
  "runClaims.saveDocument": ({ runClaims }, { claimId }) => runClaims.saveDocument(claimId, "plan-file", octets),
  "runClaims.document": ({ runClaims }, { claimId }) => runClaims.document(claimId, "plan-file"),
  "runClaims.variables": ({ runClaims }, { claimId }) => runClaims.variables(claimId),
  "runClaims.configuration": ({ runClaims }, { claimId }) => runClaims.configuration(claimId),
  "runClaims.sshKey": ({ runClaims }, { claimId }) => runClaims.sshKey(claimId),
  "runClaims.state": ({ runClaims }, { claimId }) => runClaims.state(claimId),
  "runClaims.createState": ({ runClaims }, { claimId }) => runClaims.createState(claimId, newStateInput(2)),
  "runs.advance": ({ runs }, { runId }) => runs.advance(runId, { status: "planning", hasChanges: null }),
  "configurationVersions.create": ({ configurationVersions }, { workspace }) =>
    configurationVersions.create(workspace, newConfiguration),
  "configurationVersions.get": ({ configurationVersions }, { configurationId }) =>
    configurationVersions.get(configurationId),
  "configurationVersions.list": ({ configurationVersions }, { workspace }) =>
    configurationVersions.list(workspace, page),
  "configurationVersions.upload": ({ configurationVersions }, { configurationId }) =>
    configurationVersions.upload(configurationId, newArchive),
  "configurationVersions.download": ({ configurationVersions }, { configurationId }) =>
    configurationVersions.download(configurationId),
  "configurationVersions.archive": ({ configurationVersions }, { configurationId }) =>
    configurationVersions.archive(configurationId),
  "configurationVersions.softDeleteBackingData": ({ configurationVersions }, { configurationId }) =>
    configurationVersions.softDeleteBackingData(configurationId),
  "configurationVersions.restoreBackingData": ({ configurationVersions }, { configurationId }) =>
    configurationVersions.restoreBackingData(configurationId),
  "configurationVersions.permanentlyDeleteBackingData": ({ configurationVersions }, { configurationId }) =>
    configurationVersions.permanentlyDeleteBackingData(configurationId),
  "configurationVersions.delete": ({ configurationVersions }, { configurationId }) =>
    configurationVersions.delete(configurationId),
  "configurationVersions.ingressAttributes": ({ configurationVersions }, { configurationId }) =>
    configurationVersions.ingressAttributes(configurationId),
  "configurationVersions.readme": ({ configurationVersions }, { workspace }) => configurationVersions.readme(workspace),
  "variables.create": ({ variables }, { workspace }) => variables.create(workspace, { ...newVariable, key: "other" }),
  "variables.get": ({ variables }, { workspace, variableId }) => variables.get(workspace, variableId),
  "variables.findById": ({ variables }, { variableId }) => variables.findById(variableId),
  "variables.list": ({ variables }, { workspace }) => variables.list(workspace),
  "variables.update": ({ variables }, { workspace, variableId }) => variables.update(workspace, variableId, {}),
  "variables.delete": ({ variables }, { workspace, variableId }) => variables.delete(workspace, variableId),
  "events.list": ({ events }, { organization }) => events.list(organization, {}),
  "events.follow": ({ events }, { organization }) => events.follow(organization, {}),
  "assessments.create": ({ assessments }, { workspace }) => assessments.create(workspace, newAssessment),
  "assessments.get": ({ assessments }, { assessmentId }) => assessments.get(assessmentId),
  "assessments.list": ({ assessments }, { workspace }) => assessments.list(workspace, page),
  "assessments.delete": ({ assessments }, { assessmentId }) => assessments.delete(assessmentId),
  "vcsConnections.createClient": ({ vcsConnections }, { organization }) =>
    vcsConnections.createClient(organization, newOauthClient),
  "vcsConnections.getClient": ({ vcsConnections }, { clientId }) => vcsConnections.getClient(clientId),
  "vcsConnections.listClients": ({ vcsConnections }, { organization }) =>
    vcsConnections.listClients(organization, page),
  "vcsConnections.updateClient": ({ vcsConnections }, { clientId }) => vcsConnections.updateClient(clientId, {}),
  "vcsConnections.deleteClient": ({ vcsConnections }, { clientId }) => vcsConnections.deleteClient(clientId),
  "vcsConnections.addProjects": ({ vcsConnections }, { clientId, projectId }) =>
    vcsConnections.addProjects(clientId, [projectId]),
  "vcsConnections.removeProjects": ({ vcsConnections }, { clientId, projectId }) =>
    vcsConnections.removeProjects(clientId, [projectId]),
  "vcsConnections.getToken": ({ vcsConnections }, { oauthTokenId }) => vcsConnections.getToken(oauthTokenId),
  "vcsConnections.listTokens": ({ vcsConnections }, { organization }) => vcsConnections.listTokens(organization, page),
  "vcsConnections.updateToken": ({ vcsConnections }, { oauthTokenId }) => vcsConnections.updateToken(oauthTokenId, {}),
  "vcsConnections.deleteToken": ({ vcsConnections }, { oauthTokenId }) => vcsConnections.deleteToken(oauthTokenId),
  "vcsConnections.createInstallation": ({ vcsConnections }, { organization }) =>
    vcsConnections.createInstallation(organization, { name: "other", installationId: 2 }),
  "vcsConnections.getInstallation": ({ vcsConnections }, { installationId }) =>
    vcsConnections.getInstallation(installationId),
  "vcsConnections.listInstallations": ({ vcsConnections }, { organization }) =>
    vcsConnections.listInstallations(organization, page),
  "vcsConnections.listAvailableInstallations": ({ vcsConnections }) =>
    vcsConnections.listAvailableInstallations({}, page),
  "vcsConnections.deleteInstallation": ({ vcsConnections }, { installationId }) =>
    vcsConnections.deleteInstallation(installationId),
  "tags.list": ({ tags }, { organization }) => tags.list(organization, {}, page),
  "tags.create": ({ tags }, { organization }) => tags.create(organization, ["any"]),
  "tags.delete": ({ tags }, { organization, tagId }) => tags.delete(organization, [tagId]),
  "tags.apply": ({ tags }, { tagId, workspaceId }) => tags.apply(tagId, [workspaceId]),
  "tags.ofWorkspace": ({ tags }, { workspaceId }) => tags.ofWorkspace(workspaceId, page),
  "tags.add": ({ tags }, { workspaceId }) => tags.add(workspaceId, [{ name: "any" }]),
  "tags.remove": ({ tags }, { workspaceId }) => tags.remove(workspaceId, [{ name: "any" }]),
  "tags.bindings": ({ tags }, { workspaceId }) => tags.bindings(workspaceId),
  "tags.effectiveBindings": ({ tags }, { workspaceId }) => tags.effectiveBindings(workspaceId),
  "tags.bind": ({ tags }, { workspaceId }) => tags.bind(workspaceId, []),
  "tags.projectBindings": ({ tags }, { projectId }) => tags.projectBindings(projectId),
  "tags.bindProject": ({ tags }, { projectId }) => tags.bindProject(projectId, []),
  "remoteStateConsumers.list": ({ remoteStateConsumers }, { workspaceId }) =>
    remoteStateConsumers.list(workspaceId, page),
  "remoteStateConsumers.replace": ({ remoteStateConsumers }, { workspaceId }) =>
    remoteStateConsumers.replace(workspaceId, []),
  "remoteStateConsumers.add": ({ remoteStateConsumers }, { workspaceId }) => remoteStateConsumers.add(workspaceId, []),
  "remoteStateConsumers.remove": ({ remoteStateConsumers }, { workspaceId }) =>
    remoteStateConsumers.remove(workspaceId, []),
  "retentionPolicies.get": ({ retentionPolicies }, { workspaceId: id }) =>
    retentionPolicies.get({ kind: "workspace", id }),
  "retentionPolicies.set": ({ retentionPolicies }, { organization: name }) =>
    retentionPolicies.set({ kind: "organization", name }, { kind: "dont-delete" }),
  "retentionPolicies.delete": ({ retentionPolicies }) => retentionPolicies.delete({ kind: "site" }),
  "webhooks.create": ({ webhooks }, { organization }) =>
    webhooks.create(organization, { ...newWebhook, name: "other" }),
  "webhooks.list": ({ webhooks }, { organization }) => webhooks.list(organization, page),
  "webhooks.get": ({ webhooks }, { organization, webhookId }) => webhooks.get(organization, webhookId),
  "webhooks.update": ({ webhooks }, { organization, webhookId }) => webhooks.update(organization, webhookId, {}),
  "webhooks.delete": ({ webhooks }, { organization, webhookId }) => webhooks.delete(organization, webhookId),
  "webhooks.deadLetters": ({ webhooks }, { organization, webhookId }) =>
    webhooks.deadLetters(organization, webhookId, page),
  "webhooks.redeliver": ({ webhooks }, { organization, webhookId }) =>
    webhooks.redeliver(organization, webhookId, "whd-any"),
  "webhooks.deleteDeadLetter": ({ webhooks }, { organization, webhookId }) =>
    webhooks.deleteDeadLetter(organization, webhookId, "whd-any"),
  "sshKeys.create": ({ sshKeys }, { organization }) => sshKeys.create(organization, { ...newSshKey, name: "other" }),
  "sshKeys.list": ({ sshKeys }, { organization }) => sshKeys.list(organization, page),
  "sshKeys.get": ({ sshKeys }, { sshKeyId }) => sshKeys.get(sshKeyId),
  "sshKeys.update": ({ sshKeys }, { sshKeyId }) => sshKeys.update(sshKeyId, {}),
  "sshKeys.delete": ({ sshKeys }, { sshKeyId }) => sshKeys.delete(sshKeyId),
  "agentPools.create": ({ agentPools }, { organization }) => agentPools.create(organization, { name: "other" }),
  "agentPools.list": ({ agentPools }, { organization }) => agentPools.list(organization, {}, page),
  "agentPools.get": ({ agentPools }, { agentPoolId }) => agentPools.get(agentPoolId),
  "agentPools.update": ({ agentPools }, { agentPoolId }) => agentPools.update(agentPoolId, {}),
  "agentPools.delete": ({ agentPools }, { agentPoolId }) => agentPools.delete(agentPoolId),
  "policies.list": ({ policies }) => policies.list(),
  "policies.get": ({ policies }) => policies.get("default"),
  "policies.put": ({ policies }) => policies.put("contract-any", "#"),
  "policies.delete": ({ policies }) => policies.delete("contract-any"),
  "policies.attached": ({ policies }, { username }) => policies.attached({ kind: "user", username }),
  "policies.attach": ({ policies }, { username }) => policies.attach("default", { kind: "user", username }),
  "policies.detach": ({ policies }, { username }) => policies.detach("default", { kind: "user", username }),
  "blockedKeys.list": ({ blockedKeys }) => blockedKeys.list(),
  "blockedKeys.get": ({ blockedKeys }) => blockedKeys.get("a".repeat(64)),
  "blockedKeys.add": ({ blockedKeys }) => blockedKeys.add({ spkiSha256: "b".repeat(64) }),
  "blockedKeys.delete": ({ blockedKeys }) => blockedKeys.delete("b".repeat(64)),
  "certificateInventory.search": ({ certificateInventory }, { mountPath }) =>
    certificateInventory.search({ mounts: [mountPath] }),
  "serviceTokens.create": ({ serviceTokens }) => serviceTokens.create({}),
  "serviceTokens.createOrphan": ({ serviceTokens }) => serviceTokens.createOrphan({}),
  "serviceTokens.createByRole": ({ serviceTokens }) => serviceTokens.createByRole("any", {}),
  "tokenRoles.list": ({ tokenRoles }) => tokenRoles.list(),
  "tokenRoles.get": ({ tokenRoles }) => tokenRoles.get("any"),
  "tokenRoles.save": ({ tokenRoles }) => tokenRoles.save("any", {}),
  "tokenRoles.delete": ({ tokenRoles }) => tokenRoles.delete("any"),
  "serviceTokens.lookup": ({ serviceTokens }) => serviceTokens.lookup("self"),
  "serviceTokens.list": ({ serviceTokens }) => serviceTokens.list(),
  "serviceTokens.renew": ({ serviceTokens }) => serviceTokens.renew("self"),
  "serviceTokens.revoke": ({ serviceTokens }) => serviceTokens.revoke({ accessor: "at-any" }),
  "serviceTokens.revokeOrphan": ({ serviceTokens }) => serviceTokens.revokeOrphan("any"),
  "serviceTokens.capabilities": ({ serviceTokens }) => serviceTokens.capabilities("self", ["any"]),
  "authMethods.enable": ({ authMethods }) => authMethods.enable({ path: "contract-any", type: "approle" }),
  "authMethods.list": ({ authMethods }) => authMethods.list(),
  "authMethods.get": ({ authMethods }) => authMethods.get("token"),
  "authMethods.tune": ({ authMethods }) => authMethods.tune("contract-any", {}),
  "authMethods.disable": ({ authMethods }) => authMethods.disable("contract-any"),
  "appRoles.roles.list": ({ appRoles }, { methodPath }) => appRoles(methodPath).roles.list(),
  "appRoles.roles.get": ({ appRoles }, { methodPath }) => appRoles(methodPath).roles.get("web"),
  "appRoles.roles.save": ({ appRoles }, { methodPath }) => appRoles(methodPath).roles.save("web", {}),
  "appRoles.roles.getPart": ({ appRoles }, { methodPath }) => appRoles(methodPath).roles.getPart("web", "policies"),
  "appRoles.roles.changePart": ({ appRoles }, { methodPath }) =>
    appRoles(methodPath).roles.changePart("web", "policies", { terms: { policies: [] } }),
  "appRoles.roles.resetPart": ({ appRoles }, { methodPath }) => appRoles(methodPath).roles.resetPart("web", "policies"),
  "appRoles.roles.getRoleId": ({ appRoles }, { methodPath }) => appRoles(methodPath).roles.getRoleId("web"),
  "appRoles.secretIds.create": ({ appRoles }, { methodPath }) => appRoles(methodPath).secretIds.create("web", {}),
  "appRoles.secretIds.list": ({ appRoles }, { methodPath }) => appRoles(methodPath).secretIds.list("web"),
  "appRoles.secretIds.get": ({ appRoles }, { methodPath }) =>
    appRoles(methodPath).secretIds.get("web", { accessor: "any" }),
  "appRoles.secretIds.tidy": ({ appRoles }, { methodPath }) => appRoles(methodPath).secretIds.tidy(),
  "appRoles.logins.logIn": ({ appRoles }, { methodPath }) =>
    appRoles(methodPath).logins.logIn({ roleId: "web", secretId: "chosen" }),
  "appRoles.secretIds.destroy": ({ appRoles }, { methodPath }) =>
    appRoles(methodPath).secretIds.destroy("web", { secretId: "any" }),
  "appRoles.roles.changeRoleId": ({ appRoles }, { methodPath }) =>
    appRoles(methodPath).roles.changeRoleId("web", "web"),
  "appRoles.roles.delete": ({ appRoles }, { methodPath }) => appRoles(methodPath).roles.delete("web"),
  "mounts.create": ({ mounts }) => mounts.create({ path: "contract-any" }),
  "leases.lookup": ({ leases }) => leases.lookup("any"),
  "leases.list": ({ leases }) => leases.list("any"),
  "leases.revoke": ({ leases }) => leases.revoke("any"),
  "leases.revokePrefix": ({ leases }) => leases.revokePrefix("any"),
  "mounts.list": ({ mounts }) => mounts.list(),
  "mounts.get": ({ mounts }, { mountPath }) => mounts.get(mountPath),
  "mounts.tune": ({ mounts }, { mountPath }) => mounts.tune(mountPath, {}),
  "mounts.delete": ({ mounts }, { mountPath }) => mounts.delete(mountPath),
  "mounts.moved": ({ mounts }) => mounts.moved("any"),
  "mounts.move": ({ mounts }, { mountPath }) => mounts.move(mountPath, "contract-any"),
  "pki.issuers.generateRoot": ({ pki }, { mountPath }) =>
    pki(mountPath).issuers.generateRoot({ commonName: "any", keyType: "ec" }),
  "pki.issuers.generateIntermediate": ({ pki }, { mountPath }) =>
    pki(mountPath).issuers.generateIntermediate({ commonName: "any", keyType: "ec" }),
  "pki.issuers.import": ({ pki }, { mountPath }) => pki(mountPath).issuers.import("any"),
  "pki.issuers.list": ({ pki }, { mountPath }) => pki(mountPath).issuers.list(),
  "pki.issuers.certificate": ({ pki }, { mountPath }) => pki(mountPath).issuers.certificate("default"),
  "pki.issuers.get": ({ pki }, { mountPath }) => pki(mountPath).issuers.get("default"),
  "pki.issuers.replace": ({ pki }, { mountPath }) => pki(mountPath).issuers.replace("default", {}),
  "pki.issuers.update": ({ pki }, { mountPath }) => pki(mountPath).issuers.update("default", {}),
  "pki.issuers.revoke": ({ pki }, { mountPath }) => pki(mountPath).issuers.revoke("default"),
  "pki.issuers.delete": ({ pki }, { mountPath }) => pki(mountPath).issuers.delete("default"),
  "pki.issuers.deleteAll": ({ pki }, { mountPath }) => pki(mountPath).issuers.deleteAll(),
  "pki.keys.list": ({ pki }, { mountPath }) => pki(mountPath).keys.list(),
  "pki.keys.get": ({ pki }, { mountPath }) => pki(mountPath).keys.get("default"),
  "pki.keys.generate": ({ pki }, { mountPath }) => pki(mountPath).keys.generate({ keyType: "ec" }),
  "pki.keys.import": ({ pki }, { mountPath }) => pki(mountPath).keys.import("any"),
  "pki.keys.rename": ({ pki }, { mountPath }) => pki(mountPath).keys.rename("default", "any"),
  "pki.keys.delete": ({ pki }, { mountPath }) => pki(mountPath).keys.delete("default"),
  "pki.settings.issuers": ({ pki }, { mountPath }) => pki(mountPath).settings.issuers(),
  "pki.settings.changeIssuers": ({ pki }, { mountPath }) => pki(mountPath).settings.changeIssuers({}),
  "pki.settings.replaceRoot": ({ pki }, { mountPath }) => pki(mountPath).settings.replaceRoot(),
  "pki.settings.keys": ({ pki }, { mountPath }) => pki(mountPath).settings.keys(),
  "pki.settings.changeKeys": ({ pki }, { mountPath }) => pki(mountPath).settings.changeKeys({}),
  "pki.settings.urls": ({ pki }, { mountPath }) => pki(mountPath).settings.urls(),
  "pki.settings.changeUrls": ({ pki }, { mountPath }) => pki(mountPath).settings.changeUrls({}),
  "pki.settings.cluster": ({ pki }, { mountPath }) => pki(mountPath).settings.cluster(),
  "pki.settings.changeCluster": ({ pki }, { mountPath }) => pki(mountPath).settings.changeCluster({}),
  "pki.settings.acme": ({ pki }, { mountPath }) => pki(mountPath).settings.acme(),
  "pki.settings.est": ({ pki }, { mountPath }) => pki(mountPath).settings.est(),
  "pki.settings.changeEst": ({ pki }, { mountPath }) => pki(mountPath).settings.changeEst({}),
  "pki.settings.changeAcme": ({ pki }, { mountPath }) => pki(mountPath).settings.changeAcme({}),
  "acme.eab.create": ({ acme }, { mountPath }) => acme(mountPath).eab.create({}),
  "acme.eab.list": ({ acme }, { mountPath }) => acme(mountPath).eab.list(),
  "acme.eab.delete": ({ acme }, { mountPath }) => acme(mountPath).eab.delete("any"),
  "acme.accounts.list": ({ acme }, { mountPath }) => acme(mountPath).accounts.list(),
  "acme.accounts.get": ({ acme }, { mountPath }) => acme(mountPath).accounts.get("any"),
  "acme.accounts.changeStatus": ({ acme }, { mountPath }) => acme(mountPath).accounts.changeStatus("any", "revoked"),
  "acme.accounts.delete": ({ acme }, { mountPath }) => acme(mountPath).accounts.delete("any"),
  "acme.orders.list": ({ acme }, { mountPath }) => acme(mountPath).orders.list(),
  "acme.orders.get": ({ acme }, { mountPath }) => acme(mountPath).orders.get("any"),
  "acme.orders.delete": ({ acme }, { mountPath }) => acme(mountPath).orders.delete("any"),
  "acme.renewals.raise": ({ acme }, { mountPath }) => acme(mountPath).renewals.raise({ issuerRef: "default" }),
  "acme.renewals.list": ({ acme }, { mountPath }) => acme(mountPath).renewals.list(),
  "acme.renewals.get": ({ acme }, { mountPath }) => acme(mountPath).renewals.get("any"),
  "acme.renewals.withdraw": ({ acme }, { mountPath }) => acme(mountPath).renewals.withdraw("any"),
  "userpass.users.list": ({ userpass }, { userpassPath }) => userpass(userpassPath).users.list(),
  "userpass.users.get": ({ userpass }, { userpassPath }) => userpass(userpassPath).users.get("web"),
  "userpass.users.save": ({ userpass }, { userpassPath }) => userpass(userpassPath).users.save("web", {}),
  "userpass.users.changePassword": ({ userpass }, { userpassPath }) =>
    userpass(userpassPath).users.changePassword("web", { passwordHash: cheapPasswordHash }),
  "userpass.users.changePolicies": ({ userpass }, { userpassPath }) =>
    userpass(userpassPath).users.changePolicies("web", []),
  "userpass.logins.logIn": ({ userpass }, { userpassPath }) =>
    userpass(userpassPath).logins.logIn({ name: "web", password: "password" }),
  "userpass.users.delete": ({ userpass }, { userpassPath }) => userpass(userpassPath).users.delete("web"),
  "lockedUsers.list": ({ lockedUsers }) => lockedUsers.list(),
  "lockedUsers.unlock": ({ lockedUsers }, { userpassAccessor }) => lockedUsers.unlock(userpassAccessor, "web"),
  "certificateLogins.getConfig": ({ certificateLogins }, { certificatePath }) =>
    certificateLogins(certificatePath).getConfig(),
  "certificateLogins.configure": ({ certificateLogins }, { certificatePath }) =>
    certificateLogins(certificatePath).configure({}),
  "certificateLogins.listRoles": ({ certificateLogins }, { certificatePath }) =>
    certificateLogins(certificatePath).listRoles(),
  "certificateLogins.getRole": ({ certificateLogins }, { certificatePath }) =>
    certificateLogins(certificatePath).getRole("web"),
  "certificateLogins.saveRole": ({ certificateLogins }, { certificatePath }) =>
    certificateLogins(certificatePath).saveRole("web", {}),
  "certificateLogins.deleteRole": ({ certificateLogins }, { certificatePath }) =>
    certificateLogins(certificatePath).deleteRole("web"),
  "certificateLogins.listRevocationLists": ({ certificateLogins }, { certificatePath }) =>
    certificateLogins(certificatePath).listRevocationLists(),
  "certificateLogins.getRevocationList": ({ certificateLogins }, { certificatePath }) =>
    certificateLogins(certificatePath).getRevocationList("any"),
  "certificateLogins.saveRevocationList": ({ certificateLogins }, { certificatePath }) =>
    certificateLogins(certificatePath).saveRevocationList("any", { url: "http://h" }),
  "certificateLogins.deleteRevocationList": ({ certificateLogins }, { certificatePath }) =>
    certificateLogins(certificatePath).deleteRevocationList("any"),
  "certificateLogins.login": ({ certificateLogins }, { certificatePath }) =>
    certificateLogins(certificatePath).login({ name: "web" }),
  "kubernetesLogins.getConfig": ({ kubernetesLogins }, { kubernetesPath }) =>
    kubernetesLogins(kubernetesPath).getConfig(),
  "kubernetesLogins.configure": ({ kubernetesLogins }, { kubernetesPath }) =>
    kubernetesLogins(kubernetesPath).configure({ kubernetesHost: "https://h" }),
  "kubernetesLogins.listRoles": ({ kubernetesLogins }, { kubernetesPath }) =>
    kubernetesLogins(kubernetesPath).listRoles(),
  "kubernetesLogins.getRole": ({ kubernetesLogins }, { kubernetesPath }) =>
    kubernetesLogins(kubernetesPath).getRole("web"),
  "kubernetesLogins.saveRole": ({ kubernetesLogins }, { kubernetesPath }) =>
    kubernetesLogins(kubernetesPath).saveRole("web", {}),
  "kubernetesLogins.deleteRole": ({ kubernetesLogins }, { kubernetesPath }) =>
    kubernetesLogins(kubernetesPath).deleteRole("web"),
  "kubernetesLogins.login": ({ kubernetesLogins }, { kubernetesPath }) =>
    kubernetesLogins(kubernetesPath).login({ role: "web", jwt: "any" }),
  "pki.roles.list": ({ pki }, { mountPath }) => pki(mountPath).roles.list(),
  "pki.roles.get": ({ pki }, { mountPath }) => pki(mountPath).roles.get("web"),
  "pki.roles.save": ({ pki }, { mountPath }) => pki(mountPath).roles.save("web", {}),
  "pki.roles.update": ({ pki }, { mountPath }) => pki(mountPath).roles.update("web", {}),
  "pki.roles.delete": ({ pki }, { mountPath }) => pki(mountPath).roles.delete("web"),
  "pki.certificates.get": ({ pki }, { mountPath }) => pki(mountPath).certificates.get("0a"),
  "pki.certificates.caChain": ({ pki }, { mountPath }) => pki(mountPath).certificates.caChain(),
  "pki.certificates.list": ({ pki }, { mountPath }) => pki(mountPath).certificates.list(),
  "pki.certificates.listDetails": ({ pki }, { mountPath }) => pki(mountPath).certificates.listDetails(),
  "pki.certificates.listMetadata": ({ pki }, { mountPath }) => pki(mountPath).certificates.listMetadata(),
  "pki.certificates.search": ({ pki }, { mountPath }) => pki(mountPath).certificates.search({}),
  "pki.certificates.metadata": ({ pki }, { mountPath }) => pki(mountPath).certificates.metadata("0a"),
  "pki.certificates.issue": ({ pki }, { mountPath }) => pki(mountPath).certificates.issue("web", {}),
  "pki.certificates.sign": ({ pki }, { mountPath }) =>
    pki(mountPath).certificates.sign("web", { csr: "any", commonName: "any" }),
  "pki.certificates.signVerbatim": ({ pki }, { mountPath }) =>
    pki(mountPath).certificates.signVerbatim(undefined, { csr: "any" }),
  "pki.certificates.signIntermediate": ({ pki }, { mountPath }) =>
    pki(mountPath).certificates.signIntermediate({ csr: "any", commonName: "any" }),
  "pki.certificates.signSelfIssued": ({ pki }, { mountPath }) =>
    pki(mountPath).certificates.signSelfIssued({ certificate: "any" }),
  "pki.ocsp.answer": ({ pki }, { mountPath }) => pki(mountPath).ocsp.answer(Uint8Array.of(0)),
  "pki.externalPolicy.get": ({ pki }, { mountPath }) => pki(mountPath).externalPolicy.get(),
  "pki.externalPolicy.configure": ({ pki }, { mountPath }) => pki(mountPath).externalPolicy.configure({}),
  "pki.externalPolicy.issue": ({ pki }, { mountPath }) => pki(mountPath).externalPolicy.issue({ parameters }),
  "pki.externalPolicy.sign": ({ pki }, { mountPath }) => pki(mountPath).externalPolicy.sign({ parameters, csr: "any" }),
  "pki.externalPolicy.signIntermediate": ({ pki }, { mountPath }) =>
    pki(mountPath).externalPolicy.signIntermediate({ parameters, csr: "any" }),
  "pki.revocations.revoke": ({ pki }, { mountPath }) => pki(mountPath).revocations.revoke({ serialNumber: "0a" }),
  "pki.revocations.revokeWithKey": ({ pki }, { mountPath }) =>
    pki(mountPath).revocations.revokeWithKey({ serialNumber: "0a", privateKey: "any" }),
  "pki.revocations.list": ({ pki }, { mountPath }) => pki(mountPath).revocations.list(),
  "pki.revocations.requested": ({ pki }, { mountPath }) => pki(mountPath).revocations.requested(),
  "pki.revocations.elsewhere": ({ pki }, { mountPath }) => pki(mountPath).revocations.elsewhere(),
  "pki.tidy.start": ({ pki }, { mountPath }) => pki(mountPath).tidy.start({ tidyCertStore: true }),
  "pki.tidy.cancel": ({ pki }, { mountPath }) => pki(mountPath).tidy.cancel(),
  "pki.tidy.getStatus": ({ pki }, { mountPath }) => pki(mountPath).tidy.getStatus(),
  "pki.tidy.getAutomatic": ({ pki }, { mountPath }) => pki(mountPath).tidy.getAutomatic(),
  "pki.tidy.changeAutomatic": ({ pki }, { mountPath }) => pki(mountPath).tidy.changeAutomatic({}),
  "pki.enrolments.list": ({ pki }, { mountPath }) => pki(mountPath).enrolments.list({ state: "pending" }),
  "pki.enrolments.get": ({ pki }, { mountPath }) => pki(mountPath).enrolments.get("enrol-any"),
  "pki.enrolments.approve": ({ pki }, { mountPath }) => pki(mountPath).enrolments.approve("enrol-any"),
  "pki.enrolments.deny": ({ pki }, { mountPath }) => pki(mountPath).enrolments.deny("enrol-any"),
  "pki.crls.get": ({ pki }, { mountPath }) => pki(mountPath).crls.get(),
  "pki.crls.rotate": ({ pki }, { mountPath }) => pki(mountPath).crls.rotate(),
  "pki.crls.rotateDelta": ({ pki }, { mountPath }) => pki(mountPath).crls.rotateDelta(),
  "pki.crls.settings": ({ pki }, { mountPath }) => pki(mountPath).crls.settings(),
  "pki.crls.configure": ({ pki }, { mountPath }) => pki(mountPath).crls.configure({}),
  "pki.crls.import": ({ pki }, { mountPath }) => pki(mountPath).crls.import("default", "any"),
  "pki.certificates.import": ({ pki }, { mountPath }) => pki(mountPath).certificates.import(["any"]),
  "pki.crls.resign": ({ pki }, { mountPath }) =>
    pki(mountPath).crls.resign("default", { crls: ["any"], ...listNumbers }),
  "pki.crls.signRevocationList": ({ pki }, { mountPath }) =>
    pki(mountPath).crls.signRevocationList("default", { revokedCertificates: [], extensions: [], ...listNumbers }),
}

/** Returns true for methods of the certificate API, which answer forbidden instead of not-found. */
const isOfMounts = (method: string): boolean =>
  /^(mounts|pki|acme|policies|blockedKeys|certificateInventory|serviceTokens|tokenRoles|authMethods|appRoles|certificateLogins|kubernetesLogins|userpass|lockedUsers|leases)\./.test(
    method,
  )

/** Methods that any token may call: each caller gets only its own records, possibly none. */
const openToStrangers = new Set([
  "organizations.create",
  "organizations.list",
  "users.account",
  "users.updateAccount",
  "vcsConnections.listAvailableInstallations",
])

/** Methods that succeed whatever the token. */
const openToAll = new Set([
  "appRoles.logins.logIn",
  "certificateLogins.login",
  "discovery.apiVersion",
  "kubernetesLogins.login",
  "userpass.logins.logIn",
  "pki.issuers.list",
  "pki.issuers.certificate",
  "pki.certificates.get",
  "pki.certificates.caChain",
  "pki.crls.get",
  "pki.ocsp.answer",
])

/** Makes one record of each kind in one organization. */
export async function newSubject({ root, organization, owner, newMember, newWorkspace, newName }: Users) {
  const { engine } = owner
  const { id: workspaceId } = await newWorkspace({ tags: [{ name: "net" }] })
  const workspace = { id: workspaceId }
  const member = await newMember()
  const project = await engine.projects.create(organization, { name: "subject" })
  const {
    items: [membership],
  } = await engine.organizationMemberships.list(organization, { search: member.username }, page)
  await engine.workspaces.lock(workspace, { reason: "" })
  const stateVersion = await engine.stateVersions.create(workspace, newStateInput(1))
  await engine.workspaces.unlock(workspace)
  const run = await engine.runs.create(workspace, newRunInput())
  const speculative = await newWorkspace()
  await engine.runs.create(speculative, { ...newRunInput(), planOnly: true })
  const claim = await engine.runClaims.claim({ kind: "workspace", ref: speculative }, newClaimInput)
  const client = await engine.vcsConnections.createClient(organization, newOauthClient)
  const mountPath = newName("contract-mount")
  await root.mounts.create({ path: mountPath })
  await root.pki(mountPath).roles.save("web", {})
  await root.pki(mountPath).issuers.generateRoot({ commonName: "Subject", keyType: "ec" })
  const methodPath = newName("contract-method")
  await root.authMethods.enable({ path: methodPath, type: "approle" })
  await root.appRoles(methodPath).roles.save("web", { roleId: "web" })
  await root.appRoles(methodPath).secretIds.create("web", { secretId: "chosen", numUses: 10 })
  const kubernetesPath = newName("contract-kubernetes")
  await root.authMethods.enable({ path: kubernetesPath, type: "kubernetes" })
  const userpassPath = newName("contract-userpass")
  const { accessor: userpassAccessor } = await root.authMethods.enable({ path: userpassPath, type: "userpass" })
  await root.userpass(userpassPath).users.save("web", { passwordHash: cheapPasswordHash })
  const certificatePath = newName("contract-certificate")
  await root.authMethods.enable({ path: certificatePath, type: "cert" })
  const installation = await engine.vcsConnections.createInstallation(organization, { name: "app", installationId: 1 })
  return {
    organization,
    mountPath,
    methodPath,
    kubernetesPath,
    userpassPath,
    userpassAccessor,
    certificatePath,
    workspace,
    workspaceId,
    projectId: project.id,
    userId: member.id,
    username: member.username,
    membershipId: membership?.id ?? "",
    teamId: member.teamId,
    teamProjectId: (await engine.teamProjects.create({ teamId: member.teamId, projectId: project.id, access: "read" }))
      .id,
    teamWorkspaceId: (await engine.teamWorkspaces.create({ teamId: member.teamId, workspaceId, access: "read" })).id,
    tokenId: (await engine.tokens.createForUser(owner.id, {})).id,
    stateVersionId: stateVersion.id,
    outputId: stateVersion.outputIds[0] ?? "",
    runId: run.id,
    commentId: (await engine.runs.addComment(run.id, "any")).id,
    runEventId: run.eventIds[0] ?? "",
    claimId: claim?.id ?? "",
    planId: run.planId,
    applyId: run.applyId,
    configurationId: (await engine.configurationVersions.create(workspace, newConfiguration)).id,
    variableId: (await engine.variables.create(workspace, newVariable)).id,
    assessmentId: (await engine.assessments.create(workspace, newAssessment)).id,
    clientId: client.id,
    oauthTokenId: client.tokenIds[0] ?? "",
    installationId: installation.id,
    tagId: (await engine.tags.create(organization, ["net"]))[0]?.id ?? "",
    sshKeyId: (await engine.sshKeys.create(organization, newSshKey)).id,
    terraformVersionId: (
      await root.terraformVersions.create({ ...newTerraformVersion, version: `0.98.0-${newName("subject")}` })
    ).id,
    agentPoolId: (await engine.agentPools.create(organization, { name: "pool" })).id,
    webhookId: (await engine.webhooks.create(organization, newWebhook)).id,
  }
}

export function methodCases(engine: () => OpenedEngine): void {
  let testUsers: Users
  let subject: Subject
  let revoked: Engine
  beforeAll(async () => {
    testUsers = await newUsers(engine())
    subject = await newSubject(testUsers)
    const { token, engine: revokedUser } = await testUsers.newPerson()
    const [{ id } = { id: "" }] = (await revokedUser.tokens.listForUser((await revokedUser.users.account()).id, page))
      .items
    await revokedUser.tokens.delete(id)
    revoked = await engine().as(token)
  })

  test("the table of cases contains every method and no other", () => {
    expect(methodsOf(engine().root)).toEqual(Object.keys(calls).toSorted())
  })

  test.each(Object.entries(calls).filter(([name]) => !openToStrangers.has(name) && !openToAll.has(name)))(
    "answers a stranger with not-found: %s",
    async (name, call) => {
      const refusal = isOfMounts(name) ? refused("forbidden") : notFound
      await expect(call(testUsers.stranger.engine, subject)).rejects.toMatchObject(refusal)
    },
  )

  test.each(Object.entries(calls).filter(([name]) => !openToAll.has(name)))(
    "rejects a revoked token: %s",
    async (_name, call) => {
      await expect(call(revoked, subject)).rejects.toMatchObject(refused("unauthenticated"))
    },
  )
}
