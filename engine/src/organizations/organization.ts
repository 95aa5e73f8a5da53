import type { Instant } from "../core/time.ts"
import type { OrganizationId, ProjectId } from "../core/ids.ts"
import type { Fault } from "../core/errors.ts"

export const executionModes = ["remote", "local", "agent"] as const
export type ExecutionMode = (typeof executionModes)[number]

export const plans = ["free", "standard", "plus"] as const
export type Plan = (typeof plans)[number]
/** The plan that health assessments need (specification 4.2). */
export const topPlan: Plan = "plus"

export interface Organization {
  readonly id: OrganizationId
  /** The id on the wire as well. */
  readonly name: string
  readonly email: string
  readonly createdAt: Instant
  readonly defaultExecutionMode: ExecutionMode
  readonly defaultAgentPoolId: string | null
  readonly allowForceDeleteWorkspaces: boolean
  readonly assessmentsEnforced: boolean
  readonly plan: Plan
  readonly costEstimationEnabled: boolean
  readonly collaboratorAuthPolicy: string
  readonly defaultProjectId: ProjectId
}

/** Names fold case when they are compared: `Acme` and `acme` are one organization. */
export const foldName = (name: string): string => name.toLowerCase()

export const organizationNameMaximum = 40

export function organizationNameFaults(name: string): Fault[] {
  const field = ["name"]
  if (name === "") return [{ field, detail: "Name can't be blank" }]
  if (name.length > organizationNameMaximum)
    return [{ field, detail: `Name is too long (maximum is ${organizationNameMaximum} characters)` }]
  if (!/^[a-zA-Z0-9_-]+$/.test(name)) return [{ field, detail: "Name can only include letters, numbers, -, and _." }]
  return []
}
