import { badRequest } from "../../core/errors.ts"

/** The workspace that a list below no workspace is about; both names are needed. */
export function decodeWorkspaceSubject(query: URLSearchParams): {
  readonly organization: string
  readonly name: string
} {
  const organization = query.get("filter[organization][name]") ?? ""
  const name = query.get("filter[workspace][name]") ?? ""
  const faults = []
  if (organization === "")
    faults.push({ detail: "filter[organization][name] is required", parameter: "filter[organization][name]" })
  if (name === "") faults.push({ detail: "filter[workspace][name] is required", parameter: "filter[workspace][name]" })
  if (faults.length > 0) throw badRequest("The workspace is not named.", faults)
  return { organization, name }
}
