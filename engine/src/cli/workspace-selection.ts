// Selection of workspaces: one by name or id, or all that match filters.
import { Command, InvalidArgumentError } from "commander"
import { formatDuration, minuteMs, parseDuration } from "../core/time.ts"
import type { Engine } from "../engine.ts"
import type { Binding } from "../workspaces/tags/tag-binding.ts"
import type { WorkspaceQuery } from "../workspaces/workspace/workspace-query.ts"
import type { WorkspaceRef } from "../workspaces/workspace/workspace.ts"
import { usageError } from "./exit-code.ts"
import type { Terminal } from "./terminal.ts"
import { addCallerOptions } from "./with-caller-engine.ts"

const organizationVariable = "CHANCERY_ORGANIZATION"
const workspaceId = /^ws-[A-Za-z0-9]{16}$/

export interface Common {
  readonly organization?: string
  readonly json?: true
}

/** Adds the options of all workspace commands. */
export const prepared = (command: Command): Command => addOrganizationOptions(command, "organization of the workspaces")

/** Adds the options of commands on resources of one organization. */
export const addOrganizationOptions = (command: Command, meaning: string): Command =>
  addCallerOptions(
    command.option(
      "--organization <name>",
      `${meaning} (environment ${organizationVariable}); optional if the caller can see only one`,
    ),
  ).option("--json", "print JSON")

export const ofWorkspace = (name: string, description: string): Command =>
  prepared(new Command(name).description(description).argument("<workspace>", "name or id (ws-…) of the workspace"))

export interface Filters extends Common {
  readonly search?: string
  readonly wildcardName?: string
  readonly tags?: readonly string[]
  readonly excludeTags?: readonly string[]
  readonly tagged?: readonly Binding[]
  readonly project?: string
  readonly runStatus?: readonly string[]
}

export const filtered = (command: Command): Command =>
  command
    .option("--search <text>", "part of the name, in any case")
    .option("--wildcard-name <pattern>", "pattern of the name: *-end, start-* or *-part-*")
    .option("--tags <names>", "comma-separated flat tags or keys; a workspace must have all of them", names)
    .option("--exclude-tags <names>", "comma-separated flat tags or keys; a workspace must have none of them", names)
    .option(
      "--tagged <key=value...>",
      "bindings, such as env=prod; a workspace or its project must have all of them",
      bindings,
    )
    .option("--project <id>", "id of the project (prj-…)")
    .option("--run-status <names>", "comma-separated statuses of the current run, such as applied", names)

/** Returns only the filters that are given. */
export function queryOf({
  search,
  wildcardName,
  tags,
  excludeTags,
  tagged,
  project,
  runStatus,
}: Filters): WorkspaceQuery {
  return {
    ...(search === undefined ? {} : { name: search }),
    ...(wildcardName === undefined ? {} : { wildcardName }),
    ...(tags === undefined ? {} : { tags }),
    ...(excludeTags === undefined ? {} : { excludeTags }),
    ...(tagged === undefined ? {} : { tagged }),
    ...(project === undefined ? {} : { projectId: project }),
    ...(runStatus === undefined ? {} : { currentRunStatus: runStatus }),
  }
}

/** Returns a reference by id if `name` has the form of an id. A workspace with such a name is found by its id only. */
export async function refOf(engine: Engine, terminal: Terminal, name: string, options: Common): Promise<WorkspaceRef> {
  if (workspaceId.test(name)) return { id: name }
  return { organization: await organizationOf(engine, terminal, options), name }
}

export async function organizationOf(engine: Engine, terminal: Terminal, { organization }: Common): Promise<string> {
  const name = organization ?? (terminal.environment[organizationVariable] || undefined)
  if (name !== undefined) return name
  const { items } = await engine.organizations.list(undefined, { number: 1, size: 2 })
  if (items.length === 1 && items[0] !== undefined) return items[0].name
  throw usageError(
    `Which organization? Give --organization or set ${organizationVariable}: there is ${items.length === 0 ? "none that you see" : "more than one"}.`,
  )
}

export const names = (text: string): readonly string[] => text.split(",").map((name) => name.trim())

/** Parses one `key=value` and appends it. Throws `InvalidArgumentError` if it has no key. */
export function bindings(word: string, before: readonly Binding[] = []): readonly Binding[] {
  const equals = word.indexOf("=")
  if (equals < 1) throw new InvalidArgumentError("It must be key=value, such as env=prod.")
  return [...before, { key: word.slice(0, equals), value: word.slice(equals + 1) }]
}

export function duration(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined)
    throw new InvalidArgumentError(`It must be a duration, such as ${formatDuration(15 * minuteMs)}.`)
  return ms
}
