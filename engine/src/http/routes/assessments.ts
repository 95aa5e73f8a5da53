import { assessments } from "../../contracts/tfe/assessment.ts"
import { implement } from "../implement.ts"

export const assessmentRoutes = implement(assessments, {
  create: ({ engine }, id, input) => engine.assessments.create({ id }, input),
  list: ({ engine }, id, page) => engine.assessments.list({ id }, page),
  get: ({ engine }, id) => engine.assessments.get(id),
  delete: ({ engine }, id) => engine.assessments.delete(id),
})
