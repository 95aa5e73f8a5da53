import { z } from "zod"
import { formatInstant } from "../../core/time.ts"
import type { AssessmentInput, AssessmentView } from "../../workspaces/assessment.ts"
import { decodeDocument, type Resource, toOne } from "./document.ts"

const schema = z.object({
  attributes: z.object({
    drifted: z.boolean(),
    succeeded: z.boolean(),
    "error-msg": z.string().max(65_536).nullish(),
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
