// Terms of the tokens that a role creates, shared by all kinds of roles. Null means that the role sets no value: the lifetimes of the auth
// method apply, and those of the system above them.
import { rootPolicyName } from "../../core/access.ts"
import type { Fault } from "../../core/errors.ts"
import { secondMs } from "../../core/time.ts"
import { policyNameFaults } from "../policies/policy.ts"
import { maxTokenCount, maxTokenTtlMs } from "../service-tokens/token-limits.ts"
import { parseBound } from "./address-bounds.ts"

/** All values have the same effect, because there are only service tokens. */
export type TokenType = "default" | "default-service" | "service"

export interface TokenTerms {
  /** Lifetime of a token; the method's default if null. Whole seconds, like all durations here. */
  readonly ttlMs: number | null
  /**
   * Maximum lifetime from the login, across renewals. The method's maximum if null, and never longer. Does not apply to periodic tokens.
   */
  readonly maxTtlMs: number | null
  /** Maximum lifetime from the login, for periodic tokens too. */
  readonly explicitMaxTtlMs: number | null
  /** Lifetime after each renewal. The number of renewals is unlimited. */
  readonly periodMs: number | null
  /** In lower case. The policies need not exist before a login. Never `root`. */
  readonly policies: readonly string[]
  /** Ranges or single addresses that the token can be used from; any address if empty. */
  readonly boundCidrs: readonly string[]
  readonly noDefaultPolicy: boolean
  /** 0 means unlimited. */
  readonly numUses: number
  readonly tokenType: TokenType
}

export const initialTokenTerms: TokenTerms = {
  ttlMs: null,
  maxTtlMs: null,
  explicitMaxTtlMs: null,
  periodMs: null,
  policies: [],
  boundCidrs: [],
  noDefaultPolicy: false,
  numUses: 0,
  tokenType: "default",
}

const maxPolicies = 100
const maxBounds = 100

/** Returns the faults of changed terms. Fields have their names in `TokenTerms`; details have those of the wire. */
export function tokenTermsFaults(terms: TokenTerms): Fault[] {
  const { ttlMs, maxTtlMs, policies, boundCidrs, numUses } = terms
  const faults: Fault[] = []
  const addFault = (field: keyof TokenTerms, detail: string) => void faults.push({ field: [field], detail })
  for (const [field, name] of ttlNames) {
    const value = terms[field]
    const isLifetime =
      value === null ||
      (Number.isSafeInteger(value) && value >= secondMs && value % secondMs === 0 && value <= maxTokenTtlMs)
    if (!isLifetime) addFault(field, `${name} must be a whole number of seconds from 1 to ${maxTokenTtlMs / secondMs}`)
  }
  if (ttlMs !== null && maxTtlMs !== null && ttlMs > maxTtlMs)
    addFault("ttlMs", "token_ttl must not be longer than token_max_ttl")
  if (policies.length > maxPolicies)
    addFault("policies", `token_policies has too many names (maximum is ${maxPolicies})`)
  else
    for (const name of policies) {
      if (name === rootPolicyName) addFault("policies", 'token_policies must not contain "root"')
      else if (policyNameFaults(name).length > 0)
        addFault("policies", `token_policies contains "${name}", which is not a valid policy name`)
    }
  if (boundCidrs.length > maxBounds)
    addFault("boundCidrs", `token_bound_cidrs has too many entries (maximum is ${maxBounds})`)
  else
    for (const bound of boundCidrs.filter((text) => parseBound(text) === undefined))
      addFault("boundCidrs", `token_bound_cidrs contains "${bound}", which is not a valid address or CIDR range`)
  if (!Number.isSafeInteger(numUses) || numUses < 0 || numUses > maxTokenCount)
    addFault("numUses", `token_num_uses must be an integer from 0 to ${maxTokenCount}`)
  return faults
}

const ttlNames = [
  ["ttlMs", "token_ttl"],
  ["maxTtlMs", "token_max_ttl"],
  ["explicitMaxTtlMs", "token_explicit_max_ttl"],
  ["periodMs", "token_period"],
] as const
