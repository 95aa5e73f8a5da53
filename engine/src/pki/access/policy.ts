// Policies grant rights on the certificate API. They are attached to users, teams and the tokens of either, and to service tokens when
// those are created (docs/decisions/tokens-and-policies.md).
import { defaultPolicyName, rootPolicyName, type PathRule } from "../../core/access.ts"
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
