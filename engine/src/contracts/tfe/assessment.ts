import { z } from "zod"
import type { WorkspaceId } from "../../core/ids.ts"
import { errorMessageFaults } from "../../workspaces/assessments/assessment.ts"
import { ruled } from "./json-api/document.ts"
import { instant } from "../codec.ts"
import { document, one, readOnly, withDefault, writable } from "./document.ts"
import { contract, created, nothing, page, resource } from "./endpoint.ts"

export const assessment = document("assessment-results", {
  id: z.custom<string>(),
  self: (id) => `/api/v2/assessment-results/${id}`,
  attributes: {
    drifted: writable(z.boolean(), {
      required: true,
      rule: "The infrastructure differs from the state.",
      example: true,
    }),
    succeeded: writable(z.boolean(), { required: true, rule: "The assessment was completed.", example: true }),
    errorMessage: withDefault(z.string().nullable(), null, {
      wireName: "error-msg",
      input: ruled(errorMessageFaults),
      rule: "Why the assessment failed, at most 65,536 characters.",
      example: "The provider could not be configured.",
    }),
    createdAt: readOnly(instant, { rule: "Time of the assessment.", example: "2026-11-26T12:00:00.000Z" }),
  },
  relationships: {
    workspaceId: readOnly(one<WorkspaceId>("workspaces"), { wireName: "workspace", rule: "Workspace." }),
  },
})

export const assessments = contract({
  create: {
    method: "POST",
    path: "/workspaces/:workspace_id/assessment-results",
    summary: "Records the result of a health assessment.",
    rights: "`can-manage-assessments` on the workspace.",
    body: assessment.input,
    answers: created(assessment),
  },
  list: {
    method: "GET",
    path: "/workspaces/:workspace_id/assessment-results",
    summary: "Lists the results of a workspace, the newest first.",
    rights: "`can-read-assessment-results` on the workspace.",
    answers: page(assessment),
  },
  get: {
    method: "GET",
    path: "/assessment-results/:assessment_result_id",
    summary: "Returns a result.",
    rights: "`can-read-assessment-results` on the workspace.",
    answers: resource(assessment),
  },
  delete: {
    method: "DELETE",
    path: "/assessment-results/:assessment_result_id",
    summary: "Deletes a result.",
    rights: "`can-manage-assessments` on the workspace.",
    answers: nothing,
  },
})
