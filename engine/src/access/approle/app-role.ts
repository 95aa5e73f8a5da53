// AppRole: a program with the role id and a secret id gets a token with the role's policies. Rules as in Vault: a change keeps members
// that it leaves out, and a role needs at least one constraint besides the role id
// (https://developer.hashicorp.com/vault/api-docs/auth/approle).
import { type Fault, rejectFaults, unprocessable } from "../../core/errors.ts"
import { secondMs } from "../../core/time.ts"
import { maxTokenCount } from "../service-tokens/token-limits.ts"
import { isWithinBound, parseBound } from "../logins/address-bounds.ts"
import { initialTokenTerms, type TokenTerms, tokenTermsFaults } from "../logins/token-terms.ts"

export interface AppRole {
  /** In lower case, because names are case-insensitive. */
  readonly name: string
  /** Identifies the role in a login. Unique within the auth method. */
  readonly roleId: string
  /** True if a login requires a secret id. */
  readonly bindSecretId: boolean
  /** Ranges or addresses that a login may come from; any address if empty. */
  readonly secretIdBoundCidrs: readonly string[]
  /** Uses of a secret id, unless fewer are requested; 0 means unlimited. */
  readonly secretIdNumUses: number
  /** Lifetime of a secret id, unless less is requested; 0 means that it lives as long as the role. Whole seconds. */
  readonly secretIdTtlMs: number
  /** Stored and returned only: a server has no other clusters that secret ids could be replicated to. */
  readonly localSecretIds: boolean
  /** Terms of the tokens of logins. */
  readonly terms: TokenTerms
}

/** Input for a role. Omitted members stay unchanged, or get their defaults in a new role. */
export interface AppRoleInput extends Partial<Omit<AppRole, "name" | "terms">> {
  readonly terms?: Partial<TokenTerms>
  /** Faults of the parsed document, reported together with those of the rules. */
  readonly faults?: readonly Fault[]
}

/** Defaults of a new role. */
export const initialAppRole: Omit<AppRole, "name" | "roleId"> = {
  bindSecretId: true,
  secretIdBoundCidrs: [],
  secretIdNumUses: 0,
  secretIdTtlMs: 0,
  localSecretIds: false,
  terms: initialTokenTerms,
}

/** Members with an endpoint of their own below a role, so that policies can grant them separately. `name` is the name on the wire. */
const parts = {
  policies: { term: "policies", name: "token_policies" },
  "secret-id-num-uses": { own: "secretIdNumUses", name: "secret_id_num_uses" },
  "secret-id-ttl": { own: "secretIdTtlMs", name: "secret_id_ttl" },
  "token-ttl": { term: "ttlMs", name: "token_ttl" },
  "token-max-ttl": { term: "maxTtlMs", name: "token_max_ttl" },
  "token-num-uses": { term: "numUses", name: "token_num_uses" },
  "bind-secret-id": { own: "bindSecretId", name: "bind_secret_id" },
  "secret-id-bound-cidrs": { own: "secretIdBoundCidrs", name: "secret_id_bound_cidrs" },
  "token-bound-cidrs": { term: "boundCidrs", name: "token_bound_cidrs" },
  period: { term: "periodMs", name: "token_period" },
} as const
export type AppRolePart = keyof typeof parts
export const appRoleParts = Object.keys(parts) as readonly AppRolePart[]

/** Creates a role. Throws `invalid` with all faults. */
export function createAppRole(input: AppRoleInput, { name, roleId }: Pick<AppRole, "name" | "roleId">): AppRole {
  return changed({ ...initialAppRole, name, roleId }, input, appRoleNameFaults(name))
}

/** Changes a role. Throws `invalid` with all faults. */
export function changeAppRole(role: AppRole, change: AppRoleInput): AppRole {
  if (change.localSecretIds !== undefined && change.localSecretIds !== role.localSecretIds)
    throw unprocessable("local_secret_ids can only be modified during role creation")
  return changed(role, change, [])
}

function changed(role: AppRole, change: AppRoleInput, nameFaults: readonly Fault[]): AppRole {
  const { faults = [], terms, ...own } = change
  const after: AppRole = { ...role, ...own, terms: { ...role.terms, ...terms } }
  rejectFaults([...faults, ...nameFaults, ...appRoleFaults(after), ...tokenTermsFaults(after.terms)])
  const { bindSecretId, secretIdBoundCidrs } = after
  if (!bindSecretId && secretIdBoundCidrs.length === 0 && after.terms.boundCidrs.length === 0)
    throw unprocessable("at least one constraint should be enabled on the role")
  return after
}

/** Returns one part of a role or of a change; empty if it is not set. */
export function partOf(of: AppRoleInput, part: AppRolePart): AppRoleInput {
  const member = parts[part]
  const { value, change } =
    "own" in member
      ? { value: of[member.own], change: { [member.own]: of[member.own] } }
      : { value: of.terms?.[member.term], change: { terms: { [member.term]: of.terms?.[member.term] } } }
  return value === undefined ? {} : change
}

