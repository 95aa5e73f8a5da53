// Automatic destruction of workspaces (docs/compatibility.md, "Workspace settings").
import type { Fault } from "../../core/errors.ts"
import { dayMs, hourMs, type Instant } from "../../core/time.ts"
import type { Checked } from "../access/workspace-authorization.ts"
import type { WorkspaceInput } from "./workspace-input.ts"
import type { SituatedWorkspace, WorkspaceSettings } from "./workspace.ts"

type AutoDestroy = Pick<
  WorkspaceSettings,
  "autoDestroyAt" | "autoDestroyActivityDuration" | "inheritsProjectAutoDestroy"
>
type AutoDestroyInput = Pick<WorkspaceInput, keyof AutoDestroy>

export function changeAutoDestroy(before: AutoDestroy, input: AutoDestroyInput): Checked<AutoDestroy> {
  const { autoDestroyAt: at, autoDestroyActivityDuration: duration } = input
  const namesOwn = (at ?? null) !== null || (duration ?? null) !== null
  return {
    value: {
      // Setting or clearing a duration clears an earlier instant. Setting an instant clears the duration.
      autoDestroyAt: at !== undefined ? at : duration === undefined ? before.autoDestroyAt : null,
      autoDestroyActivityDuration:
        duration !== undefined ? duration : (at ?? null) === null ? before.autoDestroyActivityDuration : null,
      inheritsProjectAutoDestroy:
        input.inheritsProjectAutoDestroy ?? (namesOwn ? false : before.inheritsProjectAutoDestroy),
    },
    faults: durationFaults(duration),
  }
}

/** Outcome of a scheduled auto-destroy. */
export type AutoDestroyStatus =
  | "queued"
  | "destroyed"
  | "failed"
  | "skipped_local_execution"
  | "skipped_destroy_not_allowed"

/** Returns the values for the document: the explicit instant, else the one computed from the last activity. */
export function effectiveAutoDestroy(workspace: SituatedWorkspace): {
  readonly at: Instant | null
  readonly activityDuration: string | null
} {
  const own = workspace.autoDestroyActivityDuration
  const activityDuration = workspace.inheritsProjectAutoDestroy
    ? (workspace.project.autoDestroyActivityDuration ?? own)
    : own
  const activity = lastActivity(workspace)
  const settled = activityDuration === null || workspace.autoDestroySettledAt === activity
  const computed = settled ? null : activity + durationMs(activityDuration)
  return { at: workspace.autoDestroyAt ?? computed, activityDuration }
}

/** Returns the instant of the last activity: a new state version or a queued run. Runs that never apply do not count. */
export const lastActivity = ({
  latestChangeAt,
  currentRunAt,
}: Pick<SituatedWorkspace, "latestChangeAt" | "currentRunAt">): Instant => Math.max(latestChangeAt, currentRunAt ?? 0)

export const isActivityDuration = (text: string): boolean => /^\d{1,4}[dh]$/.test(text) && !/^0+[dh]$/.test(text)

function durationFaults(duration: string | null | undefined): Fault[] {
  if (duration === undefined || duration === null || isActivityDuration(duration)) return []
  return [
    {
      field: ["autoDestroyActivityDuration"],
      detail: "Auto destroy activity duration must be a number from 1 to 9999 followed by 'd' or 'h'",
    },
  ]
}

const durationMs = (duration: string): number =>
  Number.parseInt(duration, 10) * (duration.endsWith("d") ? dayMs : hourMs)
