// Token roles let callers create service tokens on the terms of the role, with policies that the callers need not hold themselves.
import { defaultPolicyName, rootPolicyName } from "../../core/access.ts"
import { type Fault, invalid, rejectFaults } from "../../core/errors.ts"
import { secondMs } from "../../core/time.ts"
import { anyGlob } from "../../pki/names/host-names.ts"
import { initialTokenTerms, type TokenTerms, tokenTermsFaults } from "../logins/token-terms.ts"
import { policyNameOf } from "../policies/policy.ts"

/** Terms of tokens that no login creates. Their lifetime is the one that their creator requests. */
type TokenRoleTerms = Pick<
  TokenTerms,
  "explicitMaxTtlMs" | "periodMs" | "boundCidrs" | "noDefaultPolicy" | "numUses" | "tokenType"
>

/** Token role. Policies are in lower case; in globs, `*` matches any characters. */
export interface TokenRole extends TokenRoleTerms {
  /** If this list or the globs are set, tokens have only matching policies, whatever their creator holds. */
  readonly allowedPolicies: readonly string[]
  readonly allowedPoliciesGlob: readonly string[]
  /**
   * If only these lists are set, tokens may have all other policies, whatever their creator holds. They take precedence over allowed ones.
   */
  readonly disallowedPolicies: readonly string[]
  readonly disallowedPoliciesGlob: readonly string[]
  /** True if tokens have no parent. */
  readonly orphan: boolean
  readonly renewable: boolean
  /** Appended to the path of a token; empty for none. */
  readonly pathSuffix: string
}

export interface NamedTokenRole {
  readonly name: string
  readonly role: TokenRole
}

export const initialTokenRole: TokenRole = {
  allowedPolicies: [],
  allowedPoliciesGlob: [],
  disallowedPolicies: [],
  disallowedPoliciesGlob: [],
  orphan: false,
  renewable: true,
  pathSuffix: "",
  explicitMaxTtlMs: initialTokenTerms.explicitMaxTtlMs,
  periodMs: initialTokenTerms.periodMs,
  boundCidrs: initialTokenTerms.boundCidrs,
  noDefaultPolicy: initialTokenTerms.noDefaultPolicy,
  numUses: initialTokenTerms.numUses,
  tokenType: "default-service",
}

const maxName = 255
const namePattern = /^\w(?:[\w.-]*\w)?$/
const maxSuffix = 128
const suffixPattern = /^(?:\w(?:[\w-]*\w)?)?$/
const maxList = 1_000
const maxEntry = 128

const listNames = {
  allowedPolicies: "allowed_policies",
  allowedPoliciesGlob: "allowed_policies_glob",
  disallowedPolicies: "disallowed_policies",
  disallowedPoliciesGlob: "disallowed_policies_glob",
} as const

/** Returns the faults of a role as it would be after a change. */
export function tokenRoleFaults({ name, role }: NamedTokenRole): Fault[] {
  const faults: Fault[] = []
  const addFault = (field: string, detail: string) => void faults.push({ field: [field], detail })
  if (name.length > maxName || !namePattern.test(name))
    addFault(
      "roleName",
      `role_name must have 1 to ${maxName} characters of letters, digits, _, . and -, and begin and end with a letter, a digit or _`,
    )
  for (const [field, wireName] of Object.entries(listNames) as [keyof typeof listNames, string][]) {
    const entries = role[field]
    if (entries.length > maxList) addFault(field, `${wireName} has too many entries (maximum is ${maxList})`)
    else if (entries.some((entry) => entry === "" || entry.length > maxEntry || /\p{Cc}/u.test(entry)))
      addFault(field, `${wireName} must contain names of 1 to ${maxEntry} characters`)
  }
  const { pathSuffix } = role
  if (pathSuffix.length > maxSuffix || !suffixPattern.test(pathSuffix))
    addFault(
      "pathSuffix",
      `path_suffix must have at most ${maxSuffix} characters of letters, digits, _ and -, and not begin or end with -`,
    )
  return [...faults, ...tokenTermsFaults({ ...initialTokenTerms, ...termsOf(role) })]
}

function termsOf(role: TokenRole): TokenRoleTerms {
  const { explicitMaxTtlMs, periodMs, boundCidrs, noDefaultPolicy, numUses, tokenType } = role
  return { explicitMaxTtlMs, periodMs, boundCidrs, noDefaultPolicy, numUses, tokenType }
}

/** Returns true if the role restricts policies. Otherwise the rules for tokens without a role apply. */
export const limitsPolicies = (role: TokenRole): boolean =>
  Object.keys(listNames).some((field) => role[field as keyof typeof listNames].length > 0)

/**
 * Returns the policies of a token. Throws `invalid` for a policy that the role does not allow, and for `root` unless the creator holds it.
 */
export function policiesByRole(
  role: TokenRole,
  requested: { readonly policies: readonly string[]; readonly noDefaultPolicy: boolean },
  maker: { readonly policies: readonly string[]; readonly everything: boolean },
): readonly string[] {
  const isDisallowed = anyOf(role.disallowedPolicies, role.disallowedPoliciesGlob)
  const addsDefault = !requested.noDefaultPolicy && !role.noDefaultPolicy && !isDisallowed(defaultPolicyName)
  const limited = role.allowedPolicies.length > 0 || role.allowedPoliciesGlob.length > 0
  const isListed = anyOf(role.allowedPolicies, role.allowedPoliciesGlob)
  const isAllowed = (name: string) => !limited || isListed(name) || (addsDefault && name === defaultPolicyName)
  const wanted =
    requested.policies.length > 0
      ? requested.policies.map(policyNameOf)
      : limited
        ? role.allowedPolicies
        : maker.policies
  const policyFault = (name: string, why: string): Fault => ({
    field: ["policies"],
    detail: `policies contains "${name}", ${why}`,
  })
  rejectFaults(
    wanted.flatMap((name) => [
      ...(isAllowed(name) ? [] : [policyFault(name, "which the role does not allow")]),
      ...(isDisallowed(name) ? [policyFault(name, "which the role disallows")] : []),
    ]),
  )
  if (wanted.includes(rootPolicyName)) {
    if (!maker.everything) throw invalid([policyFault(rootPolicyName, "which only a caller with root can grant")])
    return [rootPolicyName]
  }
  return [...new Set([...wanted, ...(addsDefault ? [defaultPolicyName] : [])])].toSorted()
}

function anyOf(names: readonly string[], globs: readonly string[]): (name: string) => boolean {
  const matches = anyGlob(globs)
  return (name) => names.includes(name) || matches(name)
}

/** Returns the lesser of the requested and the role's lifetime, with a warning if both are set. */
export function lesserLifetime(
  requestedMs: number | undefined,
  roleMs: number | null,
  what: string,
): { readonly ms: number | undefined; readonly warnings: readonly string[] } {
  if (requestedMs === undefined || roleMs === null) return { ms: requestedMs ?? roleMs ?? undefined, warnings: [] }
  const ms = Math.min(requestedMs, roleMs)
  const warning = `${what} specified both during creation call and in role; using the lesser value of ${ms / secondMs} seconds`
  return { ms, warnings: [warning] }
}

export interface TokenRoleRepository {
  /** Returns at most `limit` names after `after`, in order. */
  names(page: { readonly after: string; readonly limit: number }): Promise<readonly string[]>
  find(name: string): Promise<TokenRole | undefined>
  /** Inserts the role or replaces the one with its name. */
  save(role: NamedTokenRole): Promise<void>
  remove(name: string): Promise<void>
}
