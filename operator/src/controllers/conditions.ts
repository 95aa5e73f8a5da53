// Conditions as the tools of GitOps read them (kstatus): `Reconciling` and `Stalled` are there only while they are true.
import { secondTime } from "../kube/kubernetes-object.ts"
import type { Reason } from "./event-reasons.ts"

export interface Condition {
  readonly type: string
  readonly status: "True" | "False" | "Unknown"
  /** One word for programs. */
  readonly reason: Reason
  /** A sentence for people. */
  readonly message: string
}

export interface StoredCondition extends Condition {
  readonly observedGeneration: number
  readonly lastTransitionTime: string
}

/** How an object fares: it is usable, on its way, or will not become usable before somebody changes something. */
export interface Health {
  readonly is: "ready" | "reconciling" | "stalled"
  readonly reason: Reason
  readonly message: string
}

/** Those that the frame writes; all others are a kind's own. */
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

/** A condition keeps its time for as long as it keeps its status. */
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
