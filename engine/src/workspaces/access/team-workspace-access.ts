import type { Fault } from "../../core/errors.ts"
import type { TeamId, WorkspaceId } from "../../core/ids.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { CustomAccess, WorkspaceAccessLevel } from "./workspace-permissions.ts"

/** Access of one team to one workspace, with its parts if it is `custom`. */
export type TeamWorkspace = TeamWorkspaceSubject & TeamWorkspaceAccess

interface TeamWorkspaceSubject {
  readonly id: string
  readonly teamId: TeamId
  readonly workspaceId: WorkspaceId
}

export type TeamWorkspaceAccess =
  | { readonly access: Exclude<WorkspaceAccessLevel, "custom"> }
  | { readonly access: "custom"; readonly custom: CustomAccess }

export interface TeamWorkspacePatch {
  readonly access?: WorkspaceAccessLevel
  readonly custom?: Partial<CustomAccess>
}
export interface TeamWorkspaceInput extends TeamWorkspacePatch {
  readonly access: WorkspaceAccessLevel
  readonly teamId: string
  readonly workspaceId: string
}

/** Operations on team access to workspaces (docs/permissions.md). Changes need administrator rights on the workspace. */
export interface TeamWorkspaces {
  /** Throws `invalid` if the team already has access; use `update`. */
  create(input: TeamWorkspaceInput): Promise<TeamWorkspace>
  list(workspaceId: string, page: PageRequest): Promise<Page<TeamWorkspace>>
  get(id: string): Promise<TeamWorkspace>
  update(id: string, patch: TeamWorkspacePatch): Promise<TeamWorkspace>
  delete(id: string): Promise<void>
}

export interface TeamWorkspaceRepository {
  find(id: string): Promise<TeamWorkspace | undefined>
  list(workspaceId: WorkspaceId, page: PageRequest): Promise<Page<TeamWorkspace>>
  /** Throws `EngineError("invalid")` on `team` if the team already has access. */
  insert(access: TeamWorkspace): Promise<void>
  save(access: TeamWorkspace): Promise<void>
  remove(id: string): Promise<void>
}

/** Least custom access. The parts of the document are applied to it. */
const leastCustom: CustomAccess = {
  runs: "read",
  variables: "none",
  stateVersions: "none",
  sentinelMocks: "none",
  workspaceLocking: false,
  runTasks: false,
}

/** Returns the access after a change. Parts are stored only for custom access; the other levels define theirs. */
export function changeAccess(before: TeamWorkspaceAccess | undefined, patch: TeamWorkspacePatch): TeamWorkspaceAccess {
  const access = patch.access ?? before?.access ?? "read"
  if (access !== "custom") return { access }
  const previous = before?.access === "custom" ? before.custom : leastCustom
  return { access, custom: { ...previous, ...patch.custom } }
}

/**
 * Returns a fault for each part that differs from the level. A part may repeat the value of its level. A different one is rejected, so that
 * clients do not believe that it was granted.
 */
export function accessFaults(after: TeamWorkspaceAccess, { custom = {} }: TeamWorkspacePatch): Fault[] {
  const parts = customOf(after)
  const differing = (Object.keys(custom) as (keyof CustomAccess)[]).filter((part) => custom[part] !== parts[part])
  return differing.map((part) => ({
    field: [part],
    detail: `${partNames[part]} is read-only when access level is '${after.access}'; use the 'custom' access level to set this attribute.`,
  }))
}

const partNames: Record<keyof CustomAccess, string> = {
  runs: "Runs",
  variables: "Variables",
  stateVersions: "State versions",
  sentinelMocks: "Sentinel mocks",
  workspaceLocking: "Workspace locking",
  runTasks: "Run tasks",
}

/** Returns the parts that clients read, for any level. */
export function customOf(subject: TeamWorkspaceAccess): CustomAccess {
  switch (subject.access) {
    case "custom":
      return subject.custom
    case "read":
      return { ...leastCustom, variables: "read", stateVersions: "read" }
    case "plan":
      return { ...leastCustom, runs: "plan", variables: "read", stateVersions: "read" }
    case "write":
      return {
        runs: "apply",
        variables: "write",
        stateVersions: "write",
        sentinelMocks: "read",
        workspaceLocking: true,
        runTasks: false,
      }
    case "admin":
      return {
        runs: "apply",
        variables: "write",
        stateVersions: "write",
        sentinelMocks: "read",
        workspaceLocking: true,
        runTasks: true,
      }
    default:
      return subject satisfies never
  }
}
