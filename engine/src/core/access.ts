// Access to the certificate API: the path rules of a caller's policies, compiled when the caller is resolved and evaluated at each
// request. A denied request answers 403 here, 404 on `/api/v2` (docs/decisions/tokens-and-policies.md).
import { forbidden } from "./errors.ts"

/**
 * Rights that a policy grants on a path. `sudo` is required in addition to another capability on a few paths. `deny` overrides all
 * others.
 */
export const capabilities = ["create", "read", "update", "patch", "delete", "list", "sudo", "deny"] as const
export type Capability = (typeof capabilities)[number]

/** Policy that allows everything. Site administrators have it, and so do service tokens that were created with it. */
export const rootPolicyName = "root"
/** Policy of every service token that was not created without it. */
export const defaultPolicyName = "default"

/**
 * Grants capabilities on a path. The path has no leading slash. It is exact, unless it ends in `*`, which matches any continuation, or
 * has segments `+`, each of which matches one segment.
 */
export interface PathRule {
  readonly path: string
  readonly capabilities: readonly Capability[]
}

export type AccessRules =
  | { readonly kind: "everything"; readonly policies: readonly string[] }
  | {
      readonly kind: "paths"
      /** Names of the policies that these rules come from, sorted. */
      readonly policies: readonly string[]
      readonly exact: ReadonlyMap<string, ReadonlySet<Capability>>
      /** Sorted, the most specific pattern first. */
      readonly patterns: readonly PathPattern[]
    }

export interface PathPattern {
  readonly path: string
  /** Segments of the path without the final `*`. A segment `+` matches any one segment. */
  readonly segments: readonly string[]
  /** True if the path ends in `*`: the last segment is a prefix, and more segments may follow. */
  readonly open: boolean
  readonly granted: ReadonlySet<Capability>
}

export const fullAccess: AccessRules = { kind: "everything", policies: [rootPolicyName] }
export const noAccess: AccessRules = { kind: "paths", policies: [], exact: new Map(), patterns: [] }

/** Merges the rules of several policies. Capabilities on the same path are united; a `deny` removes all others. */
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

/** The part of a `Caller` that access to the certificate API depends on. */
export interface AccessHolder {
  readonly acl: AccessRules
}

/**
 * Returns the capabilities of a caller on a path such as `pki/issue/web`. Only the most specific matching rule counts; an exact path
 * precedes any pattern. Returns an empty set if no rule matches, and only `deny` if that rule denies. A path to list ends in a slash. An
 * exact rule without the slash matches it too.
 */
export function capabilitiesOn({ acl }: AccessHolder, path: string): ReadonlySet<Capability> {
  if (acl.kind === "everything") return everything
  const exact = acl.exact.get(path) ?? (path.endsWith("/") ? acl.exact.get(path.slice(0, -1)) : undefined)
  if (exact !== undefined) return exact
  const segments = path.split("/")
  return acl.patterns.find((pattern) => matches(pattern, segments))?.granted ?? nothing
}

export interface PathDemand {
  /** Path of the mount without a trailing slash; absent for system paths. */
  readonly mount?: string
  /** Path below the mount. */
  readonly path: string
  /** Required capability. Any one of several is enough. */
  readonly capability: Capability | readonly Capability[]
  /** True if `sudo` is required in addition. */
  readonly sudo?: boolean
}

/** Throws `forbidden` unless a rule of the caller allows the access. */
export function authorizePath(caller: AccessHolder, demand: PathDemand): void {
  if (!allowsPath(caller, demand)) throw permissionDenied()
}

export function allowsPath(caller: AccessHolder, { mount, path, capability, sudo = false }: PathDemand): boolean {
  const full = mount === undefined ? path : `${mount}/${path}`
  const wanted = typeof capability === "string" ? [capability] : capability
  const granted = capabilitiesOn(caller, wanted.includes("list") && !full.endsWith("/") ? `${full}/` : full)
  return wanted.some((one) => granted.has(one)) && (!sudo || granted.has("sudo"))
}

/** Returns true if the caller has the named policy or full access. */
export const holdsPolicy = ({ acl }: AccessHolder, name: string): boolean =>
  acl.kind === "everything" || acl.policies.includes(name)

/** Returns true if a rule grants anything on a path below this one. */
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

/** Vault clients match this text. */
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

/** Orders as Vault does: a later first wildcard, no `*`, fewer `+`, a longer path, then the greater path by code unit. */
function mostSpecificFirst(one: PathPattern, other: PathPattern): number {
  return (
    firstWildcard(other) - firstWildcard(one) ||
    Number(one.open) - Number(other.open) ||
    wildcardCount(one) - wildcardCount(other) ||
    other.path.length - one.path.length ||
    (one.path < other.path ? 1 : -1)
  )
}

/** Returns the position of the first wildcard, in characters from the start. */
function firstWildcard({ path, segments }: PathPattern): number {
  const index = segments.indexOf("+")
  if (index < 0) return path.length - 1
  return segments.slice(0, index).reduce((length, segment) => length + segment.length + 1, 0)
}

const wildcardCount = ({ segments }: PathPattern): number => segments.filter((segment) => segment === "+").length
