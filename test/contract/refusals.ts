import type { EngineErrorCode, FieldPath } from "../../engine/src/core/errors.ts"

/** What a refusal must look like, for `rejects.toMatchObject`. */
export const refused = (code: EngineErrorCode, ...fields: readonly FieldPath[]) => ({
  name: "EngineError",
  code,
  ...(fields.length === 0 ? {} : { faults: fields.map((field) => ({ field })) }),
})
export const notFound = refused("not-found")
