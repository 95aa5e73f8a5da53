import type { Fault } from "../core/errors.ts"
import type { ProjectId, TeamId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"

/** Access of one team to one project. */
export type TeamProject = TeamProjectSubject & ProjectAccess

interface TeamProjectSubject {
  readonly id: string
  readonly teamId: TeamId
  readonly projectId: ProjectId
}

export interface TeamProjectInput extends ProjectAccessPatch {
  readonly teamId: string
  readonly projectId: string
  readonly access: ProjectAccess["access"]
}

/**
 * Operations on team access to projects, which extends to their workspaces. They need the permission to manage the teams of the project.
 */
export interface TeamProjects {
  /** Throws `invalid` if the team already has access; use `update`. */
  create(input: TeamProjectInput): Promise<TeamProject>
  list(projectId: string, page: PageRequest): Promise<Page<TeamProject>>
  get(id: string): Promise<TeamProject>
  update(id: string, patch: ProjectAccessPatch): Promise<TeamProject>
  delete(id: string): Promise<void>
}

export interface TeamProjectRepository {
  find(id: string): Promise<TeamProject | undefined>
  list(projectId: ProjectId, page: PageRequest): Promise<Page<TeamProject>>
  /** Throws `EngineError("invalid")` on `team` if the team already has access. */
  insert(access: TeamProject): Promise<void>
  save(access: TeamProject): Promise<void>
  remove(id: string): Promise<void>
}

// Parts of team access to a project, for custom access and for each named level.

export const projectAccessParts = {
  settings: ["read", "update", "delete"],
  teams: ["none", "read", "manage"],
  variableSets: ["none", "read", "write"],
} as const
export const projectWorkspaceParts = {
  runs: ["read", "plan", "apply"],
  sentinelMocks: ["none", "read"],
  stateVersions: ["none", "read-outputs", "read", "write"],
  variables: ["none", "read", "write"],
  create: [false, true],
  locking: [false, true],
  move: [false, true],
  delete: [false, true],
  runTasks: [false, true],
} as const

type Parts<Table extends Readonly<Record<string, readonly unknown[]>>> = {
  readonly [Name in keyof Table]: Table[Name][number]
}

/** Value of each part. The tables above sort the values from least to most access. */
export interface ProjectParts {
  readonly projectAccess: Parts<typeof projectAccessParts>
  readonly workspaceAccess: Parts<typeof projectWorkspaceParts>
}

export interface ProjectPartsPatch {
  readonly projectAccess?: Partial<ProjectParts["projectAccess"]>
  readonly workspaceAccess?: Partial<ProjectParts["workspaceAccess"]>
}

export const namedAccessLevels = ["read", "write", "maintain", "admin"] as const
export type NamedAccessLevel = (typeof namedAccessLevels)[number]

/** Defaults of HCP Terraform's API for custom access. */
const least: ProjectParts = {
  projectAccess: { settings: "read", teams: "none", variableSets: "none" },
  workspaceAccess: {
    runs: "read",
    sentinelMocks: "none",
    stateVersions: "none",
    variables: "none",
    create: false,
    locking: false,
    move: false,
    delete: false,
    runTasks: false,
  },
}
const read: ProjectParts = {
  projectAccess: { settings: "read", teams: "read", variableSets: "read" },
  workspaceAccess: { ...least.workspaceAccess, stateVersions: "read", variables: "read" },
}
const write: ProjectParts = {
  projectAccess: read.projectAccess,
  workspaceAccess: {
    ...least.workspaceAccess,
    runs: "apply",
    sentinelMocks: "read",
    stateVersions: "write",
    variables: "write",
    locking: true,
  },
}
const maintain: ProjectParts = {
  projectAccess: { ...read.projectAccess, variableSets: "write" },
  workspaceAccess: { ...write.workspaceAccess, create: true, delete: true, runTasks: true },
}
const admin: ProjectParts = {
  projectAccess: { settings: "delete", teams: "manage", variableSets: "write" },
  workspaceAccess: { ...maintain.workspaceAccess, move: true },
}
const levels: Readonly<Record<NamedAccessLevel, ProjectParts>> = { read, write, maintain, admin }

export type ProjectAccess =
  | { readonly access: NamedAccessLevel }
  | { readonly access: "custom"; readonly parts: ProjectParts }

export interface ProjectAccessPatch extends ProjectPartsPatch {
  readonly access?: ProjectAccess["access"]
}

/** Returns the parts that clients read, for any level. */
export const partsOf = (subject: ProjectAccess): ProjectParts =>
  subject.access === "custom" ? subject.parts : levels[subject.access]

/** Returns the access after a change. Custom access begins with the least, and the parts of the document are applied to it. */
export function changeProjectAccess(before: ProjectAccess | undefined, patch: ProjectAccessPatch): ProjectAccess {
  const access = patch.access ?? before?.access ?? "read"
  if (access !== "custom") return { access }
  const { projectAccess, workspaceAccess } = before?.access === "custom" ? before.parts : least
  return {
    access,
    parts: {
      projectAccess: { ...projectAccess, ...patch.projectAccess },
      workspaceAccess: { ...workspaceAccess, ...patch.workspaceAccess },
    },
  }
}

/** Returns a fault for each part that differs from its named level. A part may repeat the value of the level. */
export function projectAccessFaults(after: ProjectAccess, patch: ProjectAccessPatch): Fault[] {
  const parts = partsOf(after)
  return (["projectAccess", "workspaceAccess"] as const).flatMap((group) => {
    const present = parts[group] as Readonly<Record<string, unknown>>
    return Object.entries(patch[group] ?? {}).flatMap(([name, value]) =>
      value === present[name]
        ? []
        : [
            {
              field: [group, name],
              detail: `${name} is read-only when access level is '${after.access}'; use the 'custom' access level to set this attribute.`,
            },
          ],
    )
  })
}

/** Returns whether the accesses together grant at least what another one grants, part by part. */
export function covers(held: readonly ProjectAccess[], wanted: ProjectAccess): boolean {
  const others = held.map(partsOf)
  const wantedParts = partsOf(wanted)
  return [
    ["projectAccess", projectAccessParts],
    ["workspaceAccess", projectWorkspaceParts],
  ].every(([group, table]) =>
    Object.entries(table as Readonly<Record<string, readonly unknown[]>>).every(([name, values]) => {
      const rank = (parts: ProjectParts) =>
        values.indexOf((parts[group as keyof ProjectParts] as Readonly<Record<string, unknown>>)[name])
      return rank(wantedParts) <= Math.max(-1, ...others.map(rank))
    }),
  )
}
