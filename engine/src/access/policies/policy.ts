// Policies grant rights on the certificate API. They are attached to users, teams and the tokens of either, and to service tokens when
// those are created (docs/decisions/tokens-and-policies.md).
import { defaultPolicyName, type PathRule, rootPolicyName } from "../../core/access.ts"
import { type Fault, rejectFaults, unprocessable } from "../../core/errors.ts"
import type { TeamId, UserId } from "../../core/ids.ts"
import { parsePolicy } from "./policy-text.ts"

export interface Policy {
  /** In lower case. */
  readonly name: string
  /** Original text. */
  readonly text: string
  readonly rules: readonly PathRule[]
}

/** Holder of a policy: a user or a team with all of its tokens, or a single token. */
export type PolicyHolder =
  | { readonly kind: "user"; readonly userId: UserId }
  | { readonly kind: "team"; readonly teamId: TeamId }
  | { readonly kind: "token"; readonly tokenId: string }

export const policyNameOf = (text: string): string => text.toLowerCase()

const maxName = 128
/** A name is one segment of a path. */
const namePattern = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/

/** Parses a policy. Throws `invalid` for faults of its name or text, and `unprocessable` for `root`. */
export function createPolicy(name: string, text: string): Policy {
  const known = policyNameOf(name)
  if (known === rootPolicyName) throw unprocessable("the policy root allows everything and cannot be changed")
  rejectFaults(policyNameFaults(known))
  return { name: known, text, rules: parsePolicy(text) }
}

export function policyNameFaults(name: string): Fault[] {
  const fault = (detail: string): Fault[] => [{ field: ["name"], detail }]
  if (name.length > maxName) return fault(`name is too long (maximum is ${maxName} characters)`)
  return namePattern.test(name)
    ? []
    : fault("name may contain only letters, digits, _, . and -, and must begin and end with a letter, a digit or _")
}

/** Throws `unprocessable` for `root` and `default`. */
export function rejectDeletingBuiltIn(name: string): void {
  if (name === rootPolicyName || name === defaultPolicyName) throw unprocessable(`the policy ${name} cannot be deleted`)
}

/** Throws `unprocessable` for `root`. The right to do everything is managed in one place only, with the users. */
export function rejectAttachingRoot(name: string): void {
  if (name === rootPolicyName)
    throw unprocessable("the policy root cannot be attached; only site administrators have it")
}

/** Holder of a policy, identified by names. */
export type PolicySubject =
  | { readonly kind: "user"; readonly username: string }
  | { readonly kind: "team"; readonly organization: string; readonly team: string }
  /** Token of a user, team or organization, identified by its id. */
  | { readonly kind: "token"; readonly id: string }

export interface PolicyView {
  readonly name: string
  /** Original text; empty for `root`, which has no rules. */
  readonly text: string
}

/**
 * Policies of the certificate API. Names are compared in lower case. Changes take effect with the next request, on every replica.
 *
 * `root` allows everything; it can neither be changed nor attached. `default` is added to service tokens; it can be changed.
 */
export interface Policies {
  /** Returns the names in order. */
  list(): Promise<readonly string[]>
  get(name: string): Promise<PolicyView>
  /** Creates or replaces the policy. The text is HCL or JSON. */
  put(name: string, text: string): Promise<void>
  /** Deletes the policy and detaches it from all holders. Does nothing if it does not exist. */
  delete(name: string): Promise<void>
  /** Returns the names of the policies that are attached to exactly this subject. */
  attached(subject: PolicySubject): Promise<readonly string[]>
  /** Attaches a policy. The caller must hold it or have `sudo`. Idempotent. */
  attach(name: string, subject: PolicySubject): Promise<void>
  /** Does nothing if the policy is not attached. */
  detach(name: string, subject: PolicySubject): Promise<void>
}

/** Every change increments the identity version, because cached callers contain policies. */
export interface PolicyRepository {
  /** Returns the names in order, including `default` and `root`. */
  names(): Promise<readonly string[]>
  find(name: string): Promise<Policy | undefined>
  /** Inserts the policy or replaces the one with its name. */
  save(policy: Policy): Promise<void>
  /** Deletes the policy and detaches it from all holders. */
  remove(name: string): Promise<void>
  /** Returns the names in order. */
  attachedTo(holder: PolicyHolder): Promise<readonly string[]>
  attach(name: string, holder: PolicyHolder): Promise<void>
  detach(name: string, holder: PolicyHolder): Promise<void>
}
