// AppRole: a program with the role id and a secret id gets a token with the role's policies. Rules as in Vault: a change keeps members
// that it leaves out, and a role needs at least one constraint besides the role id
// (https://developer.hashicorp.com/vault/api-docs/auth/approle).
import { type Fault, rejectFaults, unprocessable } from "../../core/errors.ts"
import { secondMs } from "../../core/time.ts"
import { tokenCountMaximum } from "../service-tokens/token-limits.ts"
import { isWithinBound, parseBound } from "../logins/address-bounds.ts"
import { initialTokenTerms, type TokenTerms, tokenTermsFaults } from "../logins/token-terms.ts"

export interface AppRole {
  /** In lower case: names are told apart by nothing else. */
  readonly name: string
  /** Whom a login is for; of one role of the method alone. */
  readonly roleId: string
  /** Whether a login takes a secret id besides. */
  readonly bindSecretId: boolean
  /** From where a login may come; from anywhere when empty. */
  readonly secretIdBoundCidrs: readonly string[]
  /** How many logins a secret id is good for, unless less is asked for; 0 for any number. */
  readonly secretIdNumUses: number
  /** How long a secret id is, unless less is asked for; 0 for as long as the role. Whole seconds. */
  readonly secretIdTtlMs: number
  /** Told and kept; a server has no other clusters that secret ids could go to. */
  readonly localSecretIds: boolean
  /** Of the tokens that logins get. */
  readonly terms: TokenTerms
}

/** What is left out stays as it is, or is as roles are at first. */
export interface AppRoleInput extends Partial<Omit<AppRole, "name" | "terms">> {
  readonly terms?: Partial<TokenTerms>
  /** Of the document that it was read from, told with those of the rules. */
  readonly faults?: readonly Fault[]
}

/** As a role is at first. */
export const initialAppRole: Omit<AppRole, "name" | "roleId"> = {
  bindSecretId: true,
  secretIdBoundCidrs: [],
  secretIdNumUses: 0,
  secretIdTtlMs: 0,
  localSecretIds: false,
  terms: initialTokenTerms,
}

/** What has an address of its own below a role, so that policies can hand it out by itself: the member, and its name there. */
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

/** Throws `invalid` with every fault of what it would be. */
export function createAppRole(input: AppRoleInput, { name, roleId }: Pick<AppRole, "name" | "roleId">): AppRole {
  return changed({ ...initialAppRole, name, roleId }, input, appRoleNameFaults(name))
}

/** The same for one that is there. */
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

/** One part of a role, or of a change of one; nothing where that does not say it. */
export function partOf(of: AppRoleInput, part: AppRolePart): AppRoleInput {
  const member = parts[part]
  const { value, change } =
    "own" in member
      ? { value: of[member.own], change: { [member.own]: of[member.own] } }
      : { value: of.terms?.[member.term], change: { terms: { [member.term]: of.terms?.[member.term] } } }
  return value === undefined ? {} : change
}

/** Whatever else the change says stays as it is. Throws `invalid` where it does not say the part. */
export function changeAppRolePart(role: AppRole, part: AppRolePart, change: AppRoleInput): AppRole {
  const { faults = [] } = change
  const own = partOf(change, part)
  const member = parts[part]
  const field = ["own" in member ? member.own : member.term]
  const isMissing = faults.length === 0 && Object.keys(own).length === 0
  rejectFaults([...faults, ...(isMissing ? [{ field, detail: `${member.name} is missing` }] : [])])
  return changeAppRole(role, own)
}

/** The role with that part as roles have it at first. */
export const resetAppRolePart = (role: AppRole, part: AppRolePart): AppRole =>
  changeAppRole(role, partOf(initialAppRole, part))

