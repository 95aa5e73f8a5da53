import { type Inclusions, type WorkspacePart, workspaceParts } from "../../workspaces/inclusions.ts"
import type { WorkspaceView } from "../../workspaces/workspace-view.ts"
import { agentPool } from "../../contracts/tfe/agent-pool.ts"
import { configurationVersion, ingressAttributes, readme } from "../../contracts/tfe/configuration-version.ts"
import { linked, type Resource } from "./document.ts"
import { decodeInclude } from "./include.ts"
import { organization as organizationDocument } from "../../contracts/tfe/organization.ts"
import { project } from "../../contracts/tfe/project.ts"
import { apply, applyOf, plan, planOf, run } from "../../contracts/tfe/run.ts"
import { stateVersion, withDocumentAddresses, workspaceOutput } from "../../contracts/tfe/state-version.ts"
import { encodeIdentifiedBindings } from "../../contracts/tfe/tag.ts"
import { team } from "../../contracts/tfe/team.ts"
import { user } from "../../contracts/tfe/user.ts"
import { variable } from "../../contracts/tfe/variable.ts"
import { encodeWorkspace } from "./workspace.ts"

export const decodeWorkspaceInclude = (query: URLSearchParams): ReadonlySet<WorkspacePart> =>
  decodeInclude(query, workspaceParts)

/** A workspace whose bindings come along names them: elsewhere its document only links to them. */
export function encodeWorkspaceWith(workspace: WorkspaceView, included: Inclusions | undefined): Resource {
  const resource = encodeWorkspace(workspace)
  const bindings = included?.effectiveTagBindings.get(workspace.id)
  return bindings === undefined ? resource : linked(resource, "effective-tag-bindings", bindings)
}

/** Each resource once, whatever brought it; `base` is the server's own address. */
export const encodeInclusions = (included: Inclusions, base: string): Resource[] => [
  ...included.configurationVersions.map((version) => configurationVersion.encode({ ...version, upload: null })),
  ...included.ingressAttributes.map(ingressAttributes.encode),
  ...included.runs.map(run.encode),
  ...included.plans.map((view) => plan.encode(planOf(view))),
  ...included.applies.map((view) => apply.encode(applyOf(view))),
  ...included.stateVersions.map((version) => stateVersion.encode(withDocumentAddresses(version, base))),
  ...included.outputs.map(workspaceOutput.encode),
  ...included.users.map(user.encode),
  ...included.teams.map(team.encode),
  ...encodeOrganizations(included),
  ...included.projects.map(project.encode),
  ...included.agentPools.map(agentPool.encode),
  ...included.readmes.map(readme.encode),
  ...included.variables.map(variable.encode),
  ...encodeIdentifiedBindings([...included.effectiveTagBindings.values()].flat()),
]

/**
 * The public Go client follows linkage between included resources without an end in sight. Projects and agent pools name their
 * organization, so beside them an organization does not name its defaults.
 */
const encodeOrganizations = ({ organizations, projects, agentPools }: Inclusions): Resource[] =>
  organizations.map((organization) => {
    const resource = organizationDocument.encode(organization)
    if (projects.length + agentPools.length === 0) return resource
    const { "default-project": _project, "default-agent-pool": _pool, ...relationships } = resource.relationships ?? {}
    return { ...resource, relationships }
  })
