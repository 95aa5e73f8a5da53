// The `token_*` members that roles of every auth method have. What a role is read back with has all of them; 0 and the empty list
// are nothing said.
import type { TokenTerms, TokenType } from "../../pki/logins/token-terms.ts"
import { policyNameOf } from "../../pki/access/policy.ts"
import {
  type Document,
  durationSeconds,
  encodeMembers,
  flag,
  integer,
  type Kind,
  pairs,
  parameters,
  Problem,
  texts,
  unsupported,
} from "./parameters.ts"

const tokenTypes: readonly TokenType[] = ["default", "default-service", "service"]

export const tokenType: Kind<TokenType> = {
  decode: (value) =>
    value === "batch" || value === "default-batch"
      ? new Problem(`must not be "${value}": every token here is a service token`)
      : tokenTypes.find((one) => one === (value === "" ? "default" : value)),
  encode: (value) => value,
  expected: '"default", "default-service" or "service"',
  type: "string",
}

/** 0, or nothing, is null. */
export const optionalDuration: Kind<number | null> = {
  decode: (value) => {
    const read = durationSeconds.decode(value)
    return read === 0 ? null : read
  },
  encode: (value, dialect) => (value === null ? 0 : durationSeconds.encode(value, dialect)),
  expected: durationSeconds.expected,
  type: "duration (sec)",
}

/** In lower case, each once. */
export const policyNames: Kind<readonly string[]> = {
  ...texts,
  decode: (value) => {
    const read = texts.decode(value)
    return Array.isArray(read) ? [...new Set(read.map(policyNameOf))].toSorted() : read
  },
}

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
