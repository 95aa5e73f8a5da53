import type { EngineErrorCode, FieldPath } from "../../engine/src/core/errors.ts"

/** Returns the expected shape of an error, for `rejects.toMatchObject`. */
export const refused = (code: EngineErrorCode, ...fields: readonly FieldPath[]) => ({
  name: "EngineError",
  code,
  ...(fields.length === 0 ? {} : { faults: fields.map((field) => ({ field })) }),
})
export const notFound = refused("not-found")
