// Label selectors of the Kubernetes API (`metav1.LabelSelector`): all of it must hold; an empty one selects everything.

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly {
    readonly key: string
    readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist"
    readonly values?: readonly string[]
  }[]
}

export function selects(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Readonly<Record<string, string>>,
): boolean {
  if (!Object.entries(matchLabels).every(([key, value]) => labels[key] === value)) return false
  return matchExpressions.every(({ key, operator, values = [] }) => {
    const value = labels[key]
    switch (operator) {
      case "In":
        return value !== undefined && values.includes(value)
      case "NotIn":
        return value === undefined || !values.includes(value)
      case "Exists":
        return value !== undefined
      case "DoesNotExist":
        return value === undefined
      default:
        return unreachable(operator)
    }
  })
}

const unreachable = (operator: never): never => {
  throw new Error(`a label selector has the operator ${String(operator)}`)
}
