// Conditions as GitOps tools read them (kstatus): `Reconciling` and `Stalled` exist only while they are true.
import { secondTime } from "../kube/kubernetes-object.ts"
import type { Reason } from "./event-reasons.ts"

export interface Condition {
  readonly type: string
  readonly status: "True" | "False" | "Unknown"
  /** CamelCase word for programs. */
  readonly reason: Reason
  /** Sentence for people. */
  readonly message: string
}

export interface StoredCondition extends Condition {
  readonly observedGeneration: number
  readonly lastTransitionTime: string
}

/** State of an object: `ready`, `reconciling` (will be retried), or `stalled` (needs a change by a user). */
export interface Health {
  readonly is: "ready" | "reconciling" | "stalled"
  readonly reason: Reason
  readonly message: string
}

/** Conditions of the controller; all others belong to the kind. */
const framed = new Set(["Ready", "Reconciling", "Stalled", "Paused"])

export const isOwn = ({ type }: Condition): boolean => !framed.has(type)

export function conditionsOf(health: Health): readonly Condition[] {
  const { is, reason, message } = health
  if (is === "ready") return [{ type: "Ready", status: "True", reason, message }]
  return [
    { type: "Ready", status: "False", reason, message },
    { type: is === "stalled" ? "Stalled" : "Reconciling", status: "True", reason, message },
  ]
}

/** Returns the conditions for the status. A condition keeps its transition time as long as its status is the same. */
export const stored = (
  conditions: readonly Condition[],
  before: readonly StoredCondition[],
  observedGeneration: number,
  now: number,
): readonly StoredCondition[] =>
  conditions.map((condition) => {
    const previous = before.find(({ type }) => type === condition.type)
    const kept = previous?.status === condition.status ? previous.lastTransitionTime : undefined
    const { type, status, reason, message } = condition
    return { type, status, reason, message, observedGeneration, lastTransitionTime: kept ?? secondTime(now) }
  })