/** Changes one part of a role and ignores other members of `change`. Throws `invalid` if the part is missing. */
export function changeAppRolePart(role: AppRole, part: AppRolePart, change: AppRoleInput): AppRole {
  const { faults = [] } = change
  const own = partOf(change, part)
  const member = parts[part]
  const field = ["own" in member ? member.own : member.term]
  const isMissing = faults.length === 0 && Object.keys(own).length === 0
  rejectFaults([...faults, ...(isMissing ? [{ field, detail: `${member.name} is required` }] : [])])
  return changeAppRole(role, own)
}

/** Resets one part of a role to its default. */
export const resetAppRolePart = (role: AppRole, part: AppRolePart): AppRole =>
  changeAppRole(role, partOf(initialAppRole, part))

/** Returns warnings for the caller that writes a role. `maximumMs` is the maximum lifetime of the method's tokens. */
export function appRoleWarnings(
  { terms }: AppRole,
  { maximumMs, policies }: { readonly maximumMs: number; readonly policies: readonly string[] },
): readonly string[] {
  const longer = ([name, ms]: readonly [string, number | null]): string[] =>
    ms === null || ms <= maximumMs
      ? []
      : [`${name} exceeds the maximum of the auth method, ${maximumMs / secondMs} seconds`]
  return [
    ...longer(["token_max_ttl", terms.maxTtlMs]),
    ...longer(["token_period", terms.periodMs]),
    ...terms.policies
      .filter((name) => !policies.includes(name))
      .map((name) => `policy "${name}" does not exist; logins omit it until it exists`),
  ]
}

/** Folds a name; names are case-insensitive. */
export const appRoleNameOf = (name: string): string => name.toLowerCase()

const maxName = 255
const maxRoleId = 255
const maxBounds = 100

function appRoleNameFaults(name: string): Fault[] {
  const field = ["name"]
  if (name.length > maxName) return [{ field, detail: `"name" must not be longer than ${maxName} characters` }]
  if (/^\w([\w.-]*\w)?$/.test(name)) return []
  const detail = `"name" may contain only letters, digits, "_", "-" and ".", and must begin and end with a letter, a digit or "_"`
  return [{ field, detail }]
}

function appRoleFaults({ roleId, secretIdBoundCidrs, secretIdNumUses, secretIdTtlMs }: AppRole): Fault[] {
  return [
    ...credentialFaults(["roleId", "role_id"], roleId, maxRoleId),
    ...boundsFaults(["secretIdBoundCidrs", "secret_id_bound_cidrs"], secretIdBoundCidrs),
    ...countFaults(["secretIdNumUses", "secret_id_num_uses"], secretIdNumUses),
    ...durationFaults(["secretIdTtlMs", "secret_id_ttl"], secretIdTtlMs),
  ]
}

/** Name of a field, and its name on the wire. */
type NamedField = readonly [field: string, name: string]

/** Returns the faults of a credential. Logins trim their credentials, so one with a blank at either end could never be used. */
export function credentialFaults([field, name]: NamedField, value: string, maximum: number): Fault[] {
  const fault = (problem: string): Fault[] => [{ field: [field], detail: `${name} ${problem}` }]
  if (value === "") return fault("can't be blank")
  if (value.length > maximum) return fault(`is too long (maximum is ${maximum} characters)`)
  return value !== value.trim() || /\p{Cc}/u.test(value)
    ? fault("must not begin or end with whitespace, or contain control characters")
    : []
}

export function boundsFaults([field, name]: NamedField, bounds: readonly string[]): Fault[] {
  if (bounds.length > maxBounds)
    return [{ field: [field], detail: `${name} has too many entries (maximum is ${maxBounds})` }]
  return bounds
    .filter((bound) => parseBound(bound) === undefined)
    .map((bound) => ({
      field: [field],
      detail: `${name} contains "${bound}", which is not a valid address or CIDR range`,
    }))
}

/** Returns true if each range of `inner` is within one of `outer`. An empty `outer` covers everything. */
export function boundsCover(outer: readonly string[], inner: readonly string[]): boolean {
  const ranges = outer.map(parseBound)
  return (
    outer.length === 0 ||
    inner.map(parseBound).every((one) => one && ranges.some((range) => range && isWithinBound(one, range)))
  )
}

export const countFaults = ([field, name]: NamedField, count: number): Fault[] =>
  isCount(count) ? [] : [{ field: [field], detail: `${name} must be an integer from 0 to ${maxTokenCount}` }]

export const durationFaults = ([field, name]: NamedField, durationMs: number): Fault[] =>
  isCount(durationMs / secondMs)
    ? []
    : [{ field: [field], detail: `${name} must be a whole number of seconds from 0 to ${maxTokenCount}` }]

const isCount = (count: number): boolean => Number.isSafeInteger(count) && count >= 0 && count <= maxTokenCount
