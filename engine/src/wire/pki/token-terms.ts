// The `token_*` members that roles of every auth method have. What a role is read back with has all of them; 0 and the empty list
// are nothing said.
import type { TokenTerms } from "../../pki/logins/token-terms.ts"
import * as terms from "../../contracts/vault/token-terms.ts"
import {
  type Document,
  encodeMembers,
  flag,
  integer,
  kindOf,
  pairs,
  parameters,
  texts,
  unsupported,
} from "./parameters.ts"

export const tokenType = kindOf(terms.tokenType)
/** 0, or nothing, is null. */
export const optionalDuration = kindOf(terms.optionalDuration)
/** In lower case, each once. */
export const policyNames = kindOf(terms.policyNames)

/** Of `TokenTerms`, for the tables of roles: `parameters({ ...tokenTermsKinds, … }, { ...tokenTermsNames, … })`. */
export const tokenTermsKinds = {
  ttlMs: optionalDuration,
  maxTtlMs: optionalDuration,
  explicitMaxTtlMs: optionalDuration,
  periodMs: optionalDuration,
  policies: policyNames,
  boundCidrs: texts,
  noDefaultPolicy: flag,
  numUses: integer,
  tokenType,
}

/** Their names on the wire; for the faults that rules find as well (`ApiRoute.wireNames`). */
export const tokenTermsNames = {
  ttlMs: "token_ttl",
  maxTtlMs: "token_max_ttl",
  explicitMaxTtlMs: "token_explicit_max_ttl",
  periodMs: "token_period",
  policies: "token_policies",
  boundCidrs: "token_bound_cidrs",
  noDefaultPolicy: "token_no_default_policy",
  numUses: "token_num_uses",
  tokenType: "token_type",
} as const

/** Vault's `alias_metadata` and OpenBao's `token_strictly_bind_ip`. */
export const unsupportedTerms = {
  aliasMetadata: unsupported(pairs, ": tokens have no entity alias"),
  tokenStrictlyBindIp: unsupported(flag, ': use "token_bound_cidrs"'),
}

const tokenTermsParameters = parameters(tokenTermsKinds, tokenTermsNames)

export const encodeTokenTerms = (terms: TokenTerms): Document => encodeMembers(tokenTermsParameters, terms, "native")
