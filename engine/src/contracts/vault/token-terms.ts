// The `token_*` members that roles of all auth methods have. Answers contain all of them; 0 and empty lists are defaults.
import { policyNameOf } from "../../access/policies/policy.ts"
import type { TokenType } from "../../access/logins/token-terms.ts"
import { z } from "zod"
import { parameter } from "./record.ts"
import {
  flag,
  integer,
  mapped,
  mistyped,
  type ParameterType,
  problem,
  seconds,
  stringMap,
  texts,
  unsupported,
  zeroAsNull,
} from "./types.ts"

const tokenTypes: readonly TokenType[] = ["default", "default-service", "service"]

export const tokenType: ParameterType<TokenType> = {
  schema: z.codec(z.unknown(), z.custom<TokenType>(), {
    decode: (value, context) =>
      value === "batch" || value === "default-batch"
        ? problem(context, value, `must not be "${value}": all tokens are service tokens`)
        : (tokenTypes.find((one) => one === (value === "" ? "default" : value)) ?? mistyped(context, value)),
    encode: (value) => value,
  }),
  expected: '"default", "default-service" or "service"',
  type: "string",
}

export const optionalDuration = zeroAsNull(seconds)

/** Distinct names in lower case, sorted. */
export const policyNames = mapped(
  texts,
  (names): readonly string[] => [...new Set(names.map(policyNameOf))].toSorted(),
  (names) => names,
)
/** Parameters of `TokenTerms`, for records of roles. */
export const tokenTermsMembers = {
  ttlMs: parameter(optionalDuration, "Lifetime of tokens. 0: that of the auth method.", {
    wireName: "token_ttl",
    example: "1h",
  }),
  maxTtlMs: parameter(optionalDuration, "Maximum lifetime of tokens, from the login on. 0: that of the auth method.", {
    wireName: "token_max_ttl",
    example: "24h",
  }),
  explicitMaxTtlMs: parameter(optionalDuration, "Maximum lifetime of tokens, with a period too. 0: none.", {
    wireName: "token_explicit_max_ttl",
    example: "24h",
  }),
  periodMs: parameter(optionalDuration, "Each renewal lasts this long, any number of times. 0: none.", {
    wireName: "token_period",
    example: "1h",
  }),
  policies: parameter(policyNames, "Policies of tokens.", { wireName: "token_policies", example: ["web"] }),
  boundCidrs: parameter(texts, "Ranges of addresses that tokens can be used from. Empty: any.", {
    wireName: "token_bound_cidrs",
    example: ["10.0.0.0/8"],
  }),
  noDefaultPolicy: parameter(flag, "Leave out the policy default.", { wireName: "token_no_default_policy" }),
  numUses: parameter(integer, "Requests that a token is good for. 0: any number.", {
    wireName: "token_num_uses",
    example: 10,
  }),
  tokenType: parameter(tokenType, "Type of tokens, which are service tokens in any case.", {
    wireName: "token_type",
    example: "service",
  }),
}

/** Vault's `alias_metadata` and OpenBao's `token_strictly_bind_ip`. */
export const unsupportedTerms = {
  aliasMetadata: parameter(unsupported(stringMap, ": tokens have no entity alias"), "Not supported."),
  tokenStrictlyBindIp: parameter(
    unsupported(flag, '; use "token_bound_cidrs"'),
    "Not supported: use token_bound_cidrs.",
  ),
}
