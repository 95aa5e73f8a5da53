// Organizations, workspaces and events.
import type { Caller } from "../core/caller.ts"
import { ownDiscovery } from "../core/discovery.ts"
import type { Edition } from "../core/edition.ts"
import type { Storage } from "../core/storage.ts"
import { EventService } from "../events/feed/event-service.ts"
import { WebhookService } from "../events/webhooks/webhook-service.ts"
import { OrganizationMembershipService } from "../organizations/organization-membership-service.ts"
import { OrganizationService } from "../organizations/organization-service.ts"
import { ProjectService } from "../organizations/project-service.ts"
import { SiteSettingsService } from "../organizations/site-settings-service.ts"
import { SshKeyService } from "../organizations/ssh-key-service.ts"
import { TeamProjectService } from "../organizations/team-project-access-service.ts"
import { TeamService } from "../organizations/team-service.ts"
import { TokenService } from "../organizations/token-service.ts"
import { UserService } from "../organizations/user-service.ts"
import { VcsConnectionService } from "../organizations/vcs-connection-service.ts"
import { sealedConfigurationArchive } from "../storage/repositories/workspaces/configuration-archive.ts"
import { hmacSigner } from "../storage/sealing/hmac-signer.ts"
import { sealedRunArchive } from "../storage/repositories/workspaces/run-record-repository.ts"
import { siteSecret } from "../storage/sealing/site-secret.ts"
import { sealedStateArchive } from "../storage/repositories/workspaces/state-archive.ts"
import { StateContents } from "../storage/repositories/workspaces/state-contents.ts"
import type { Repositories } from "../storage/repositories/repositories.ts"
import { projectBindings } from "../workspaces/tags/project-tag-bindings.ts"
import { AgentPoolService } from "../workspaces/runs/agent-pool-service.ts"
import { AssessmentService } from "../workspaces/assessments/assessment-service.ts"
import { BulkActionService } from "../workspaces/bulk/bulk-service.ts"
import {
  type ConfigurationTools,
  ConfigurationVersionService,
} from "../workspaces/configuration-versions/configuration-version-service.ts"
import { InclusionService } from "../workspaces/workspace/include-service.ts"
import { readStatesJob } from "../workspaces/state/parse-uploaded-states.ts"
import { RemoteStateConsumerService } from "../workspaces/state/remote-state-consumer-service.ts"
import { RetentionPolicyService } from "../workspaces/state/retention-policy-service.ts"
import { type ClaimTools, RunClaimService } from "../workspaces/runs/run-claim-service.ts"
import { RunLogService } from "../workspaces/runs/run-logs.ts"
import { RunService } from "../workspaces/runs/run-service.ts"
import { defaultStateLimitBytes } from "../workspaces/state/state-upload.ts"
import { type StateTools, StateVersionService } from "../workspaces/state/state-version-service.ts"
import { TagService } from "../workspaces/tags/tag-service.ts"
import { TeamWorkspaceService } from "../workspaces/access/team-workspace-access-service.ts"
import { TerraformVersionService } from "../workspaces/workspace/terraform-version-service.ts"
import { VariableService } from "../workspaces/variables/variable-service.ts"
import { WorkspaceService } from "../workspaces/workspace/workspace-service.ts"
import type { Parts } from "./options.ts"
import type { StorageContext } from "./storage.ts"

export interface WorkspaceContext {
  readonly edition: Edition
  readonly stateTools: StateTools
  readonly configurationTools: ConfigurationTools
  readonly claimTools: ClaimTools
  /** Starts a job by name at once, for work that a request leaves to it. */
  readonly wakeJob: (name: string) => void
}

export async function composeWorkspaces(
  { database, sealer }: StorageContext,
  wakeJob: (name: string) => void,
  { options, runtime, timers, opening }: Parts,
): Promise<WorkspaceContext> {
  const edition = options.edition ?? "self-hosted"
  const stateTools: StateTools = {
    archive: sealedStateArchive(sealer, opening.use(new StateContents(timers))),
    edition,
    limitBytes: options.stateLimitBytes ?? defaultStateLimitBytes,
    wakeReading: () => wakeJob(readStatesJob.name),
    signer: hmacSigner(await siteSecret(database, "signing-key", sealer, runtime.random)),
  }
  return {
    edition,
    stateTools,
    configurationTools: { edition, archive: sealedConfigurationArchive(sealer), signer: stateTools.signer },
    claimTools: {
      archive: sealedRunArchive(sealer),
      configurations: sealedConfigurationArchive(sealer),
      states: stateTools,
      timers,
    },
    wakeJob,
  }
}

