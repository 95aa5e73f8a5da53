import { Command } from "commander"
import { formatInstant } from "../core/time.ts"
import type { Engine } from "../engine.ts"
import type { Binding } from "../workspaces/tags/tag-binding.ts"
import type { WorkspaceRef } from "../workspaces/workspace/workspace.ts"
import type { WorkspaceView } from "../workspaces/workspace/workspace-view.ts"
import { everyItem, json, table } from "./report.ts"
import type { Terminal } from "./terminal.ts"
import { withCallerEngine } from "./with-caller-engine.ts"
import { bulkCommand } from "./workspace-bulk.ts"
import { eventsCommand } from "./workspace-events.ts"
import {
  bindings,
  type Common,
  duration,
  filtered,
  type Filters,
  ofWorkspace,
  organizationOf,
  prepared,
  queryOf,
  refOf,
} from "./workspace-selection.ts"

export function workspaceCommand(terminal: Terminal): Command {
  return new Command("workspace")
    .description("List, show, lock and tag workspaces, one or many at once, and print their events.")
    .addCommand(listCommand(terminal))
    .addCommand(showCommand(terminal))
    .addCommand(lockCommand(terminal))
    .addCommand(extendLockCommand(terminal))
    .addCommand(unlockCommand(terminal))
    .addCommand(tagCommand(terminal))
    .addCommand(bulkCommand(terminal))
    .addCommand(eventsCommand(terminal))
}

const byName = { key: "name", descending: false } as const

function listCommand(terminal: Terminal): Command {
  const command = filtered(prepared(new Command("list")).description("List the workspaces that match all filters."))
  return command.action((options: Common & Filters) =>
    withCallerEngine(command, terminal, async (engine) => {
      const organization = await organizationOf(engine, terminal, options)
      const found = await everyItem((page) =>
        engine.workspaces.list(organization, { ...queryOf(options), sort: byName }, page),
      )
      if (options.json === true) return terminal.out(json(found.map(shown)))
      const rows = found.map((workspace) => [
        workspace.name,
        workspace.id,
        workspace.lock.held ? "yes" : "no",
        String(workspace.resourceCount),
        formatInstant(workspace.updatedAt),
        workspace.tagNames.join(","),
      ])
      terminal.out(table(["NAME", "ID", "LOCKED", "RESOURCES", "UPDATED", "TAGS"], rows))
    }),
  )
}

function showCommand(terminal: Terminal): Command {
  const command = ofWorkspace("show", "Show a workspace with its tags and its lock.")
  return command.action((name: string, options: Common) =>
    withCallerEngine(command, terminal, async (engine) => {
      const workspace = await engine.workspaces.get(await refOf(engine, terminal, name, options))
      const effective = await engine.tags.effectiveBindings(workspace.id)
      const document = { ...shown(workspace), bindings: effective.filter(({ value }) => value !== "") }
      if (options.json === true) return terminal.out(json(document))
      const { lock } = document
      const lines: readonly (readonly [string, string])[] = [
        ["Name", document.name],
        ["Id", document.id],
        ["Organization", document.organization],
        ["Project", document.projectId],
        ["Description", document.description ?? ""],
        ["Execution mode", document.executionMode],
        ["Engine version", document.engineVersion],
        ["Resources", String(document.resourceCount)],
        ["Tags", document.tags.join(", ")],
        ["Bindings", document.bindings.map(({ key, value }) => `${key}=${value}`).join(", ")],
        ["Locked", lock === null ? "no" : lockSentence(lock)],
        ["Created", document.createdAt],
        ["Updated", document.updatedAt],
      ]
      terminal.out(lines.map(([label, value]) => `${label.padEnd(14)}  ${value}`.trimEnd()).join("\n"))
    }),
  )
}

interface LockOptions extends Common {
  readonly reason: string
  readonly ttl?: number
}

function lockCommand(terminal: Terminal): Command {
  const command = ofWorkspace("lock", "Lock a workspace. Fails if it is already locked, also by the caller.")
    .option("--reason <text>", "reason for the lock, shown to callers that find the workspace locked", "")
    .option(
      "--ttl <duration>",
      "time after which the lock expires, from 1s to 30d, such as 15m (default: never)",
      duration,
    )
  return command.action((name: string, options: LockOptions) =>
    changed(command, terminal, { name, options }, (engine, ref) =>
      engine.workspaces.lock(ref, { reason: options.reason, ...ttlOf(options) }),
    ),
  )
}

function extendLockCommand(terminal: Terminal): Command {
  const command = ofWorkspace(
    "extend-lock",
    "Extend the lock of a workspace that the caller holds: sets its expiry to now + --ttl.",
  ).option(
    "--ttl <duration>",
    "time until the lock expires, from 1s to 30d, such as 15m (default: the previous --ttl)",
    duration,
  )
  return command.action((name: string, options: LockOptions) =>
    changed(command, terminal, { name, options }, (engine, ref) => engine.workspaces.extendLock(ref, ttlOf(options))),
  )
}

function unlockCommand(terminal: Terminal): Command {
  const command = ofWorkspace("unlock", "Unlock a workspace that the caller has locked.").option(
    "--force",
    "also break the lock of another caller; discards a pending state version",
  )
  return command.action((name: string, options: Common & { readonly force?: true }) =>
    changed(command, terminal, { name, options }, (engine, ref) =>
      options.force === true ? engine.workspaces.forceUnlock(ref) : engine.workspaces.unlock(ref),
    ),
  )
}

