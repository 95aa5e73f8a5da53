// Data retention policies: how long the data of old state and configuration versions is kept. A policy is set on a workspace, an
// organization or the site, in the self-hosted edition (docs/compatibility.md, "Retention policies").
import type { Fault } from "../../core/errors.ts"

export type RetentionRule = { readonly kind: "delete-older"; readonly days: number } | { readonly kind: "dont-delete" }

/** Target of a policy: a workspace by its id, an organization by its name, or the site. */
export type RetentionTarget =
  | { readonly kind: "workspace"; readonly id: string }
  | { readonly kind: "organization"; readonly name: string }
  | { readonly kind: "site" }

export interface RetentionPolicyView {
  readonly id: string
  readonly rule: RetentionRule
  readonly target: RetentionTarget
}

/** Operations on retention policies. */
export interface RetentionPolicies {
  /** Returns the policy of the target. For a workspace without its own policy, returns that of its organization. */
  get(target: RetentionTarget): Promise<RetentionPolicyView>
  /** Creates or replaces the policy. A rule of the same kind keeps the policy's id. */
  set(target: RetentionTarget, rule: RetentionRule): Promise<RetentionPolicyView>
  delete(target: RetentionTarget): Promise<void>
}

export interface RetentionPolicy {
  readonly id: string
  readonly rule: RetentionRule
}

/** Target of a policy in the database, by id. */
export interface RetentionSubject {
  readonly kind: RetentionTarget["kind"]
  /** Empty for the site. */
  readonly id: string
}

export interface RetentionPolicyRepository {
  find(subject: RetentionSubject): Promise<RetentionPolicy | undefined>
  put(subject: RetentionSubject, policy: RetentionPolicy): Promise<void>
  remove(subject: RetentionSubject): Promise<void>
}

/** Returns the policy with a new rule. Uses `newId` if there was no policy, or one of another kind. */
export function setPolicy(before: RetentionPolicy | undefined, rule: RetentionRule, newId: string): RetentionPolicy {
  return { id: before?.rule.kind === rule.kind ? before.id : newId, rule }
}

export function retentionFaults(target: RetentionTarget["kind"], rule: RetentionRule): Fault[] {
  if (rule.kind === "dont-delete")
    return target === "site"
      ? [{ field: ["type"], detail: 'type cannot be "data-retention-policy-dont-deletes" for the site' }]
      : []
  return Number.isSafeInteger(rule.days) && rule.days > 0
    ? []
    : [{ field: ["deleteOlderThanNDays"], detail: "delete-older-than-n-days must be a positive integer" }]
}
