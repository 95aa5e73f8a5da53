// Settings of EST (RFC 7030) of a mount: Vault's, and `manualApproval`, which Vault does not have (docs/est.md).
import type { Fault } from "../../core/errors.ts"
import type { Instant } from "../../core/time.ts"
import { type DirectoryPolicy, parseDirectoryPolicy } from "../mounts/acme-settings.ts"
import type { Role } from "../roles/role.ts"

/** Auth methods that verify the credentials of devices. An empty accessor disables that kind of credentials. */
export interface EstAuthenticators {
  readonly userpass: { readonly accessor: string }
  readonly cert: {
    readonly accessor: string
    /** Role of the auth method that the certificate must match. Empty: any. */
    readonly role: string
  }
}

export interface EstSettings {
  readonly enabled: boolean
  /** Serve `/.well-known/est` without a label. Only one mount of the server can. */
  readonly defaultMount: boolean
  /** Policy text of paths without a label or a role; empty: such paths are not served. */
  readonly defaultPathPolicy: string
  /** Policy texts by label: `/.well-known/est/<label>`. A label belongs to one mount of the server. */
  readonly labelToPathPolicy: Readonly<Record<string, string>>
  readonly authenticators: EstAuthenticators
  /** Stored and returned: there are no Sentinel policies. */
  readonly enableSentinelParsing: boolean
  /** Fields of CSRs that the audit log contains. */
  readonly auditFields: readonly EstAuditField[]
  /** Policy texts whose requests wait for an approval. The single entry `*`: all. */
  readonly manualApproval: readonly string[]
  readonly lastUpdated: Instant | null
}

/** Fields of CSRs that Vault can log. */
export const estAuditFields = [
  "csr",
  "common_name",
  "alt_names",
  "ip_sans",
  "uri_sans",
  "other_sans",
  "signature_bits",
  "exclude_cn_from_sans",
  "ou",
  "organization",
  "country",
  "locality",
  "province",
  "street_address",
  "postal_code",
  "serial_number",
  "use_pss",
  "key_type",
  "key_bits",
  "add_basic_constraints",
] as const
export type EstAuditField = (typeof estAuditFields)[number]

export const defaultEstSettings: EstSettings = {
  enabled: false,
  defaultMount: false,
  defaultPathPolicy: "",
  labelToPathPolicy: {},
  authenticators: { userpass: { accessor: "" }, cert: { accessor: "", role: "" } },
  enableSentinelParsing: false,
  auditFields: ["common_name", "alt_names", "ip_sans", "uri_sans", "serial_number", "key_type", "key_bits"],
  manualApproval: [],
  lastUpdated: null,
}

/** Decides the contents of the certificates of a path. EST has no `forbid`. */
export type PathPolicy = Exclude<DirectoryPolicy, { readonly kind: "forbid" }>

/** Returns undefined if the text is not a path policy. */
export function parsePathPolicy(text: string): PathPolicy | undefined {
  const policy = parseDirectoryPolicy(text)
  return policy?.kind === "forbid" ? undefined : policy
}

export function formatPathPolicy(policy: PathPolicy): string {
  switch (policy.kind) {
    case "role":
      return `role:${policy.role}`
    case "external-policy":
      return policy.policy === undefined ? "external-policy" : `external-policy:${policy.policy}`
    default:
      return policy.kind
  }
}

/** Returns the path of a policy's operations below the mount. Policies of the certificate API grant it. */
export function pathOfPolicy(policy: PathPolicy): string {
  switch (policy.kind) {
    case "role":
      return `roles/${policy.role}/est`
    case "external-policy":
      return policy.policy === undefined ? "external-policy/est" : `external-policy/${policy.policy}/est`
    default:
      return "est"
  }
}

export const needsApproval = ({ manualApproval }: Pick<EstSettings, "manualApproval">, policy: PathPolicy): boolean =>
  manualApproval.includes("*") || manualApproval.includes(formatPathPolicy(policy))

/** Labels that the mount registers below `/.well-known/est`; the empty one is the path without a label. */
export const registeredLabels = ({ enabled, defaultMount, labelToPathPolicy }: EstSettings): readonly string[] =>
  enabled ? [...(defaultMount ? [""] : []), ...Object.keys(labelToPathPolicy)] : []

