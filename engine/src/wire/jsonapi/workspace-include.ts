import { type Inclusions, type WorkspacePart, workspaceParts } from "../../workspaces/inclusions.ts"
import { encodeConfigurationVersion, encodeIngressAttributes, encodeReadme } from "./configuration-version.ts"
import type { Resource } from "./document.ts"
import { decodeInclude } from "./include.ts"
import { encodeOrganization } from "./organization.ts"
import { encodeProject } from "./project.ts"
import { encodeApply, encodePlan, encodeRun } from "./run.ts"
import { encodeStateVersion, encodeWorkspaceOutput } from "./state-version.ts"
import { encodeTeam } from "./team.ts"
import { encodeUser } from "./user.ts"
import { encodeVariable } from "./variable.ts"

export const decodeWorkspaceInclude = (query: URLSearchParams): ReadonlySet<WorkspacePart> =>
  decodeInclude(query, workspaceParts)

/** Each resource once, whatever brought it; `base` is the server's own address. */
export const encodeInclusions = (included: Inclusions, base: string): Resource[] => [
  ...included.configurationVersions.map(encodeConfigurationVersion),
  ...included.ingressAttributes.map(encodeIngressAttributes),
  ...included.runs.map(encodeRun),
  ...included.plans.map(encodePlan),
  ...included.applies.map(encodeApply),
  ...included.stateVersions.map((version) => encodeStateVersion(version, base)),
  ...included.outputs.map(encodeWorkspaceOutput),
  ...included.users.map(encodeUser),
  ...included.teams.map(encodeTeam),
  ...included.organizations.map(encodeOrganization),
  ...included.projects.map(encodeProject),
  ...included.readmes.map(encodeReadme),
  ...included.variables.map(encodeVariable),
]
