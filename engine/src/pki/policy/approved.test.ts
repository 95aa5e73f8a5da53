import { expectTypeOf, test } from "vitest"
import { type ApprovedContent, certify } from "../issuance/certify.ts"
import type { ApprovedRequest } from "./approve.ts"
import type { leafContent } from "./content.ts"

test("the compiler rejects signing of values that no policy approved, including changed copies", () => {
  expectTypeOf(certify).parameter(0).toEqualTypeOf<ApprovedContent>()
  expectTypeOf<ReturnType<typeof leafContent>>().toExtend<ApprovedContent>()
  // A value with all the visible members, as a literal or a copy would have.
  expectTypeOf<Pick<ApprovedContent, keyof ApprovedContent>>().not.toExtend<ApprovedContent>()
  const later = (content: ApprovedContent) => ({ ...content, notAfter: content.notAfter + 1 })
  expectTypeOf(later).returns.not.toExtend<ApprovedContent>()
  const renamed = (request: ApprovedRequest) => ({ ...request, subject: [] })
  expectTypeOf(renamed).returns.not.toExtend<ApprovedRequest>()
})
