// Data retention policies: how long the data of old state and configuration versions stays. A policy is set on a workspace, an
// organization or the site, in the self-hosted edition (docs/compatibility.md, "Retention policies").
import type { Fault } from "../../core/errors.ts"

export type RetentionRule = { readonly kind: "delete-older"; readonly days: number } | { readonly kind: "dont-delete" }

/** What a policy is set on: a workspace by its id, an organization by its name, or the site. */
export type RetentionTarget =
  | { readonly kind: "workspace"; readonly id: string }
  | { readonly kind: "organization"; readonly name: string }
  | { readonly kind: "site" }

export interface RetentionPolicyView {
  readonly id: string
  readonly rule: RetentionRule
  readonly target: RetentionTarget
}

/** The retention policies of the engine. */
export interface RetentionPolicies {
  /** Of a workspace without one of its own, that of its organization. */
  get(target: RetentionTarget): Promise<RetentionPolicyView>
  /** Creates or replaces; a rule of the same kind keeps the policy's id. */
  set(target: RetentionTarget, rule: RetentionRule): Promise<RetentionPolicyView>
  delete(target: RetentionTarget): Promise<void>
}

export interface RetentionPolicy {
  readonly id: string
  readonly rule: RetentionRule
}

/** What carries a policy in the store, by ids only. */
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

/** `newId` is used when there was none, or one of another kind. */
export function setPolicy(before: RetentionPolicy | undefined, rule: RetentionRule, newId: string): RetentionPolicy {
  return { id: before?.rule.kind === rule.kind ? before.id : newId, rule }
}

export function retentionFaults(target: RetentionTarget["kind"], rule: RetentionRule): Fault[] {
  if (rule.kind === "dont-delete")
    return target === "site"
      ? [{ field: ["type"], detail: "The site-wide policy can only be one that deletes older data" }]
      : []
  return Number.isSafeInteger(rule.days) && rule.days > 0
    ? []
    : [{ field: ["deleteOlderThanNDays"], detail: "Delete older than n days must be a positive integer" }]
}