interface TagOptions extends Common {
  readonly owner?: string
}

function tagCommand(terminal: Terminal): Command {
  const owned = (command: Command): Command =>
    command.option("--owner <name>", "owner on whose behalf to write; tags of other owners stay (default: no owner)")
  const list = ofWorkspace(
    "list",
    "List the tags and bindings of a workspace with their owners, including bindings of its project.",
  )
  const add = owned(ofWorkspace("add", "Add flat tags to a workspace.").argument("<tags...>", "names of the tags"))
  const remove = owned(
    ofWorkspace("remove", "Remove flat tags from a workspace.").argument("<tags...>", "names of the tags"),
  )
  const bind = owned(
    ofWorkspace("bind", "Add bindings (keys with values) to a workspace, or change their values.").argument(
      "<key=value...>",
      "bindings, such as team=platform",
      bindings,
    ),
  )
  list.action((name: string, options: Common) =>
    withCallerEngine(list, terminal, async (engine) => {
      const { id } = await engine.workspaces.get(await refOf(engine, terminal, name, options))
      tellBindings(terminal, await engine.tags.effectiveBindings(id, { owners: true, tags: true }), options)
    }),
  )
  for (const [command, write] of [
    [add, (engine, id, tags, writer) => engine.tags.add(id, tags.map(named), writer)],
    [remove, (engine, id, tags, writer) => engine.tags.remove(id, tags.map(named), writer)],
  ] satisfies readonly (readonly [Command, TagWrite])[])
    command.action((name: string, tags: readonly string[], options: TagOptions) =>
      tagged(command, terminal, { name, options }, (engine, id) => write(engine, id, tags, writerOf(options))),
    )
  bind.action((name: string, given: readonly Binding[], options: TagOptions) =>
    tagged(bind, terminal, { name, options }, (engine, id) => engine.tags.bind(id, given, writerOf(options))),
  )
  return new Command("tag")
    .description("Manage the tags of a workspace: flat tags, and bindings (keys with values).")
    .addCommand(list)
    .addCommand(add)
    .addCommand(remove)
    .addCommand(bind)
}

type TagWrite = (
  engine: Engine,
  id: string,
  tags: readonly string[],
  writer: { readonly owner?: string },
) => Promise<unknown>

const named = (name: string) => ({ name })

const writerOf = ({ owner }: TagOptions) => (owner === undefined ? {} : { owner })

interface Asked<Options extends Common> {
  readonly name: string
  readonly options: Options
}

async function changed(
  command: Command,
  terminal: Terminal,
  { name, options }: Asked<Common>,
  change: (engine: Engine, ref: WorkspaceRef) => Promise<WorkspaceView>,
): Promise<void> {
  await withCallerEngine(command, terminal, async (engine) => {
    const workspace = await change(engine, await refOf(engine, terminal, name, options))
    if (options.json === true) return terminal.out(json(shown(workspace)))
    const { lock } = shown(workspace)
    terminal.say(`The workspace ${workspace.name} is ${lock === null ? "not locked" : lockSentence(lock)}.`)
  })
}

async function tagged(
  command: Command,
  terminal: Terminal,
  { name, options }: Asked<TagOptions>,
  write: (engine: Engine, id: string) => Promise<unknown>,
): Promise<void> {
  await withCallerEngine(command, terminal, async (engine) => {
    const { id } = await engine.workspaces.get(await refOf(engine, terminal, name, options))
    await write(engine, id)
    tellBindings(terminal, await engine.tags.effectiveBindings(id, { owners: true, tags: true }), options)
  })
}

function tellBindings(
  terminal: Terminal,
  effective: Awaited<ReturnType<Engine["tags"]["effectiveBindings"]>>,
  options: Common,
): void {
  if (options.json === true) return terminal.out(json(effective))
  const rows = effective.map(({ key, value, owners = [], inheritedFrom }) => [
    key,
    value,
    inheritedFrom === null ? "" : inheritedFrom,
    owners.join(", "),
  ])
  terminal.out(table(["TAG", "VALUE", "INHERITED FROM", "OWNERS"], rows))
}

interface ShownLock {
  readonly by: string
  readonly reason: string
  readonly since: string
  readonly until: string | null
}

const lockSentence = ({ by, reason, since, until }: ShownLock): string =>
  `locked by ${by} since ${since}${until === null ? "" : ` until ${until}`}${reason === "" ? "" : ` ("${reason}")`}`

function shownLock({ lock }: WorkspaceView): ShownLock | null {
  if (!lock.held) return null
  return {
    by: `${lock.by.kind}/${lock.by.id}`,
    reason: lock.reason,
    since: formatInstant(lock.since),
    until: lock.end === undefined ? null : formatInstant(lock.end.at),
  }
}

const shown = (workspace: WorkspaceView) => ({
  id: workspace.id,
  name: workspace.name,
  organization: workspace.organizationName,
  projectId: workspace.projectId,
  description: workspace.description,
  executionMode: workspace.executionMode,
  engineVersion: workspace.engineVersion,
  resourceCount: workspace.resourceCount,
  tags: workspace.tagNames,
  lock: shownLock(workspace),
  createdAt: formatInstant(workspace.createdAt),
  updatedAt: formatInstant(workspace.updatedAt),
})

const ttlOf = ({ ttl }: Pick<LockOptions, "ttl">) => (ttl === undefined ? {} : { ttlMs: ttl })
