import { enrolments } from "../../contracts/vault/enrolment.ts"
import { implement } from "./implement.ts"
import type { PkiRequest } from "./vault-route.ts"

/** Enrolment requests that wait for a decision (docs/enrolments.md). */
export const enrolmentRoutes = implement(enrolments, {
  list: ({ pki }: PkiRequest, query) => pki.enrolments.list(query),
  get: ({ pki }, id) => pki.enrolments.get(id),
  approve: ({ pki }, id, input) => pki.enrolments.approve(id, input),
  deny: ({ pki }, id, input) => pki.enrolments.deny(id, input),
})
