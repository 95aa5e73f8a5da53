// Access to the certificate API: the path rules of a caller's policies, compiled when the caller is resolved and evaluated at each
// request. A denied request answers 403 here, 404 on `/api/v2` (docs/decisions/tokens-and-policies.md).
import { forbidden } from "./errors.ts"

/** What a policy can grant on a path. `sudo` adds to another one on the few paths that ask for it; `deny` takes all away. */
export const capabilities = ["create", "read", "update", "patch", "delete", "list", "sudo", "deny"] as const
export type Capability = (typeof capabilities)[number]

/** The policy that allows everything; site administrators hold it, and service tokens that a holder gives it to. */
export const rootPolicyName = "root"
/** The policy that service tokens hold unless they are made without it. */
export const defaultPolicyName = "default"

/**
 * One path with what it grants, without a leading slash. The path is exact, unless it ends in `*`, which stands for whatever
 * follows, or has segments `+`, each of which stands for one segment.
 */
export interface PathRule {
  readonly path: string
  readonly capabilities: readonly Capability[]
}

export type AccessRules =
  | { readonly kind: "everything"; readonly policies: readonly string[] }
  | {
      readonly kind: "paths"
      /** The names of the policies these rules come from, sorted. */
      readonly policies: readonly string[]
      readonly exact: ReadonlyMap<string, ReadonlySet<Capability>>
      /** The most specific one first. */
      readonly patterns: readonly PathPattern[]
    }

export interface PathPattern {
  readonly path: string
  /** `+` among them stands for any one. */
  readonly segments: readonly string[]
  /** The last segment is only the beginning of what it matches, and more segments may follow. */
  readonly open: boolean
  readonly granted: ReadonlySet<Capability>
}

export const fullAccess: AccessRules = { kind: "everything", policies: [rootPolicyName] }
export const noAccess: AccessRules = { kind: "paths", policies: [], exact: new Map(), patterns: [] }

/** Rules of several policies for the same path unite; a `deny` among them is all that is left. */
export function compileAccess(
  policies: readonly { readonly name: string; readonly rules: readonly PathRule[] }[],
): AccessRules {
  const names = [...new Set(policies.map(({ name }) => name))].toSorted()
  if (names.includes(rootPolicyName)) return { kind: "everything", policies: names }
  const united = new Map<string, Set<Capability>>()
  for (const { rules } of policies) {
    for (const rule of rules) {
      const granted = united.get(rule.path) ?? new Set()
      for (const capability of rule.capabilities) granted.add(capability)
      united.set(rule.path, granted)
    }
  }
  const exact = new Map<string, ReadonlySet<Capability>>()
  const patterns: PathPattern[] = []
  for (const [path, all] of united) {
    const granted = all.has("deny") ? denied : all
    const pattern = patternOf(path, granted)
    if (pattern === undefined) exact.set(path, granted)
    else patterns.push(pattern)
  }
  return { kind: "paths", policies: names, exact, patterns: patterns.toSorted(mostSpecificFirst) }
}

/** A caller, as far as this API is concerned. */
export interface AccessHolder {
  readonly acl: AccessRules
}

/**
 * What a caller may do on a path, such as `pki/issue/web`. The most specific matching rule counts, and no other: an exact
 * path before any pattern. Nothing where no rule matches; only `deny` where that rule denies. A path that is listed ends in
 * a slash, and is matched by the exact path without it as well.
 */
export function capabilitiesOn({ acl }: AccessHolder, path: string): ReadonlySet<Capability> {
  if (acl.kind === "everything") return everything
  const exact = acl.exact.get(path) ?? (path.endsWith("/") ? acl.exact.get(path.slice(0, -1)) : undefined)
  if (exact !== undefined) return exact
  const segments = path.split("/")
  return acl.patterns.find((pattern) => matches(pattern, segments))?.granted ?? nothing
}

