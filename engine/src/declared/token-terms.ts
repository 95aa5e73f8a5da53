// Terms of the tokens of a login as declared members, which all kinds of users and roles share. Null and `0s` both mean that the role sets
// no lifetime.
import { policyNameOf } from "../access/policies/policy.ts"
import { initialTokenTerms, type TokenTerms, type TokenType } from "../access/logins/token-terms.ts"
import { authMethodPathFaults } from "../access/logins/auth-method.ts"
import { tokenTermsMembers } from "../contracts/vault/token-terms.ts"
import type { Fault } from "../core/errors.ts"
import { formatDuration, parseDuration } from "../core/time.ts"
import { mountPathOf } from "../pki/mounts/mount.ts"
import { contractMembers } from "./contract-members.ts"
import { type Member, type Members, required } from "./members.ts"
import { declaredFaults, sameMountPath } from "./pki-values.ts"
import { sameDuration, sameSet, sameText, type SameValue } from "./same-value.ts"
import { duration, type MemberType, oneOf, orNull, text, texts } from "./types.ts"

/** Names of the members, by their names in the engine. They are those of the API in camelCase. */
export const tokenTermNames = {
  ttlMs: "tokenTtl",
  maxTtlMs: "tokenMaxTtl",
  explicitMaxTtlMs: "tokenExplicitMaxTtl",
  periodMs: "tokenPeriod",
  policies: "tokenPolicies",
  boundCidrs: "tokenBoundCidrs",
  noDefaultPolicy: "tokenNoDefaultPolicy",
  numUses: "tokenNumUses",
  tokenType: "tokenType",
} as const satisfies Readonly<Record<keyof TokenTerms, string>>

/** Terms in force. Durations are strings; null means that the auth method decides. */
export interface DeclaredTokenTerms {
  readonly tokenTtl: string | null
  readonly tokenMaxTtl: string | null
  readonly tokenExplicitMaxTtl: string | null
  readonly tokenPeriod: string | null
  readonly tokenPolicies: readonly string[]
  readonly tokenBoundCidrs: readonly string[]
  readonly tokenNoDefaultPolicy: boolean
  readonly tokenNumUses: number
  readonly tokenType: TokenType
}

const sameOptionalDuration: SameValue = (a, b) => sameDuration(a ?? "0s", b ?? "0s")

const optionalDuration: MemberType<string | null> = {
  ...orNull(duration),
  same: sameOptionalDuration,
  toEngine: (value) => (value === null ? null : parseDuration(value) || null),
  fromEngine: (value) => formatDuration(value as number),
}

const folded = (names: unknown): unknown =>
  Array.isArray(names) ? names.map((name) => policyNameOf(String(name))) : names

/** Policies are compared and stored in lower case, as the server does. */
const policies = texts(128, {
  same: (a, b) => sameSet(folded(a), folded(b)),
  toEngine: (names) => [...new Set(names.map(policyNameOf))].toSorted(),
})

/** Types of the terms for `contractMembers`. */
export const tokenTermTypes = {
  ttlMs: optionalDuration,
  maxTtlMs: optionalDuration,
  explicitMaxTtlMs: optionalDuration,
  periodMs: optionalDuration,
  policies,
  boundCidrs: texts(64),
  tokenType: oneOf("default", "default-service", "service"),
}

const terms = contractMembers(tokenTermsMembers, {
  renamed: tokenTermNames,
  types: tokenTermTypes,
  defaults: initialTokenTerms,
})

/** Describes lifetimes as declared: the API has 0 where declarations have null or `0s`. */
export const withoutZeros = (members: Members): Members =>
  Object.fromEntries(
    Object.entries(members).map(([name, member]): readonly [string, Member<unknown>] => [
      name,
      member.same === sameOptionalDuration
        ? { ...member, description: member.description.replace(/\b0: /, "Null or `0s`: ") }
        : member,
    ]),
  )

export const tokenTermMembers: Members = withoutZeros(terms.members)

export const tokenTermsToEngine = (spec: object): Partial<TokenTerms> => terms.toEngine(spec)

export const tokenTermsFromEngine = (from: TokenTerms): DeclaredTokenTerms =>
  terms.fromEngine(from) as unknown as DeclaredTokenTerms

/** Names of parameters of the API as declared, such as `tokenTtl`. */
const memberNames = new Map(
  Object.entries(tokenTermsMembers).map(([field, { wireName }]) => [
    wireName,
    tokenTermNames[field as keyof TokenTerms],
  ]),
)

/** Returns faults of the engine with declared names in field and text. */
export const tokenTermFaults = (
  faults: readonly Fault[],
  memberOf: (inside: string) => string | undefined,
): readonly Fault[] =>
  declaredFaults(faults, memberOf).map((fault) => ({
    ...fault,
    detail: fault.detail.replaceAll(/\btoken_[a-z_]+/g, (name) => memberNames.get(name) ?? name),
  }))

export const tokenTermNameOf = (field: string): string | undefined => terms.nameOf(field)

export const authMethodMember = required(text, "Path of the auth method, below `auth/`.", {
  same: sameMountPath,
  forcesReplacement: true,
  example: "devices",
})

export const authMethodMemberFaults = (member: string, path: string): readonly Fault[] =>
  authMethodPathFaults(mountPathOf(path)).map(({ detail }) => ({
    field: [member],
    detail: detail.replace(/^path/, member),
  }))

/** Users and roles of auth methods have names in lower case. */
export const sameFoldedName: SameValue = (a, b) => sameText(lowerCase(a), lowerCase(b))

const lowerCase = (value: unknown): unknown => (typeof value === "string" ? value.toLowerCase() : value)
