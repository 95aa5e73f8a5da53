import { initialTokenRole, type TokenRole } from "../../access/service-tokens/token-role.ts"
import { decodeAnswer, encodeMembers } from "./format/parameters.ts"
import { type Answer, contract, keyPage, keys, nothing } from "./endpoint.ts"
import { parameter, record } from "./record.ts"
import { policyNames, tokenTermsMembers, tokenType, unsupportedTerms } from "./token-terms.ts"
import { flag, substitute, text, texts, unsupported } from "./types.ts"

const { explicitMaxTtlMs, periodMs, boundCidrs, noDefaultPolicy, numUses } = tokenTermsMembers

const tokenRole = record(
  {
    allowedPolicies: parameter(policyNames, "Policies that its tokens may have. Empty, with the globs: the caller's.", {
      example: ["web"],
    }),
    allowedPoliciesGlob: parameter(policyNames, "Patterns of policies that its tokens may have.", {
      example: ["web-*"],
    }),
    disallowedPolicies: parameter(policyNames, "Policies that its tokens never have.", { example: ["admin"] }),
    disallowedPoliciesGlob: parameter(policyNames, "Patterns of policies that its tokens never have.", {
      example: ["admin-*"],
    }),
    orphan: parameter(flag, "Tokens end with no other."),
    renewable: parameter(flag, "Allow renewals."),
    pathSuffix: parameter(text, "Ends the path of its tokens, by which leases are revoked.", { example: "build" }),
    explicitMaxTtlMs: { ...explicitMaxTtlMs, alias: "explicit_max_ttl" },
    periodMs: { ...periodMs, alias: "period" },
    boundCidrs: { ...boundCidrs, alias: "bound_cidrs" },
    noDefaultPolicy,
    numUses,
    tokenType: { ...tokenTermsMembers.tokenType, type: substitute(tokenType, "", "default-service") },
  },
  {
    defaults: initialTokenRole,
    unsupported: {
      allowedEntityAliases: parameter(unsupported(texts, ": there are no entities"), "Not supported."),
      tokenStrictlyBindIp: unsupportedTerms.tokenStrictlyBindIp,
    },
  },
)

/** Answer in which members have their older names as well. */
const named: Answer<{ readonly name: string; readonly role: TokenRole }, TokenRole> = {
  kind: "data",
  encode({ name, role }) {
    const members = encodeMembers(tokenRole.table, role, "native")
    return {
      data: {
        name,
        ...members,
        allowed_entity_aliases: [],
        explicit_max_ttl: members["token_explicit_max_ttl"],
        period: members["token_period"],
        bound_cidrs: members["token_bound_cidrs"],
      },
    }
  },
  decode: ({ data }) => decodeAnswer(tokenRole.table, data),
  record: { table: tokenRole.table, constants: { allowed_entity_aliases: [] } },
}

export const tokenRoles = contract({
  list: {
    operation: "list",
    path: "/auth/token/roles",
    summary: "Lists the names of token roles.",
    rights: "list",
    body: keyPage,
    answers: keys,
  },
  get: {
    operation: "read",
    path: "/auth/token/roles/:role_name",
    summary: "Returns a token role.",
    rights: "read",
    answers: named,
  },
  save: {
    operation: "write",
    path: "/auth/token/roles/:role_name",
    summary: "Creates a token role, or changes it: parameters left out keep their values.",
    rights: "create or update",
    body: tokenRole.change,
    answers: nothing,
  },
  delete: {
    operation: "delete",
    path: "/auth/token/roles/:role_name",
    summary: "Deletes a token role. Tokens that it created are not renewed any more.",
    rights: "delete",
    answers: nothing,
  },
})
