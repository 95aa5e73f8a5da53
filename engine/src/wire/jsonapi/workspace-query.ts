// Parameters of the list of workspaces. Unknown ones are ignored; blank ones filter nothing.
import { badRequest, type Fault } from "../../core/errors.ts"
import { type WorkspaceQuery, workspaceSortKeys } from "../../workspaces/query.ts"
import { given } from "./given.ts"
import { decodeCommaList, encodeCommaList, encodeEvery } from "./query.ts"

/** Each filter costs a look into an index; this many are more than any client asks for. */
const filtersMaximum = 50

export function decodeWorkspaceQuery(query: URLSearchParams): WorkspaceQuery {
  const faults: Fault[] = []
  const list = (parameter: string) => {
    const values = decodeCommaList(query.get(parameter))
    if (values !== undefined && values.length > filtersMaximum) faults.push(tooMany(parameter))
    return values
  }
  const decoded = given({
    name: nonBlank(query.get("search[name]")),
    wildcardName: nonBlank(query.get("search[wildcard-name]")),
    tags: list("search[tags]"),
    excludeTags: list("search[exclude-tags]"),
    sort: decodeSort(query.get("sort"), faults),
    projectId: nonBlank(query.get("filter[project][id]")),
    currentRunStatus: list("filter[current-run][status]"),
    tagged: decodeTagged(query, faults),
  })
  if (faults.length > 0) throw badRequest("The query is not valid.", faults)
  return decoded
}

const tooMany = (parameter: string): Fault => ({
  detail: `${parameter} has more than ${filtersMaximum} values`,
  parameter,
})

const nonBlank = (text: string | null): string | undefined => {
  const trimmed = (text ?? "").trim()
  return trimmed === "" ? undefined : trimmed
}

function decodeSort(text: string | null, faults: Fault[]): WorkspaceQuery["sort"] {
  const wanted = nonBlank(text)
  if (wanted === undefined) return undefined
  const descending = wanted.startsWith("-")
  const name = descending ? wanted.slice(1) : wanted
  const key = workspaceSortKeys.find((known) => known === name)
  if (key !== undefined) return { key, descending }
  faults.push({ detail: `sort must be one of ${workspaceSortKeys.join(", ")}`, parameter: "sort" })
  return undefined
}

/** `filter[tagged][i][key]` and `filter[tagged][i][value]`, joined by their index; an absent or empty half matches any. */
function decodeTagged(query: URLSearchParams, faults: Fault[]): WorkspaceQuery["tagged"] {
  const byIndex = new Map<string, { key?: string; value?: string }>()
  for (const [name, text] of query) {
    const [, index, half] = /^filter\[tagged\]\[(\d{1,9})\]\[(key|value)\]$/.exec(name) ?? []
    if (index === undefined || half === undefined || text === "") continue
    const position = String(Number(index))
    byIndex.set(position, { ...byIndex.get(position), [half]: text })
  }
  if (byIndex.size > filtersMaximum) faults.push(tooMany("filter[tagged]"))
  return byIndex.size === 0 ? undefined : [...byIndex.values()]
}

/** The other direction of `decodeWorkspaceQuery`. */
export function encodeWorkspaceQuery(query: WorkspaceQuery): readonly (readonly [string, string | undefined])[] {
  const { sort, tagged = [] } = query
  const list = (values: readonly string[] | undefined) => values && encodeCommaList(values)
  return [
    ["search[name]", query.name],
    ["search[wildcard-name]", query.wildcardName],
    ["search[tags]", query.tags && encodeEvery(query.tags)],
    ["search[exclude-tags]", list(query.excludeTags)],
    ["sort", sort && `${sort.descending ? "-" : ""}${sort.key}`],
    ["filter[project][id]", query.projectId],
    ["filter[current-run][status]", list(query.currentRunStatus)],
    ...tagged.flatMap(({ key, value }, index): (readonly [string, string | undefined])[] => [
      [`filter[tagged][${index}][key]`, key],
      [`filter[tagged][${index}][value]`, value],
    ]),
  ]
}
