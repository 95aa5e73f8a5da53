// Numbers of resources that a plan would change and an apply has changed, read from the output of the tool.
import type { ResourceChanges } from "../../workspaces/runs/run.ts"

interface PlannedChange {
  readonly change?: { readonly actions?: readonly string[]; readonly importing?: unknown }
}

/** Counts the changes of a plan, the parsed output of `show -json`. A replacement is an addition and a destruction. */
export function plannedCounts(plan: unknown): ResourceChanges {
  const changes = (
    (plan as { readonly resource_changes?: readonly PlannedChange[] } | null)?.resource_changes ?? []
  ).map(({ change }) => ({ actions: change?.actions ?? [], importing: change?.importing }))
  const count = (action: string) => changes.filter(({ actions }) => actions.includes(action)).length
  return {
    additions: count("create"),
    changes: count("update"),
    destructions: count("delete"),
    imports: changes.filter(({ importing }) => importing !== undefined && importing !== null).length,
  }
}

const summaryLine =
  /(?:Apply|Destroy) complete! Resources: (?:(\d+) imported, )?(?:(\d+) added, )?(?:(\d+) changed, )?(\d+) destroyed/

/** Reads the summary of an apply from the end of its output. Undefined if the tool did not get that far. */
export function appliedCounts(output: string): ResourceChanges | undefined {
  for (const line of output.split("\n").toReversed()) {
    const counts = countsOfMessage(line) ?? countsOfLine(line)
    if (counts !== undefined) return counts
  }
  return undefined
}

function countsOfLine(line: string): ResourceChanges | undefined {
  const found = summaryLine.exec(line)
  if (found === null) return undefined
  const [imports, additions, changes, destructions] = found
    .slice(1)
    .map((text: string | undefined) => Number(text ?? 0))
  return { imports: imports ?? 0, additions: additions ?? 0, changes: changes ?? 0, destructions: destructions ?? 0 }
}

/** Reads a message of `-json` with the type `change_summary`. */
function countsOfMessage(line: string): ResourceChanges | undefined {
  if (!line.startsWith("{") || !line.includes('"change_summary"')) return undefined
  try {
    const { changes } = JSON.parse(line) as { readonly changes?: Readonly<Record<string, unknown>> }
    if (changes === undefined || changes["operation"] === "plan") return undefined
    const number = (name: string) => (typeof changes[name] === "number" ? changes[name] : 0)
    return {
      additions: number("add"),
      changes: number("change"),
      destructions: number("remove"),
      imports: number("import"),
    }
  } catch {
    return undefined
  }
}
