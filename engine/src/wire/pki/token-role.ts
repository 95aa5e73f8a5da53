// Token roles as the public API writes them. Three members had other names before those that all roles have; either is read, the
// later one before the earlier, and both are written.
import { type Fault, invalid } from "../../core/errors.ts"
import { initialTokenRole, type TokenRole } from "../../pki/access/token-role.ts"
import {
  type Decoded,
  decodeSomeAnswer,
  type Document,
  encodeMembers,
  flag,
  parameters,
  text,
  texts,
  type ValuesOf,
} from "./parameters.ts"
import { optionalDuration, policyNames, tokenTermsKinds, tokenTermsNames, unsupportedTerms } from "./token-terms.ts"

const { explicitMaxTtlMs, periodMs, boundCidrs, noDefaultPolicy, numUses, tokenType } = tokenTermsKinds

const roleKinds = {
  allowedPolicies: policyNames,
  allowedPoliciesGlob: policyNames,
  disallowedPolicies: policyNames,
  disallowedPoliciesGlob: policyNames,
  orphan: flag,
  renewable: flag,
  pathSuffix: text,
  explicitMaxTtlMs,
  periodMs,
  boundCidrs,
  noDefaultPolicy,
  numUses,
  tokenType: { ...tokenType, decode: (value: unknown) => tokenType.decode(value === "" ? "default-service" : value) },
}
/** Of faults as well. */
export const tokenRoleNames = {
  explicitMaxTtlMs: tokenTermsNames.explicitMaxTtlMs,
  periodMs: tokenTermsNames.periodMs,
  boundCidrs: tokenTermsNames.boundCidrs,
  noDefaultPolicy: tokenTermsNames.noDefaultPolicy,
  numUses: tokenTermsNames.numUses,
  tokenType: tokenTermsNames.tokenType,
} as const
const roleParameters = parameters(roleKinds, tokenRoleNames)

const earlierNames = {
  earlierExplicitMaxTtlMs: "explicit_max_ttl",
  earlierPeriodMs: "period",
  earlierBoundCidrs: "bound_cidrs",
} as const

/** What is read of a role. */
export const tokenRoleParameters = parameters(
  {
    ...roleKinds,
    earlierExplicitMaxTtlMs: optionalDuration,
    earlierPeriodMs: optionalDuration,
    earlierBoundCidrs: texts,
    allowedEntityAliases: texts,
    tokenStrictlyBindIp: unsupportedTerms.tokenStrictlyBindIp,
  },
  { ...tokenRoleNames, ...earlierNames },
)

/** Throws `invalid` with every fault of the document. */
export function decodeTokenRoleInput({
  value,
  faults,
}: Omit<Decoded<ValuesOf<typeof tokenRoleParameters>>, "ignored">): Partial<TokenRole> {
  const { earlierExplicitMaxTtlMs, earlierPeriodMs, earlierBoundCidrs, allowedEntityAliases = [], ...named } = value
  const { tokenStrictlyBindIp: _strict, ...rest } = named
  const all: Fault[] = [...faults]
  if (allowedEntityAliases.length > 0)
    all.push({
      field: ["allowedEntityAliases"],
      detail: '"allowed_entity_aliases" is not supported: there are no entities',
    })
  if (all.length > 0) throw invalid(all)
  return {
    ...(earlierExplicitMaxTtlMs === undefined ? {} : { explicitMaxTtlMs: earlierExplicitMaxTtlMs }),
    ...(earlierPeriodMs === undefined ? {} : { periodMs: earlierPeriodMs }),
    ...(earlierBoundCidrs === undefined ? {} : { boundCidrs: earlierBoundCidrs }),
    ...rest,
  }
}

export const encodeTokenRoleInput = (input: Partial<TokenRole>): Document =>
  encodeMembers(roleParameters, input, "native")

export function encodeTokenRole(name: string, role: TokenRole): Document {
  const members = encodeMembers(roleParameters, role, "native")
  return {
    name,
    ...members,
    allowed_entity_aliases: [],
    explicit_max_ttl: members[tokenRoleNames.explicitMaxTtlMs],
    period: members[tokenRoleNames.periodMs],
    bound_cidrs: role.boundCidrs,
  }
}

export const decodeTokenRole = (data: unknown): TokenRole => ({
  ...initialTokenRole,
  ...decodeSomeAnswer(roleParameters, data),
})
