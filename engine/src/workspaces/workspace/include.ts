import type { AgentPoolView } from "../../organizations/agent-pool.ts"
import type { OrganizationView } from "../../organizations/organization.ts"
import type { ProjectView } from "../../organizations/project.ts"
import type { WorkspaceId } from "../../core/ids.ts"
import type { EffectiveTagBinding } from "../tags/tag-binding.ts"
import type { TagBindingView } from "../tags/tag-api.ts"
import type { TeamView } from "../../organizations/team.ts"
import type { UserView } from "../../organizations/user.ts"
import type {
  ConfigurationVersionView,
  IngressAttributesView,
  Readme,
} from "../configuration-versions/configuration-version.ts"
import type { RunView } from "../runs/run.ts"
import type { StateVersionOutput, StateVersionView } from "../state/state-version.ts"
import type { VariableView } from "../variables/variable.ts"
import type { WorkspaceView } from "./workspace-view.ts"

/** Related resources that `include` adds to the document of a workspace. */
export const workspaceParts = [
  "agent_pool",
  "current_configuration_version",
  "current_configuration_version.ingress_attributes",
  "current_run",
  "current_run.apply",
  "current_run.configuration_version",
  "current_run.configuration_version.ingress_attributes",
  "current_run.plan",
  "current_state_version",
  "effective_tag_bindings",
  "latest_run",
  "locked_by",
  "organization",
  "outputs",
  "project",
  "readme",
  "vars",
] as const
export type WorkspacePart = (typeof workspaceParts)[number]

export interface Inclusions {
  readonly configurationVersions: readonly ConfigurationVersionView[]
  readonly ingressAttributes: readonly IngressAttributesView[]
  readonly runs: readonly RunView[]
  /** Runs whose plan or apply is included. */
  readonly plans: readonly RunView[]
  readonly applies: readonly RunView[]
  readonly stateVersions: readonly StateVersionView[]
  readonly outputs: readonly StateVersionOutput[]
  readonly users: readonly UserView[]
  readonly teams: readonly TeamView[]
  readonly organizations: readonly OrganizationView[]
  readonly projects: readonly ProjectView[]
  readonly agentPools: readonly AgentPoolView[]
  readonly readmes: readonly Readme[]
  readonly variables: readonly VariableView[]
  /** Bindings by workspace. Empty unless requested. */
  readonly effectiveTagBindings: ReadonlyMap<WorkspaceId, readonly (TagBindingView & EffectiveTagBinding)[]>
}

/** Related resources of workspaces in a response. A page of workspaces needs as many queries as one workspace. */
export interface WorkspaceInclusions {
  of(workspaces: readonly WorkspaceView[], parts: ReadonlySet<WorkspacePart>): Promise<Inclusions>
}
