import { decodeAssessmentView, encodeAssessmentInput } from "../wire/jsonapi/assessment.ts"
import type { Assessments } from "../workspaces/assessments.ts"
import type { Calls } from "./calls.ts"
import { path } from "./transport.ts"
import { workspaceId } from "./workspaces.ts"

export function remoteAssessments(calls: Calls): Assessments {
  const { one, page, done } = calls
  return {
    create: async (ref, input) =>
      one(decodeAssessmentView, {
        method: "POST",
        path: path`/workspaces/${await workspaceId(calls, ref)}/assessment-results`,
        document: encodeAssessmentInput(input),
      }),
    get: async (id) => one(decodeAssessmentView, { method: "GET", path: path`/assessment-results/${id}` }),
    list: async (ref, request) =>
      page(decodeAssessmentView, path`/workspaces/${await workspaceId(calls, ref)}/assessment-results`, request),
    delete: async (id) => done({ method: "DELETE", path: path`/assessment-results/${id}` }),
  }
}