export interface PathDemand {
  /** Where the mount is, without a slash at its end; absent for paths of the system. */
  readonly mount?: string
  /** Below the mount. */
  readonly path: string
  /** Any one of several is enough. */
  readonly capability: Capability | readonly Capability[]
  /** True where `sudo` is asked for besides. */
  readonly sudo?: boolean
}

/** Throws `forbidden` unless a rule of the caller's allows it. */
export function authorizePath(caller: AccessHolder, demand: PathDemand): void {
  if (!allowsPath(caller, demand)) throw permissionDenied()
}

export function allowsPath(caller: AccessHolder, { mount, path, capability, sudo = false }: PathDemand): boolean {
  const full = mount === undefined ? path : `${mount}/${path}`
  const wanted = typeof capability === "string" ? [capability] : capability
  const granted = capabilitiesOn(caller, wanted.includes("list") && !full.endsWith("/") ? `${full}/` : full)
  return wanted.some((one) => granted.has(one)) && (!sudo || granted.has("sudo"))
}

/** Whether a caller has at least what the policy of that name gives. */
export const holdsPolicy = ({ acl }: AccessHolder, name: string): boolean =>
  acl.kind === "everything" || acl.policies.includes(name)

/** Whether any rule grants anything on a path below this one. */
export function reachesBelow({ acl }: AccessHolder, path: string): boolean {
  if (acl.kind === "everything") return true
  const grants = (granted: ReadonlySet<Capability>) => granted.size > 0 && !granted.has("deny")
  const inside = [...acl.exact].some(([exact, granted]) => exact.startsWith(`${path}/`) && grants(granted))
  const above = path.split("/")
  return inside || acl.patterns.some((pattern) => grants(pattern.granted) && leadsBelow(pattern, above))
}

function leadsBelow({ segments, open }: PathPattern, above: readonly string[]): boolean {
  const last = segments.length - 1
  for (const [index, name] of above.entries()) {
    const part = segments[index] ?? ""
    if (open && index === last && name.startsWith(part)) return true
    if (index >= last || (part !== "+" && part !== name)) return false
  }
  return true
}

/** The words that existing clients of this API look for. */
export const permissionDenied = () => forbidden("permission denied")

const everything: ReadonlySet<Capability> = new Set(capabilities.filter((capability) => capability !== "deny"))
const denied: ReadonlySet<Capability> = new Set(["deny"])
const nothing: ReadonlySet<Capability> = new Set()

function patternOf(path: string, granted: ReadonlySet<Capability>): PathPattern | undefined {
  const open = path.endsWith("*")
  const segments = (open ? path.slice(0, -1) : path).split("/")
  return open || segments.includes("+") ? { path, segments, open, granted } : undefined
}

function matches({ segments: wanted, open }: PathPattern, segments: readonly string[]): boolean {
  if (open ? segments.length < wanted.length : segments.length !== wanted.length) return false
  const last = wanted.length - 1
  return wanted.every((part, index) => {
    const segment = segments[index] ?? ""
    return part === "+" || part === segment || (open && index === last && segment.startsWith(part))
  })
}

/** The later its first wildcard, the more specific; then without `*`, then fewer `+`, then longer, then by code unit. */
function mostSpecificFirst(one: PathPattern, other: PathPattern): number {
  return (
    firstWildcard(other) - firstWildcard(one) ||
    Number(one.open) - Number(other.open) ||
    wildcardCount(one) - wildcardCount(other) ||
    other.path.length - one.path.length ||
    (one.path < other.path ? 1 : -1)
  )
}

/** In characters from the start. */
function firstWildcard({ path, segments }: PathPattern): number {
  const index = segments.indexOf("+")
  if (index < 0) return path.length - 1
  return segments.slice(0, index).reduce((length, segment) => length + segment.length + 1, 0)
}

const wildcardCount = ({ segments }: PathPattern): number => segments.filter((segment) => segment === "+").length
