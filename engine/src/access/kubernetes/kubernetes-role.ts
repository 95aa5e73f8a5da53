// Roles set which service accounts may log in, and the terms of their tokens. Nothing here queries the cluster.
import { type Fault, rejectFaults } from "../../core/errors.ts"
import { type Instant, minuteMs } from "../../core/time.ts"
import { anyGlob } from "../../pki/names/host-names.ts"
import { initialTokenTerms, type TokenTerms, tokenTermsFaults } from "../logins/token-terms.ts"
import { tokenRejection, type TokenRejection, type ServiceAccountToken } from "./service-account-token.ts"

export interface KubernetesRole extends TokenTerms {
  /** Patterns in which `*` matches any characters. Each list has at least one. */
  readonly boundServiceAccountNames: readonly string[]
  readonly boundServiceAccountNamespaces: readonly string[]
  /** Audience that tokens must have; any audience if empty. */
  readonly audience: string
  /** Source of the account's alias name in Vault. Stored and returned only. */
  readonly aliasNameSource: AliasNameSource
}

export const aliasNameSources = ["serviceaccount_uid", "serviceaccount_name"] as const
export type AliasNameSource = (typeof aliasNameSources)[number]

/** Input for a role. Omitted members stay unchanged, or get their defaults in a new role. */
export interface KubernetesRoleInput extends Partial<KubernetesRole> {
  /** Faults of the parsed document. */
  readonly faults?: readonly Fault[]
}

const defaultKubernetesRole: KubernetesRole = {
  ...initialTokenTerms,
  boundServiceAccountNames: [],
  boundServiceAccountNamespaces: [],
  audience: "",
  aliasNameSource: "serviceaccount_uid",
}

const maxPatterns = 1_000
const maxPattern = 253
const maxAudience = 1_024

/** Changes a role, or creates one if `before` is undefined. Throws `invalid` with all faults. */
export function changeKubernetesRole(before: KubernetesRole | undefined, input: KubernetesRoleInput): KubernetesRole {
  const { faults = [], ...members } = input
  const role: KubernetesRole = { ...(before ?? defaultKubernetesRole), ...members }
  rejectFaults([
    ...faults,
    ...patternFaults("boundServiceAccountNames", "bound_service_account_names", role, faults),
    ...patternFaults("boundServiceAccountNamespaces", "bound_service_account_namespaces", role, faults),
    ...(role.audience.length > maxAudience
      ? [{ field: ["audience"], detail: `"audience" must not be longer than ${maxAudience} characters` }]
      : []),
    ...tokenTermsFaults(role),
  ])
  return role
}

export function kubernetesRoleWarnings({ audience }: KubernetesRole): readonly string[] {
  return audience === ""
    ? [
        'This role has no "audience", so tokens issued for other services can log in with it; set the audience that its clients request.',
      ]
    : []
}

/** Tolerated difference between two clocks. The API server decides finally if it is queried. */
const leewayMs = minuteMs

/** Returns the reason that the token, even if genuine, does not allow a login with the role. */
export function roleRejection(
  { account, audiences, expiresAt, notBefore }: ServiceAccountToken,
  role: KubernetesRole,
  now: Instant,
): TokenRejection | undefined {
  if (!anyGlob(role.boundServiceAccountNames)(account.name))
    return tokenRejection("the role does not allow the service account's name")
  if (!anyGlob(role.boundServiceAccountNamespaces)(account.namespace))
    return tokenRejection("the role does not allow the service account's namespace")
  if (role.audience !== "" && !audiences.includes(role.audience))
    return tokenRejection("the token has another audience")
  if (expiresAt !== undefined && expiresAt + leewayMs <= now) return tokenRejection("the token has expired")
  if (notBefore !== undefined && notBefore - leewayMs > now) return tokenRejection("the token is not valid yet")
  return undefined
}

function patternFaults(
  field: "boundServiceAccountNames" | "boundServiceAccountNamespaces",
  name: string,
  role: KubernetesRole,
  known: readonly Fault[],
): Fault[] {
  // A list that could not be parsed is not reported as empty.
  if (known.some((fault) => fault.field?.[0] === field)) return []
  const patterns = role[field]
  const fault = (problem: string): Fault[] => [{ field: [field], detail: `"${name}" ${problem}` }]
  if (patterns.length === 0) return fault("can not be empty")
  if (patterns.length > maxPatterns) return fault(`must not have more than ${maxPatterns} entries`)
  if (patterns.length > 1 && patterns.includes("*")) return fault('can not mix "*" with values')
  if (patterns.some((pattern) => pattern.length > maxPattern || !/^[a-z0-9.*-]+$/.test(pattern)))
    return fault('must contain names of lower-case letters, digits, "-" and "."; "*" matches any text')
  return []
}
