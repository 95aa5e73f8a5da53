// The well-known URI of EST (RFC 7030, section 3.2.2). It leads to the mount that has registered the label, as in Vault.
import { estOperations, type PathPolicy, pathOfPolicy } from "../../pki/est/est-settings.ts"
import type { FindEstLabel } from "../../pki/est/est.ts"

const prefix = "/.well-known/est/"

export interface EstTarget {
  /** Path below `/v1`. */
  readonly path: string
  /** Empty without a label. */
  readonly label: string
}

/** Returns undefined if no mount serves the path. */
export async function findEstTarget(findLabel: FindEstLabel, path: string): Promise<EstTarget | undefined> {
  const segments = path.slice(prefix.length).split("/")
  const [operation = ""] = segments.slice(-1)
  const [label = ""] = segments.length > 1 ? segments : []
  if (segments.length > 2 || (segments.length === 2 && label === "") || !isOperation(operation)) return undefined
  const found = await findLabel(label)
  return found && { path: `/v1/${found.mountPath}/${pathOfPolicy(encoded(found.policy))}/${operation}`, label }
}

/** Names of policies may have characters that separate the segments of a path. */
const encoded = (policy: PathPolicy): PathPolicy =>
  policy.kind === "external-policy" && policy.policy !== undefined
    ? { ...policy, policy: encodeURIComponent(policy.policy) }
    : policy

const isOperation = (text: string): boolean => (estOperations as readonly string[]).includes(text)
