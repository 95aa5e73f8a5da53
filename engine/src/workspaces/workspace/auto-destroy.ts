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
      // A duration, set or cleared, replaces an instant that was chosen before it, and an instant a duration.
      autoDestroyAt: at !== undefined ? at : duration === undefined ? before.autoDestroyAt : null,
      autoDestroyActivityDuration:
        duration !== undefined ? duration : (at ?? null) === null ? before.autoDestroyActivityDuration : null,
      inheritsProjectAutoDestroy:
        input.inheritsProjectAutoDestroy ?? (namesOwn ? false : before.inheritsProjectAutoDestroy),
    },
    faults: durationFaults(duration),
  }
}

/** What becomes of a workspace whose time has come. */
export type AutoDestroyStatus =
  | "queued"
  | "destroyed"
  | "failed"
  | "skipped_local_execution"
  | "skipped_destroy_not_allowed"

/** What stands in the document: an instant chosen by hand, else the one that follows from the last activity. */
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

/** A new state or a queued run; runs that never apply are none. */
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
