import { invalid } from "../../core/errors.ts"
import { type KeySource, keySources } from "../../pki/keys/key-request.ts"

/** Where a key comes from, as it stands at the end of a path. */
export function keySourceOf(type: string): KeySource {
  const source = keySources.find((known) => known === type)
  if (source !== undefined) return source
  throw invalid([{ field: ["type"], detail: `"type" must be one of ${keySources.join(", ")}` }])
}
