// Parses enough of PromQL to find the metrics and labels that an expression names; promtool checks its syntax.

export interface Matcher {
  readonly label: string
  readonly operator: string
  readonly value: string
}

export interface Named {
  readonly metrics: readonly { readonly name: string; readonly matchers: readonly Matcher[] }[]
  /** Labels of `by`, `on` and similar clauses. */
  readonly groupings: readonly string[]
}

const grouping = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g
const keywords = new Set(["and", "or", "unless", "bool", "offset", "by", "without", "on", "ignoring"])

export function namedIn(expression: string): Named {
  const groupings = [...expression.matchAll(grouping)].flatMap(([, labels = ""]) =>
    labels
      .split(",")
      .map((label) => label.trim())
      .filter((label) => label !== ""),
  )
  const bare = expression.replaceAll(grouping, " ").replaceAll(/\[[^\]]*\]/g, " ")
  const metrics = [...bare.matchAll(/(?<![\w.$"])([a-zA-Z_:][\w:]*)(?:\{((?:[^}"]|"(?:[^"\\]|\\.)*")*)\})?(\s*\()?/g)]
    .filter(([, name = "", , call]) => call === undefined && !keywords.has(name))
    .map(([, name = "", inside = ""]) => ({
      name,
      matchers: [...inside.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g)].map(
        ([, label = "", operator = "", value = ""]) => ({ label, operator, value }),
      ),
    }))
  return { metrics, groupings }
}
