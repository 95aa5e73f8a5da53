// The parameter `include`: which related resources stand beside the data of an answer.
import { badRequest } from "../../core/errors.ts"
import { decodeCommaList } from "./query.ts"

const parameter = "include"

/**
 * Decodes `include`. Public clients write names with dashes or underscores. They match "include parameter" in the text of the error
 * (docs/compatibility.md, "Matched texts").
 */
export function decodeInclude<Part extends string>(query: URLSearchParams, known: readonly Part[]): ReadonlySet<Part> {
  const wanted = (decodeCommaList(query.get(parameter)) ?? []).map((part) => part.replaceAll("-", "_"))
  const unknown = wanted.filter((part) => !known.includes(part as Part))
  if (unknown.length > 0)
    throw badRequest("Invalid include parameter.", [
      { detail: `Invalid include parameter: it may name ${known.join(", ")}`, parameter },
    ])
  return new Set(wanted as Part[])
}
