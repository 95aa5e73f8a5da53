import { assessments } from "../contracts/tfe/assessment.ts"
import type { Assessments } from "../workspaces/assessments.ts"
import type { Calls } from "./calls.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"
import { byWorkspaceId } from "./workspaces.ts"

export function remoteAssessments(calls: Calls, transport: Transport): Assessments {
  const { create, list, ...same } = remote(assessments, transport)
  return { ...same, create: byWorkspaceId(calls, create), list: byWorkspaceId(calls, list) }
}
