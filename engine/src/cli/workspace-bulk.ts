// Bulk actions on all workspaces that match the filters, with the result for each.
import { Command } from "commander"
import type { Binding } from "../workspaces/tags/tag-binding.ts"
import type { BulkAction, BulkResult } from "../workspaces/bulk/bulk-action.ts"
import { CommandError, exitCodes } from "./exit-code.ts"
import { json, table } from "./report.ts"
import type { Terminal } from "./terminal.ts"
import { withCallerEngine } from "./with-caller-engine.ts"
import {
  bindings,
  type Common,
  duration,
  filtered,
  type Filters,
  organizationOf,
  prepared,
  queryOf,
} from "./workspace-selection.ts"

interface BulkOptions extends Common, Filters {
  readonly all?: true
  readonly dryRun?: true
  readonly idempotencyKey?: string
  readonly owner?: string
}

export function bulkCommand(terminal: Terminal): Command {
  const action = (name: string, description: string): Command =>
    filtered(prepared(new Command(name)).description(description))
      .option("--all", "act on all workspaces; required if there is no filter")
      .option("--dry-run", "print the results that the action would have, and change nothing")
      .option("--idempotency-key <key>", "key with which the same command, run again, continues where it stopped")
  const owned = (command: Command): Command =>
    command.option("--owner <name>", "owner on whose behalf to write; tags of other owners stay (default: no owner)")
  const run = (command: Command, options: BulkOptions, of: BulkAction) => act(command, terminal, options, of)

  const lock = action("lock", "Lock the workspaces.")
    .option("--reason <text>", "reason for the locks, shown to callers that find a workspace locked", "")
    .option(
      "--ttl <duration>",
      "time after which the locks expire, from 1s to 30d, such as 2h (default: never)",
      duration,
    )
  lock.action((options: BulkOptions & { readonly reason: string; readonly ttl?: number }) =>
    run(lock, options, {
      kind: "lock",
      reason: options.reason,
      ...(options.ttl === undefined ? {} : { ttlMs: options.ttl }),
    }),
  )
  const unlock = action("unlock", "Unlock the workspaces that the caller has locked.")
  unlock.action((options: BulkOptions) => run(unlock, options, { kind: "unlock" }))
  const tag = owned(action("tag", "Add flat tags to the workspaces.").argument("<names...>", "names of the tags"))
  tag.action((tags: readonly string[], options: BulkOptions) => run(tag, options, { kind: "tag", tags }))
  const untag = owned(
    action("untag", "Remove flat tags from the workspaces.").argument("<names...>", "names of the tags"),
  )
  untag.action((tags: readonly string[], options: BulkOptions) => run(untag, options, { kind: "untag", tags }))
  const bind = owned(
    action("bind", "Add bindings (keys with values) to the workspaces, or change their values.").argument(
      "<key=value...>",
      "bindings, such as team=platform",
      bindings,
    ),
  )
  bind.action((given: readonly Binding[], options: BulkOptions) =>
    run(bind, options, { kind: "bind", bindings: given }),
  )
  const move = action("move", "Move the workspaces to another project.").argument(
    "<project>",
    "id of the project (prj-…)",
  )
  move.action((projectId: string, options: BulkOptions) => run(move, options, { kind: "move", projectId }))
  const remove = action("safe-delete", "Delete the workspaces that manage no resources and are not locked.")
  remove.action((options: BulkOptions) => run(remove, options, { kind: "safe-delete" }))

  const command = new Command("bulk").description(
    "Apply one action to all workspaces that match the filters, up to 20,000.",
  )
  for (const child of [lock, unlock, tag, untag, bind, move, remove]) command.addCommand(child)
  return command
}

async function act(command: Command, terminal: Terminal, options: BulkOptions, action: BulkAction): Promise<void> {
  await withCallerEngine(command, terminal, async (engine) => {
    const { all, dryRun, idempotencyKey, owner } = options
    const { totalCount, results } = await engine.bulkActions.run(await organizationOf(engine, terminal, options), {
      action,
      query: queryOf(options),
      ...(all === undefined ? {} : { all }),
      ...(dryRun === undefined ? {} : { dryRun }),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(owner === undefined ? {} : { owner }),
    })
    const done: BulkResult[] = []
    const { progressOf } = await import("./progress.ts")
    const progress = progressOf(terminal, dryRun === true ? "Checked" : "Done")
    try {
      for await (const part of results) {
        done.push(...part)
        progress.show(done.length, totalCount)
      }
    } finally {
      progress.end()
    }
    const refused = done.filter(({ outcome }) => outcome === "refused")
    if (options.json === true) terminal.out(json(done))
    else if (done.length > 0) {
      const rows = done.map(({ workspaceId, name, outcome, refusal }) => [
        name ?? workspaceId,
        outcome,
        refusal?.detail ?? "",
      ])
      terminal.out(table(["WORKSPACE", dryRun === true ? "WOULD BE" : "OUTCOME", "REASON"], rows))
    }
    if (refused.length > 0)
      throw new CommandError(exitCodes.failure, `${refused.length} of ${totalCount} workspaces were refused.`)
  })
}
