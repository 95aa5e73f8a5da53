// Policies grant rights on the certificate API. They are attached to users, teams and the tokens of either, and to service tokens when
// those are created (docs/decisions/tokens-and-policies.md).
import { defaultPolicyName, type PathRule, rootPolicyName } from "../../core/access.ts"
import { type Fault, rejectFaults, unprocessable } from "../../core/errors.ts"
import type { TeamId, UserId } from "../../core/ids.ts"
import { parsePolicy } from "./policy-text.ts"

export interface Policy {
  /** Lower case. */
  readonly name: string
  /** As it was written. */
  readonly text: string
  readonly rules: readonly PathRule[]
}

/** Who a policy can be attached to: whoever acts with what is named, whichever of their tokens they use. */
export type PolicyHolder =
  | { readonly kind: "user"; readonly userId: UserId }
  | { readonly kind: "team"; readonly teamId: TeamId }
  | { readonly kind: "token"; readonly tokenId: string }

export const policyNameOf = (text: string): string => text.toLowerCase()

const nameMaximum = 128
/** One segment of a path. */
const namePattern = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/

export function createPolicy(name: string, text: string): Policy {
  const known = policyNameOf(name)
  if (known === rootPolicyName) throw unprocessable("the policy root allows everything and cannot be changed")
  rejectFaults(policyNameFaults(known))
  return { name: known, text, rules: parsePolicy(text) }
}

export function policyNameFaults(name: string): Fault[] {
  const fault = (detail: string): Fault[] => [{ field: ["name"], detail }]
  if (name.length > nameMaximum) return fault(`name is too long (maximum is ${nameMaximum} characters)`)
  return namePattern.test(name)
    ? []
    : fault("name must be made of letters, digits and _ . - and begin and end with a letter, a digit or _")
}

export function rejectDeletingBuiltIn(name: string): void {
  if (name === rootPolicyName || name === defaultPolicyName) throw unprocessable(`the policy ${name} cannot be deleted`)
}

/** Who may do everything is said in one place: with the users. */
export function rejectAttachingRoot(name: string): void {
  if (name === rootPolicyName)
    throw unprocessable("the policy root cannot be attached: site administrators have it, and nobody else")
}

/** Whom a policy is attached to, by the names that people know. */
export type PolicySubject =
  | { readonly kind: "user"; readonly username: string }
  | { readonly kind: "team"; readonly organization: string; readonly team: string }
  /** The token of a user, a team or an organization, by its id. */
  | { readonly kind: "token"; readonly id: string }

export interface PolicyView {
  readonly name: string
  /** As it was written; empty for `root`, which has no rules because it needs none. */
  readonly text: string
}

/**
 * What their holders may do on the certificate API. Names are compared in lower case. `root` allows everything; it can neither
 * be changed nor attached. `default` is what service tokens hold besides; it can be changed. Whatever changes here counts from
 * the next request on, on every replica.
 */
export interface Policies {
  /** By name. */
  list(): Promise<readonly string[]>
  get(name: string): Promise<PolicyView>
  /** Makes the policy, or replaces it. The text is HCL or JSON. */
  put(name: string, text: string): Promise<void>
  /** From whomever it is attached to as well; nothing happens when there is none. */
  delete(name: string): Promise<void>
  /** The names of what is attached to exactly this subject. */
  attached(subject: PolicySubject): Promise<readonly string[]>
  /** Takes a holder of the policy, or `sudo`. Again is the same as once. */
  attach(name: string, subject: PolicySubject): Promise<void>
  /** Nothing happens when it is not attached. */
  detach(name: string, subject: PolicySubject): Promise<void>
}

/** Every change increments the identity version, because cached callers contain policies. */
export interface PolicyRepository {
  /** By name, `default` and `root` among them. */
  names(): Promise<readonly string[]>
  find(name: string): Promise<Policy | undefined>
  /** Instead of the policy of that name, if there is one. */
  save(policy: Policy): Promise<void>
  /** From whomever it is attached to as well. */
  remove(name: string): Promise<void>
  /** By name. */
  attachedTo(holder: PolicyHolder): Promise<readonly string[]>
  attach(name: string, holder: PolicyHolder): Promise<void>
  detach(name: string, holder: PolicyHolder): Promise<void>
}
