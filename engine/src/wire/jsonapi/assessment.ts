import { z } from "zod"
import { formatInstant } from "../../core/time.ts"
import { type AssessmentInput, type AssessmentView, errorMessageFaults } from "../../workspaces/assessment.ts"
import type { WorkspaceId } from "../../core/ids.ts"
import { readResource } from "./answer.ts"
import { ruled } from "./ruled.ts"
import { decodeDocument, encodeDocument, type RequestDocument, type Resource, toOne } from "./document.ts"

const schema = z.object({
  attributes: z.object({
    drifted: z.boolean(),
    succeeded: z.boolean(),
    "error-msg": ruled(errorMessageFaults).nullish(),
  }),
})

export function decodeAssessment(body: unknown): AssessmentInput {
  const { attributes } = decodeDocument(body, schema, { types: ["assessment-results"] })
  return {
    drifted: attributes.drifted,
    succeeded: attributes.succeeded,
    errorMessage: attributes["error-msg"] ?? null,
  }
}

export const encodeAssessment = (assessment: AssessmentView): Resource => ({
  id: assessment.id,
  type: "assessment-results",
  attributes: {
    drifted: assessment.drifted,
    succeeded: assessment.succeeded,
    "error-msg": assessment.errorMessage,
    "created-at": formatInstant(assessment.createdAt),
  },
  relationships: { workspace: toOne("workspaces", assessment.workspaceId) },
  links: { self: `/api/v2/assessment-results/${assessment.id}` },
})

/** The other direction of `encodeAssessment`. */
export function decodeAssessmentView(resource: unknown): AssessmentView {
  const { id, attributes: own, ...related } = readResource(resource, "assessment-results")
  return {
    id,
    workspaceId: related.one("workspace") as WorkspaceId,
    drifted: own.flag("drifted"),
    succeeded: own.flag("succeeded"),
    errorMessage: own.textOrNull("errorMsg"),
    createdAt: own.instant("createdAt"),
  }
}

/** The other direction of `decodeAssessment`. */
export const encodeAssessmentInput = ({ drifted, succeeded, errorMessage }: AssessmentInput): RequestDocument =>
  encodeDocument("assessment-results", { drifted, succeeded, "error-msg": errorMessage })
