import type { IngressAttributes } from "../configuration-versions/configuration-version.ts"
import type { ExecutionVariable } from "./run-claim.ts"

/** Facts about a run that its executor passes to the tool. */
export interface RunPlace {
  readonly runId: string
  readonly workspaceName: string
  readonly organizationName: string
  readonly projectName: string
  readonly ingress: Pick<IngressAttributes, "branch" | "commitSha" | "tag"> | null
}

/**
 * Returns the environment variables that HCP Terraform sets in every run
 * (https://developer.hashicorp.com/terraform/cloud-docs/workspaces/run/run-environment#environment-variables).
 */
export function automaticVariables(place: RunPlace): readonly ExecutionVariable[] {
  const { runId, workspaceName, organizationName, projectName, ingress } = place
  const values = {
    TFC_RUN_ID: runId,
    TFC_WORKSPACE_NAME: workspaceName,
    TFC_WORKSPACE_SLUG: `${organizationName}/${workspaceName}`,
    TFC_PROJECT_NAME: projectName,
    TFC_CONFIGURATION_VERSION_GIT_BRANCH: ingress?.branch ?? "",
    TFC_CONFIGURATION_VERSION_GIT_COMMIT_SHA: ingress?.commitSha ?? "",
    TFC_CONFIGURATION_VERSION_GIT_TAG: ingress?.tag ?? "",
  }
  return Object.entries(values).map(([key, value]) => ({ key, value, category: "env", hcl: false, sensitive: false }))
}
