// Decides whether the policies of a connection permit a use of the engine.
import type { ConnectionPolicies } from "../../api/connection-policy.ts"
import { selects } from "../../kube/kubernetes-object.ts"

/** Use of an engine by an object: a mount and a role in it, or an organization and a project in it. */
export type EngineUse =
  | {
      readonly mount: string
      readonly role?: string
      /** More than issuance by a role: the mount itself, or its authorities. */
      readonly isWhole?: boolean
    }
  /** `project` is undefined if the object names none. */
  | { readonly organization: string; readonly project: string | undefined }

export interface UsingNamespace {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

/** Undefined policies permit everything. The namespace is undefined for a cluster-scoped object, for which the entries of all namespaces count. */
export const permits = (policies: ConnectionPolicies, use: EngineUse, namespace: UsingNamespace | undefined): boolean =>
  policies === undefined ||
  policies.some((policy) => {
    if (namespace !== undefined && policy.namespaces !== undefined && !includes(policy.namespaces, namespace))
      return false
    if ("mount" in use)
      return (
        matches(policy.mounts ?? [], use.mount) &&
        (policy.roles === undefined ||
          (use.isWhole !== true && (use.role === undefined || matches(policy.roles, use.role))))
      )
    return (
      matches(policy.organizations ?? [], use.organization) &&
      (policy.projects === undefined || (use.project !== undefined && matches(policy.projects, use.project)))
    )
  })

export function describeUse(use: EngineUse): string {
  if ("mount" in use && use.isWhole === true) return `the mount ${use.mount} as a whole`
  if ("mount" in use)
    return use.role === undefined ? `the mount ${use.mount}` : `the role ${use.role} of the mount ${use.mount}`
  const { organization, project } = use
  return project === undefined
    ? `the organization ${organization} without a project by name`
    : `the project ${project} of the organization ${organization}`
}

/** Namespaces by name or by label. Without both, none. */
export interface NamespaceSelection {
  readonly matchNames?: readonly string[] | undefined
  readonly labelSelector?:
    | {
        readonly matchLabels?: Readonly<Record<string, string>> | undefined
        readonly matchExpressions?:
          | readonly {
              readonly key: string
              readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist"
              readonly values?: readonly string[] | undefined
            }[]
          | undefined
      }
    | undefined
}

export function includes(selection: NamespaceSelection | undefined, { name, labels }: UsingNamespace): boolean {
  const { matchNames = [], labelSelector } = selection ?? {}
  if (matchNames.includes("*") || matchNames.includes(name)) return true
  if (labelSelector === undefined) return false
  const { matchLabels, matchExpressions = [] } = labelSelector
  return selects(
    {
      ...(matchLabels === undefined ? {} : { matchLabels }),
      matchExpressions: matchExpressions.map(({ key, operator, values = [] }) => ({ key, operator, values })),
    },
    labels,
  )
}

const matches = (patterns: readonly string[], text: string): boolean =>
  patterns.some((pattern) => matchesPattern(pattern, text))

/** Not a regular expression, whose time could grow exponentially with the number of asterisks. */
function matchesPattern(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*")
  const last = rest.pop()
  if (last === undefined) return pattern === text
  if (!text.startsWith(first)) return false
  let from = first.length
  for (const part of rest) {
    const at = text.indexOf(part, from)
    if (at === -1) return false
    from = at + part.length
  }
  return text.length - last.length >= from && text.endsWith(last)
}
