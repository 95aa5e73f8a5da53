import { pendingEnrolment } from "../../../../engine/testing/pending-enrolment.ts"
import type { PreparePki } from "./prepared-request.ts"

const withEnrolment: PreparePki = async ({ testEngine, mount }) => ({
  params: { enrolment_id: await pendingEnrolment(testEngine.engine, mount) },
})

export const enrolmentRequests: Readonly<Record<string, PreparePki>> = {
  "LIST /:mount/enrolments": withEnrolment,
  "GET /:mount/enrolments/:enrolment_id": withEnrolment,
  "POST /:mount/enrolments/:enrolment_id/approve": withEnrolment,
  "POST /:mount/enrolments/:enrolment_id/deny": withEnrolment,
}
