import { decodeAssessment, encodeAssessment } from "../../wire/jsonapi/assessment.ts"
import { encodePage } from "../../wire/jsonapi/links.ts"
import { decodePage } from "../../wire/jsonapi/query.ts"
import { type ApiRequest, created, noContent, ok, param, type Route } from "../route.ts"

const workspaceOf = (request: ApiRequest) => ({ id: param(request, "workspace_id") })
const idOf = (request: ApiRequest) => param(request, "assessment_result_id")

export const assessmentRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/workspaces/:workspace_id/assessment-results",
    handle: async (request) => {
      const input = decodeAssessment(await request.body())
      return created({ data: encodeAssessment(await request.engine.assessments.create(workspaceOf(request), input)) })
    },
  },
  {
    method: "GET",
    path: "/workspaces/:workspace_id/assessment-results",
    handle: async (request) => {
      const page = await request.engine.assessments.list(workspaceOf(request), decodePage(request.query))
      return ok(encodePage(page, encodeAssessment, request.url))
    },
  },
  {
    method: "GET",
    path: "/assessment-results/:assessment_result_id",
    handle: async (request) => ok({ data: encodeAssessment(await request.engine.assessments.get(idOf(request))) }),
  },
  {
    method: "DELETE",
    path: "/assessment-results/:assessment_result_id",
    handle: async (request) => {
      await request.engine.assessments.delete(idOf(request))
      return noContent
    },
  },
]