interface WorkspaceRequest {
  readonly context: StorageContext & WorkspaceContext
  readonly caller: Caller
  /** Attributes changes to the request. */
  readonly storage: Storage<Repositories>
}

export const workspaceFamilies = {
  discovery: () => ownDiscovery,
  organizations: ({ storage, context: { runtime }, caller }: WorkspaceRequest) =>
    new OrganizationService(storage, runtime, caller),
  organizationMemberships: ({ storage, context: { runtime }, caller }: WorkspaceRequest) =>
    new OrganizationMembershipService(storage, runtime, caller),
  projects: ({ storage, context: { runtime }, caller }: WorkspaceRequest) =>
    new ProjectService<Repositories>(storage, runtime, projectBindings, caller),
  users: ({ storage, context: { runtime }, caller }: WorkspaceRequest) => new UserService(storage, runtime, caller),
  teams: ({ storage, context: { runtime }, caller }: WorkspaceRequest) => new TeamService(storage, runtime, caller),
  teamProjects: ({ storage, context: { runtime }, caller }: WorkspaceRequest) =>
    new TeamProjectService(storage, runtime, caller),
  teamWorkspaces: ({ storage, context: { runtime }, caller }: WorkspaceRequest) =>
    new TeamWorkspaceService(storage, runtime, caller),
  tokens: ({ storage, context: { runtime }, caller }: WorkspaceRequest) => new TokenService(storage, runtime, caller),
  siteSettings: ({ storage, caller }: WorkspaceRequest) => new SiteSettingsService(storage, caller),
  terraformVersions: ({ storage, context: { runtime }, caller }: WorkspaceRequest) =>
    new TerraformVersionService(storage, runtime, caller),
  workspaces: ({ storage, context: { runtime, edition }, caller }: WorkspaceRequest) =>
    new WorkspaceService(storage, runtime, edition, caller),
  bulkActions: ({ storage, context: { runtime }, caller }: WorkspaceRequest) =>
    new BulkActionService(storage, runtime, caller),
  stateVersions: ({ storage, context: { runtime, stateTools }, caller }: WorkspaceRequest) =>
    new StateVersionService(storage, runtime, stateTools, caller),
  runs: ({ storage, context: { runtime, claimTools }, caller }: WorkspaceRequest) =>
    new RunService(storage, runtime, claimTools.archive, caller),
  runLogs: ({ storage, context: { runtime, stateTools } }: WorkspaceRequest) =>
    new RunLogService(storage, runtime, stateTools.signer),
  runClaims: ({ storage, context: { runtime, claimTools }, caller }: WorkspaceRequest) =>
    new RunClaimService(storage, runtime, claimTools, caller),
  configurationVersions: ({ storage, context: { runtime, configurationTools }, caller }: WorkspaceRequest) =>
    new ConfigurationVersionService(storage, runtime, configurationTools, caller),
  variables: ({ storage, context: { runtime }, caller }: WorkspaceRequest) =>
    new VariableService(storage, runtime, caller),
  events: (request: WorkspaceRequest) => eventService(request),
  eventStreams: (request: WorkspaceRequest) => eventService(request).streams,
  webhooks: ({ storage, context, caller }: WorkspaceRequest) => new WebhookService(storage, context, caller),
  assessments: ({ storage, context: { runtime }, caller }: WorkspaceRequest) =>
    new AssessmentService(storage, runtime, caller),
  vcsConnections: ({ storage, context: { runtime }, caller }: WorkspaceRequest) =>
    new VcsConnectionService(storage, runtime, caller),
  tags: ({ storage, context: { runtime }, caller }: WorkspaceRequest) => new TagService(storage, runtime, caller),
  sshKeys: ({ storage, context: { runtime }, caller }: WorkspaceRequest) => new SshKeyService(storage, runtime, caller),
  agentPools: ({ storage, context: { runtime }, caller }: WorkspaceRequest) =>
    new AgentPoolService(storage, runtime, caller),
  retentionPolicies: ({ storage, context: { runtime, edition }, caller }: WorkspaceRequest) =>
    new RetentionPolicyService(storage, runtime, edition, caller),
  remoteStateConsumers: ({ storage, context: { edition }, caller }: WorkspaceRequest) =>
    new RemoteStateConsumerService(storage, edition, caller),
  inclusions: ({ context, caller }: WorkspaceRequest) => new InclusionService(context.storage, caller),
}

const eventService = ({ storage, context: { runtime, eventFeed }, caller }: WorkspaceRequest) =>
  new EventService(storage, runtime, eventFeed, caller)