export interface EstContext {
  readonly mountPath: string
  readonly roles: ReadonlyMap<string, Role>
  /** Accessors that `delegated_auth_accessors` of the mount allows. */
  readonly delegatedAuthAccessors: readonly string[]
  /** Returns the type of the auth method with this accessor. */
  readonly typeOf: (accessor: string) => string | undefined
}

const maxLabels = 100
/** One segment of a URL, and none of the names of operations. */
const labelPattern = /^[A-Za-z0-9_~][A-Za-z0-9._~-]{0,63}$/
export const estOperations = ["cacerts", "simpleenroll", "simplereenroll", "serverkeygen", "csrattrs"] as const
export type EstOperation = (typeof estOperations)[number]
/** RFC 7030, section 4.3, makes it optional. */
const unsupportedOperations = ["fullcmc"]

/** Returns the faults of the settings that a change would result in. */
export function estSettingsFaults(settings: EstSettings, context: EstContext): Fault[] {
  const { defaultMount, defaultPathPolicy, labelToPathPolicy, authenticators, manualApproval } = settings
  const faults: Fault[] = []
  const addFault = (field: keyof EstSettings, detail: string) => void faults.push({ field: [field], detail })
  if (defaultMount && defaultPathPolicy === "")
    addFault("defaultPathPolicy", '"default_path_policy" is required if "default_mount" is true')
  if (defaultPathPolicy !== "") {
    const problem = policyProblem(defaultPathPolicy, context)
    if (problem !== undefined) addFault("defaultPathPolicy", `"default_path_policy" ${problem}`)
  }
  const labels = Object.entries(labelToPathPolicy)
  if (labels.length > maxLabels)
    addFault("labelToPathPolicy", `"label_to_path_policy" has too many labels (maximum is ${maxLabels})`)
  for (const [label, policy] of labels.slice(0, maxLabels)) {
    const problem = labelProblem(label) ?? policyProblem(policy, context)
    if (problem !== undefined)
      addFault("labelToPathPolicy", `"label_to_path_policy" has the label ${JSON.stringify(label)}: ${problem}`)
  }
  for (const [kind, type] of [
    ["userpass", "userpass"],
    ["cert", "cert"],
  ] as const) {
    const problem = accessorProblem(authenticators[kind].accessor, type, context)
    if (problem !== undefined) addFault("authenticators", `"authenticators" ${kind}: ${problem}`)
  }
  for (const text of manualApproval)
    if (text !== "*" && parsePathPolicy(text) === undefined)
      addFault("manualApproval", `"manual_approval" has ${JSON.stringify(text)}, which is not a path policy`)
  return faults
}

function labelProblem(label: string): string | undefined {
  if (!labelPattern.test(label))
    return "a label must be 1 to 64 letters, digits and the characters . _ ~ - and must not begin with . or -"
  return [...estOperations, ...unsupportedOperations].includes(label)
    ? "the name of an operation cannot be a label"
    : undefined
}

function policyProblem(text: string, { roles }: EstContext): string | undefined {
  const policy = parsePathPolicy(text)
  if (policy === undefined)
    return 'must be "sign-verbatim", "role:<name>", "external-policy" or "external-policy:<policy>"'
  if (policy.kind !== "role") return undefined
  const role = roles.get(policy.role)
  if (role === undefined) return `names the role ${policy.role}, which does not exist`
  return role.noStore
    ? `names the role ${policy.role}, whose no_store is true; EST requires stored certificates`
    : undefined
}

function accessorProblem(
  accessor: string,
  type: string,
  { delegatedAuthAccessors, mountPath, typeOf }: EstContext,
): string | undefined {
  if (accessor === "") return undefined
  const found = typeOf(accessor)
  if (found !== type) return `no auth method of type ${type} has the accessor ${JSON.stringify(accessor)}`
  return delegatedAuthAccessors.includes(accessor)
    ? undefined
    : `the mount does not allow the accessor; add ${accessor} to delegated_auth_accessors of ${mountPath}`
}