/** What the writer of a role should know; `maximumMs` is the longest lifetime of the method. */
export function appRoleWarnings(
  { terms }: AppRole,
  { maximumMs, policies }: { readonly maximumMs: number; readonly policies: readonly string[] },
): readonly string[] {
  const longer = ([name, ms]: readonly [string, number | null]): string[] =>
    ms === null || ms <= maximumMs
      ? []
      : [`${name} is longer than the ${maximumMs / secondMs} seconds that tokens of the auth method live at most`]
  return [
    ...longer(["token_max_ttl", terms.maxTtlMs]),
    ...longer(["token_period", terms.periodMs]),
    ...terms.policies
      .filter((name) => !policies.includes(name))
      .map((name) => `policy "${name}" does not exist; logins leave it out for as long as it does not`),
  ]
}

/** Names that differ in case alone are one. */
export const appRoleNameOf = (name: string): string => name.toLowerCase()

const nameMaximum = 255
const roleIdMaximum = 255
const boundsMaximum = 100

function appRoleNameFaults(name: string): Fault[] {
  const field = ["name"]
  if (name.length > nameMaximum) return [{ field, detail: `"name" must not be longer than ${nameMaximum} characters` }]
  if (/^\w([\w.-]*\w)?$/.test(name)) return []
  const detail = `"name" may hold letters, digits, "_", "-" and ".", and must begin and end with a letter, digit or "_"`
  return [{ field, detail }]
}

function appRoleFaults({ roleId, secretIdBoundCidrs, secretIdNumUses, secretIdTtlMs }: AppRole): Fault[] {
  return [
    ...credentialFaults(["roleId", "role_id"], roleId, roleIdMaximum),
    ...boundsFaults(["secretIdBoundCidrs", "secret_id_bound_cidrs"], secretIdBoundCidrs),
    ...countFaults(["secretIdNumUses", "secret_id_num_uses"], secretIdNumUses),
    ...durationFaults(["secretIdTtlMs", "secret_id_ttl"], secretIdTtlMs),
  ]
}

/** A field, and its name as writers of it know it. */
type NamedField = readonly [field: string, name: string]

/** What is sent to log in is trimmed, so that nobody could send what has a blank at either end. */
export function credentialFaults([field, name]: NamedField, value: string, maximum: number): Fault[] {
  const refuse = (problem: string): Fault[] => [{ field: [field], detail: `${name} ${problem}` }]
  if (value === "") return refuse("can't be blank")
  if (value.length > maximum) return refuse(`is too long (maximum is ${maximum} characters)`)
  return value !== value.trim() || /\p{Cc}/u.test(value)
    ? refuse("must not begin or end with a blank, or hold control characters")
    : []
}

export function boundsFaults([field, name]: NamedField, bounds: readonly string[]): Fault[] {
  if (bounds.length > boundsMaximum)
    return [{ field: [field], detail: `${name} has too many entries (maximum is ${boundsMaximum})` }]
  return bounds
    .filter((bound) => parseBound(bound) === undefined)
    .map((bound) => ({
      field: [field],
      detail: `${name} has "${bound}", which is no address and no range of addresses`,
    }))
}

/** Whether each of `inner` lies in one of `outer`; what has no bounds lies in whatever there is. */
export function boundsCover(outer: readonly string[], inner: readonly string[]): boolean {
  const ranges = outer.map(parseBound)
  return (
    outer.length === 0 ||
    inner.map(parseBound).every((one) => one && ranges.some((range) => range && isWithinBound(one, range)))
  )
}

export const countFaults = ([field, name]: NamedField, count: number): Fault[] =>
  isCount(count) ? [] : [{ field: [field], detail: `${name} must be a whole number from 0 to ${tokenCountMaximum}` }]

export const durationFaults = ([field, name]: NamedField, durationMs: number): Fault[] =>
  isCount(durationMs / secondMs)
    ? []
    : [{ field: [field], detail: `${name} must be a number of whole seconds from 0 to ${tokenCountMaximum}` }]

const isCount = (count: number): boolean => Number.isSafeInteger(count) && count >= 0 && count <= tokenCountMaximum
