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
    .description("Look at workspaces, lock and tag them: on a server, or directly in the store.")
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
  const command = filtered(
    prepared(new Command("list")).description("List workspaces; all filters together must hold."),
  )
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
  const command = ofWorkspace("show", "Show a workspace with its tags, and who holds its lock.")
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
  const command = ofWorkspace("lock", "Lock a workspace; refused while anybody holds its lock.")
    .option("--reason <text>", "why, for whoever finds it locked", "")
    .option("--ttl <duration>", "when it ends by itself, such as 15m; never unless given", duration)
  return command.action((name: string, options: LockOptions) =>
    changed(command, terminal, { name, options }, (engine, ref) =>
      engine.workspaces.lock(ref, { reason: options.reason, ...ttlOf(options) }),
    ),
  )
}

function extendLockCommand(terminal: Terminal): Command {
  const command = ofWorkspace(
    "extend-lock",
    "Say that its holder is still at work: its lock has its time from now on.",
  ).option("--ttl <duration>", "another time than it was given before", duration)
  return command.action((name: string, options: LockOptions) =>
    changed(command, terminal, { name, options }, (engine, ref) => engine.workspaces.extendLock(ref, ttlOf(options))),
  )
}

function unlockCommand(terminal: Terminal): Command {
  const command = ofWorkspace("unlock", "Give back the lock of a workspace.").option(
    "--force",
    "break somebody else's; a state that is on its way is lost",
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
    command.option("--owner <name>", "in whose name; what other owners hold is left to them")
  const list = ofWorkspace("list", "List its tags and bindings with those who hold them, its project's included.")
  const add = owned(ofWorkspace("add", "Add flat tags.").argument("<tags...>"))
  const remove = owned(ofWorkspace("remove", "Remove flat tags.").argument("<tags...>"))
  const bind = owned(
    ofWorkspace("bind", "Add keys with values, and change them.").argument("<key=value...>", undefined, bindings),
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
    .description("Tags of a workspace: flat ones, and keys with values.")
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
