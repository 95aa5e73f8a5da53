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
      .option("--all", "every workspace; needed where no filter is given")
      .option("--dry-run", "tell what would be done, and do nothing")
      .option("--idempotency-key <key>", "given again with the same action, goes on where that stopped")
  const owned = (command: Command): Command =>
    command.option("--owner <name>", "in whose name; what other owners hold is left to them")
  const run = (command: Command, options: BulkOptions, of: BulkAction) => act(command, terminal, options, of)

  const lock = action("lock", "Lock them.")
    .option("--reason <text>", "why, for whoever finds them locked", "")
    .option("--ttl <duration>", "when the locks end by themselves; never unless given", duration)
  lock.action((options: BulkOptions & { readonly reason: string; readonly ttl?: number }) =>
    run(lock, options, {
      kind: "lock",
      reason: options.reason,
      ...(options.ttl === undefined ? {} : { ttlMs: options.ttl }),
    }),
  )
  const unlock = action("unlock", "Give back their locks.")
  unlock.action((options: BulkOptions) => run(unlock, options, { kind: "unlock" }))
  const tag = owned(action("tag", "Add flat tags.").argument("<names...>"))
  tag.action((tags: readonly string[], options: BulkOptions) => run(tag, options, { kind: "tag", tags }))
  const untag = owned(action("untag", "Remove flat tags.").argument("<names...>"))
  untag.action((tags: readonly string[], options: BulkOptions) => run(untag, options, { kind: "untag", tags }))
  const bind = owned(
    action("bind", "Add keys with values, and change them.").argument("<key=value...>", undefined, bindings),
  )
  bind.action((given: readonly Binding[], options: BulkOptions) =>
    run(bind, options, { kind: "bind", bindings: given }),
  )
  const move = action("move", "Move them to another project.").argument("<project>", "prj-…")
  move.action((projectId: string, options: BulkOptions) => run(move, options, { kind: "move", projectId }))
  const remove = action("safe-delete", "Delete those that manage no resources and nobody has locked.")
  remove.action((options: BulkOptions) => run(remove, options, { kind: "safe-delete" }))

  const command = new Command("bulk").description("Do one thing to all workspaces that the filters let through.")
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
    const told: BulkResult[] = []
    const { progressOf } = await import("./progress.ts")
    const progress = progressOf(terminal, dryRun === true ? "Looked at" : "Done")
    try {
      for await (const part of results) {
        told.push(...part)
        progress.show(told.length, totalCount)
      }
    } finally {
      progress.end()
    }
    const refused = told.filter(({ outcome }) => outcome === "refused")
    if (options.json === true) terminal.out(json(told))
    else if (told.length > 0) {
      const rows = told.map(({ workspaceId, name, outcome, refusal }) => [
        name ?? workspaceId,
        outcome,
        refusal?.detail ?? "",
      ])
      terminal.out(table(["WORKSPACE", dryRun === true ? "WOULD BE" : "OUTCOME", "WHY"], rows))
    }
    if (refused.length > 0)
      throw new CommandError(exitCodes.failure, `${refused.length} of ${totalCount} workspaces were refused.`)
  })
}
