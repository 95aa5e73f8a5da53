import { assessments } from "../contracts/tfe/assessment.ts"
import type { Assessments } from "../workspaces/assessments.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"
import { byWorkspaceId } from "./workspaces.ts"

export function remoteAssessments(transport: Transport): Assessments {
  const { create, list, ...same } = remote(assessments, transport)
  return { ...same, create: byWorkspaceId(transport, create), list: byWorkspaceId(transport, list) }
}
